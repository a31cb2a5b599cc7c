from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="shared_library_not_found",
    family="E",
    phase="load",
    category="package_incompatible",
    weight=76,
    anchors=("cannot open shared object file",),
    patterns=(
        (
            r"(?P<library>[\w.+-]{1,80}\.so(?:\.\d{1,9}){0,4}): cannot open shared object "
            r"file: No such file or directory"
        ),
    ),
    summary="{library} is not found on this machine",
    means=(
        "The package (or its own .so) needs a library that the loader does not find: "
        "another CUDA version, a custom-op library, or a path that does not exist."
    ),
    mistaken_for="A damaged package.",
    check="ldd on the package's .so; the CUDA version of torch on both sides.",
    fixes=(
        Fix(
            what=(
                "Install {library}, or put its directory into LD_LIBRARY_PATH before the "
                "process starts"
            )
        ),
        Fix(what="Load custom-op libraries first: torch.ops.load_library(...)"),
    ),
    guide="guides/package-and-load.md#system-library-too-old",
    next_tool="inspect_package",
    matches=(
        Sample(
            (
                "RuntimeError: Error in dlopen: libfoo.so: cannot open shared object file: No "
                "such file or directory"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "RuntimeError: Error in dlopen: /tmp/e1/none.so: cannot open shared object "
                "file: No such file or directory"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        Sample(
            (
                "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model"
                "/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined "
                "symbol: cuModuleLoad"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
)
