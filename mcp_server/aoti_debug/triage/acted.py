"""Could the flags of a stage act on what the script did?"""

from __future__ import annotations

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import compiles, touches_aoti, uses_cuda
from aoti_debug.facts.stages import Acts, Stage
from aoti_debug.read.events import Events

CUDA_ONLY = "it acts on CUDA only, and no input or package of this run is on a CUDA device"


def acted(stage: Stage, acts: Acts, observations: Observations) -> tuple[bool | None, str]:
    """Tell whether the stage's flags could act, with the reason; None when nobody can tell.

    A stage that could not act would look clean, which says nothing about the model.
    """
    if acts == "never":
        return True, "it sets no flags; it only watches"
    events = observations.events
    if events is None or not events.processes:
        return None, (
            "the probe did not start in the target (a program without Python, or an interpreter "
            "run with -I, -E or -S), so nobody saw whether the flags acted"
        )
    if not touches_aoti(events):
        return False, "the script never compiled, loaded or called an AOTInductor package"
    if stage.needs_cuda and not uses_cuda(events):
        return False, CUDA_ONLY
    if acts == "codegen":
        return codegen_acted(stage, events)
    if not events.calls:
        return False, "the flag acts when a loaded model is called, and no call was reached"
    return True, f"a loaded model was called {times(len(events.calls))} with the flag set"


def codegen_acted(stage: Stage, events: Events) -> tuple[bool, str]:
    found = compiles(events)
    if not found:
        return False, (
            "the flag acts while code is generated, and the script compiled nothing: it only "
            "loads a package that was built before. Run it on the script that compiles, or delete "
            "the package if the script builds it when it is missing"
        )
    if stage.flag is not None:
        name, wanted = stage.flag
        values = {str(c.details["flags"].get(name)) for c in found}
        if values and wanted not in values:
            return False, (
                f"torch's setting {name} was {sorted(values)[0]} when code was generated, not "
                f"{wanted}: the script sets it itself"
            )
    if stage.name == "nan" and not uses_cuda(events):
        return False, (
            "these checks are generated for Triton kernels (and, from torch 2.13 on, for the "
            "inputs of the model): kernels of a CPU model have none"
        )
    return True, f"the script compiled {times(len(found), 'model')} with the flag set"


def times(count: int, one: str = "time", many: str = "") -> str:
    return f"{count} {one}" if count == 1 else f"{count} {many or one + 's'}"
