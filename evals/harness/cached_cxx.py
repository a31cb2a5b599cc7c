#!/usr/bin/env python3
"""A C++ compiler that remembers: `CXX=cached_cxx.py`. Objects are kept by what they are made of.

The key is the command line and the text of the source files that it names. What Inductor writes has
its content in its name, and the headers of one torch do not change, so that is enough here; it is no
compiler cache for anything else. $AOTI_EVALS_OBJECTS is the directory, $AOTI_EVALS_CXX the compiler.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

SOURCES = (".cpp", ".S", ".cc")


def main(argv):
    compiler = os.environ.get("AOTI_EVALS_CXX", "g++")
    root = os.environ.get("AOTI_EVALS_OBJECTS")
    sources = [word for word in argv if word.endswith(SOURCES) and os.path.isfile(word)]
    target = argv[argv.index("-o") + 1] if "-o" in argv[:-1] else None
    if not (root and sources and target and "-c" in argv):
        os.execvp(compiler, [compiler, *argv])
    digest = hashlib.sha256()
    for word in [compiler, *(word for word in argv if word != target and word not in sources)]:
        digest.update(word.encode() + b"\0")
    for source in sources:
        with open(source, "rb") as file:
            digest.update(file.read())
    kept = os.path.join(root, digest.hexdigest()[:40])
    if os.path.isfile(kept):
        shutil.copyfile(kept, target)
        return 0
    status = subprocess.call([compiler, *argv])
    if status == 0 and os.path.isfile(target):
        os.makedirs(root, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=root, delete=False) as part:
            part.close()
            shutil.copyfile(target, part.name)
            os.replace(part.name, kept)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
