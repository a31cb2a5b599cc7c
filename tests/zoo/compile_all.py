"""Compile architectures of the zoo in one process: compile_all.py ZOO DIRECTORY NAME ..."""

import sys
import warnings
from pathlib import Path

zoo, directory, *names = sys.argv[1:]
sys.path.insert(0, zoo)
import architectures  # noqa: E402
import serve  # noqa: E402

warnings.simplefilter("ignore")
for name in names:
    package = Path(directory) / f"{name}.pt2"
    serve.compile_package(architectures.CASES[name], package, "cpu")
    print("compiled", name, flush=True)
