"""Start a program and wait for ever."""

import subprocess
import time


def wait_for_ever():
    while True:
        time.sleep(0.1)


subprocess.Popen(["sleep", "1000"])
wait_for_ever()
