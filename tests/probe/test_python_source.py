"""Python source parsed by many threads, in a process of its own: the switches are extreme."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc, sys, threading
from aoti_debug.probe.python_source import parse

text = "\\n".join(f"def f{n}(a, b):\\n  return [a + b * {n} for c in (a, b)]" for n in range(200))
failed = []

def parsed():
    for _ in range(5):
        try:
            parse(text)
        except SystemError as error:
            failed.append(error)

sys.setswitchinterval(1e-6)
gc.callbacks.append(lambda *_: sum(range(100)))  # a switch of threads inside a parse
gc.set_threshold(50)
threads = [threading.Thread(target=parsed) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit(str(failed[0]) if failed else 0)
"""


def test_threads_that_parse_at_once_do_not_fail_each_other() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
