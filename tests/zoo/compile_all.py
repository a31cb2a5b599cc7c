"""Compile architectures of the zoo in one process, and write down what a triage must say of each
fault that can be planted in them: compile_all.py ZOO DIRECTORY NAME ..."""

import json
import sys
import warnings
from pathlib import Path

zoo, directory, *names = sys.argv[1:]
sys.path.insert(0, zoo)
import architectures  # noqa: E402
import score  # noqa: E402
import serve  # noqa: E402

warnings.simplefilter("ignore")
for name in names:
    package = Path(directory) / f"{name}.pt2"
    serve.compile_package(architectures.CASES[name], package, "cpu")
    expected = score.expected(architectures.CASES[name], "cpu")
    package.with_suffix(".faults").write_text(json.dumps(expected))
    print("compiled", name, flush=True)
