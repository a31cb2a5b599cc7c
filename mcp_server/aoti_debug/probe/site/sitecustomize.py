"""Start the probe in an interpreter whose PYTHONPATH names this directory.

Without AOTI_DEBUG_EVENTS nothing happens. Afterwards the process looks as if this file had not
been here: its directory leaves sys.path (PYTHONPATH keeps it, for children), and the
sitecustomize that would have been imported is.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _start_probe():  # type: ignore[no-untyped-def]
    # importlib.util would be convenient and costs 4 ms.
    from importlib.machinery import ModuleSpec, SourceFileLoader

    name = "_aoti_debug_probe"
    if name in sys.modules:
        return
    home = os.path.dirname(_HERE)
    file = os.path.join(home, "__init__.py")
    loader = SourceFileLoader(name, file)
    spec = ModuleSpec(name, loader, origin=file, is_package=True)
    spec.submodule_search_locations = [home]
    package = type(sys)(name)
    package.__spec__ = spec
    package.__file__ = file
    package.__package__ = name
    package.__path__ = [home]
    sys.modules[name] = package
    loader.exec_module(package)
    from importlib import import_module

    import_module(name + ".start").start()


def _chain():  # type: ignore[no-untyped-def]
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        # What site expects, and ignores, when there is none.
        raise ModuleNotFoundError("No module named 'sitecustomize'", name="sitecustomize")
    from importlib.util import module_from_spec

    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
sys.path_importer_cache.pop(_HERE, None)
if os.environ.get("AOTI_DEBUG_EVENTS"):
    try:
        _start_probe()  # type: ignore[no-untyped-call]
    except Exception:
        # The user's program comes first; a probe that cannot start leaves no events.
        sys.modules.pop("_aoti_debug_probe", None)
_chain()  # type: ignore[no-untyped-call]
