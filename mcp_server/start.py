"""Start aoti-debug from the folder that this file came in: `python3 start.py serve`.

Plugins and agents run this file, under Python 3.6 or later. On the first start uv installs the
server below $AOTI_DEBUG_HOME (~/.cache/aoti-debug), in an environment named after the folder's
content. Later starts need neither uv nor a network. The folder itself is only read: a client may
replace it, or keep it read-only, while its server runs.
"""

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys

FOLDER = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
INSTALLED = ("pyproject.toml", "SKILL.md", "guides", os.path.join("mcp_server", "aoti_debug"))
COULD_NOT = 3  # the exit status of every command that could not be done
INTERNAL_ERROR = -32603  # of JSON-RPC


class CannotStart(Exception):
    """Say what is missing and what to do, in one sentence."""


def main(words):
    """Become the installed command line with these arguments, or say why that cannot be."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends uv, too
    try:
        place = installed()
    except CannotStart as error:
        said = f"aoti-debug cannot start: {error}"
        print(said, file=sys.stderr, flush=True)
        if words == ["serve"]:
            refuse(said)
        sys.exit(COULD_NOT)
    python, program = (os.path.join(place, "bin", name) for name in ("python", "aoti-debug"))
    os.execv(python, [python, program, *words])


def installed():
    """Return the environment of this folder's version, made where it is missing.

    The process holds a shared lock on it from here on, over `exec`: no other start removes it.
    """
    home = os.environ.get("AOTI_DEBUG_HOME") or os.path.expanduser("~/.cache/aoti-debug")
    servers = os.path.join(os.path.abspath(home), "server")
    try:
        place = os.path.join(servers, fingerprint())
        os.makedirs(servers, exist_ok=True)
        lock(place + ".lock", fcntl.LOCK_SH)
        if not is_complete(place):
            alone = lock(os.path.join(servers, "install.lock"), fcntl.LOCK_EX)
            if not is_complete(place):  # nor has another start made it meanwhile
                install(place, alone)
                remove_unused(servers, place)
            os.close(alone)
    except OSError as error:
        raise CannotStart(
            f"{error.strerror} ({error.filename or servers}): make room there, or set "
            "AOTI_DEBUG_HOME to a folder that can be written"
        ) from error
    return place


def fingerprint():
    """Return 16 hexadecimal digits of what gets installed from the folder."""
    digest = hashlib.sha256()
    for name in INSTALLED:
        top = os.path.join(FOLDER, name)
        found = [top] if os.path.isfile(top) else []
        for folder, below, files in os.walk(top):
            below[:] = [one for one in below if one != "__pycache__"]
            found += [os.path.join(folder, file) for file in files]
        for path in sorted(found):
            with open(path, "rb") as file:
                content = file.read()
            entry = f"{os.path.relpath(path, FOLDER)}\0{len(content)}\0"
            digest.update(entry.encode("utf-8", "surrogateescape") + content)
    return digest.hexdigest()[:16]


def lock(path, kind):
    """Lock a file until this process, and what it becomes, ends; return its descriptor."""
    opened = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(opened, kind)
    os.set_inheritable(opened, True)
    return opened


def is_complete(place):
    """Return whether an installation came to its end and its Python is still there."""
    marker, python = os.path.join(place, "complete"), os.path.join(place, "bin", "python")
    return os.path.isfile(marker) and os.access(python, os.X_OK)


def install(place, alone):
    """Have uv install the folder into a new environment; `alone` is the lock's descriptor."""
    homes = (os.path.expanduser("~/.local/bin"), os.path.expanduser("~/.cargo/bin"))
    uv = shutil.which("uv", path=os.pathsep.join((os.environ.get("PATH", os.defpath), *homes)))
    if uv is None:
        raise CannotStart(
            "uv, which installs it, is not on the PATH: run `pip install uv`, or see "
            "https://docs.astral.sh/uv/, then start the client again"
        )
    print(f"aoti-debug: installing into {place} (once)", file=sys.stderr, flush=True)

    def run(advice, *words):
        done = subprocess.run(
            (uv, *words),
            cwd=os.path.dirname(place),  # the user's project has settings that are not for us
            pass_fds=(alone,),  # a uv that outlives this process keeps the next start waiting
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if done.returncode:
            text = " ".join(done.stdout.decode("utf-8", "replace").split())
            raise CannotStart(f"{advice}; uv said: {text[:400]}")

    run(
        "it needs Python 3.10 or later: install one, or run `uv python install 3.13`",
        *("venv", "--quiet", "--no-project", "--clear", "--python", ">=3.10", place),
    )
    # Where Python may write no bytecode, each start would compile everything again.
    compiled = ["--compile-bytecode"] if os.environ.get("PYTHONDONTWRITEBYTECODE") else []
    run(
        "its packages could not be installed: connect to the network, or name your mirror in "
        "~/.config/uv/uv.toml, then start the client again",
        *("pip", "install", "--quiet", *compiled, "--python", place, FOLDER),
    )
    with open(os.path.join(place, "complete"), "w"):
        pass


def remove_unused(servers, place):
    """Remove the environments of other versions that no server runs from."""
    for name in os.listdir(servers):
        other = os.path.join(servers, name)
        if other == place or not os.path.isdir(other):
            continue
        opened = os.open(other + ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(other, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(opened)


def refuse(said):
    """Answer each request of an MCP client with the reason, until it closes the connection."""
    for line in sys.stdin:
        try:
            request = json.loads(line)
        except ValueError:
            continue
        if isinstance(request, dict) and "method" in request and "id" in request:
            error = {"code": INTERNAL_ERROR, "message": said}
            answer = {"jsonrpc": "2.0", "id": request["id"], "error": error}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
