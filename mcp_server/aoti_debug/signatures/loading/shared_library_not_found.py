from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="shared_library_not_found",
    family="E",
    phase="load",
    category="package_incompatible",
    weight=76,
    anchors=("cannot open shared object file",),
    patterns=(
        (
            r"Error in dlopen.{0,300}?(?P<library>[\w.{1,300}-]{1,80}\.so(?:\.\d{1,9}){0,"
            r"4}): cannot "
            "open shared object file: No such file or directory"
        ),
    ),
    summary="{library} is not found on this machine",
    means=(
        "The package (or its own .so) needs a library that the loader does not find: another "
        "CUDA version, a custom-op library, or a path that does not exist."
    ),
    mistaken_for="A damaged package.",
    check="ldd on the package's .so; the CUDA version of torch on both sides.",
    fixes=(
        fix(
            "Install {library}, or put its directory into LD_LIBRARY_PATH before the process starts"
        ),
        fix("Load custom-op libraries first: torch.ops.load_library(...)"),
    ),
    guide="guides/package-and-load.md#system-library-too-old",
    next_tool="inspect_package",
    matches=(
        recorded(
            "RuntimeError: Error in dlopen: libfoo.so: cannot open shared object file: No "
            "such file or directory",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: Error in dlopen: /tmp/e1/none.so: cannot open shared object file: "
            "No such file or directory",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        recorded(
            "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/"
            "cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined "
            "symbol: cuModuleLoad",
            "torch 2.13.0, CPU",
        ),
    ),
)
