from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="model_library_missing",
    family="E",
    phase="load",
    category="package_corrupt",
    weight=84,
    anchors=("Failure loading .so: ",),
    patterns=(r"Failure loading \.so: (?P<file>\S{1,300}): cannot open shared object file",),
    summary="The model's own library {file} is not where it is looked for",
    means=(
        "A library made by aot_compile is loaded by its path: it was moved or deleted, or the "
        "name has no directory, so only the loader's own folders are searched."
    ),
    mistaken_for="A library missing from the system.",
    check="ls that path, from the directory in which the program runs",
    fixes=(
        fix("Give the absolute path of the .so, and keep it beside its .cubin files"),
        fix("Or ship a .pt2 package, which holds all of them"),
    ),
    guide="guides/package-and-load.md#damaged-archives",
    next_tool="inspect_package",
    matches=(
        quoted(
            "RuntimeError: Failure loading .so: cab.so: cannot open shared object file: No such "
            "file or directory",
            "words of torch/csrc/inductor/aoti_runner",
        ),
    ),
    neighbours=(
        quoted(
            "Error in dlopen: libcudart.so.12: cannot open shared object file",
            "a library of the system",
        ),
    ),
)
