"""Run one of the probe's programs, script.py NAME ARGUMENTS, whatever sys.path holds."""

from __future__ import annotations

import atexit
import ctypes
import gc
import os
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def load_probe() -> None:
    """Make the probe importable by its own name, and nothing else of its directory."""
    home = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry or os.curdir).resolve() != home]
    if "_aoti_debug_probe" in sys.modules:
        return
    spec = spec_from_file_location(
        "_aoti_debug_probe", home / "__init__.py", submodule_search_locations=[str(home)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"no probe in {home}")
    module = module_from_spec(spec)
    sys.modules["_aoti_debug_probe"] = module
    spec.loader.exec_module(module)


REPORTING = ("bisect", "checks", "walk", "weights")  # nothing looks at how these end

gc.set_threshold(100_000, 50, 50)  # imports leave little to collect, and take longer with it
load_probe()
name = sys.argv.pop(1)
sys.argv[0] = f"{name}.py"
code = import_module(f"_aoti_debug_probe.{name}").main()
if name in REPORTING:  # to take torch apart takes nearly as long as to import it
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL(None).fflush(None)  # what C and C++ have printed
    os._exit(code)
sys.exit(code)
