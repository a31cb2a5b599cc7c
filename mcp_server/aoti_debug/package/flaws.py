"""What is wrong with a package in itself, whatever machine it goes to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from aoti_debug.package.archive import OUTDATED
from aoti_debug.package.record import Archive, CompiledModel, Flaw, Wrapper
from aoti_debug.plain import named

NO_MODEL = "Failed to find a generated cpp file or so file for model 'model' in the zip archive."
NO_PROXY = (
    "Unable to find a proxy executor to run custom ops. Please check if there is a json file "
    "generated in the same directory as the so"
)
STATIC_LIBSTDCXX = (
    "Segmentation fault (core dumped); or, with other compilers, `Error: std::bad_cast` and "
    "`create_func_(...) API call failed`"
)
likely = partial(Flaw, confidence="likely")
AGAIN = "Compile and package the model again; do not edit the archive."


def archive_flaws(
    archive: Archive, texts: dict[str, str], models: tuple[CompiledModel, ...]
) -> Iterator[Flaw]:
    """Yield the flaws of the archive as a whole."""
    if archive.layout == "exported_program":
        yield Flaw(
            "this is an exported program (torch.export.save), not a compiled package",
            NO_MODEL,
            "Load it with torch.export.load, or compile it with "
            "torch._inductor.aoti_compile_and_package.",
        )
    elif not models and not archive.members:
        yield Flaw("the archive is empty", "No files found in zip archive.", AGAIN)
    elif not models:
        yield Flaw("it holds no compiled model (nothing below data/aotinductor/)", NO_MODEL, AGAIN)
    elif archive.layout != "library" and all(m.name != "model" for m in models):
        names = named(*(m.name for m in models[:10]))
        yield Flaw(
            f"no model is called 'model', which torch loads when no name is given; it has: {names}",
            NO_MODEL,
            f"Load it with load_package(path, model_name={models[0].name!r}).",
            category="package_incompatible",
            severity="may_break",
        )
    if archive.layout == "library":
        yield Flaw(
            "this is a bare library (aot_compile), not a .pt2 package",
            "Failed to initialize zip archive: failed finding central directory",
            "Package it with torch._inductor.aoti_compile_and_package, or load it with the "
            "AOTIModelContainerRunner of C++.",
            category="package_incompatible",
            severity="may_break",
        )
    yield from _housekeeping(archive, texts, bool(models))


def _housekeeping(archive: Archive, texts: dict[str, str], models: bool) -> Iterator[Flaw]:
    form = texts.get("archive_format")
    if form is not None and form != "pt2":
        yield Flaw(
            f"archive_format says {form[:20]!r} instead of 'pt2'",
            "AssertionError: Invalid archive format",
            AGAIN,
            where="archive_format",
        )
    elif form is None and models and archive.layout in ("root", "prefixed"):
        yield Flaw(
            "archive_format is missing",
            OUTDATED,
            severity="changes",
            where="archive_format",
        )
    version = texts.get("archive_version")
    if version is not None and version != "0":
        yield Flaw(
            f"archive_version is {version[:20]!r}: written by a newer torch, or damaged",
            f"ValueError: Saved archive version {version[:20]} does not match our current archive "
            "version 0.",
            "Load it with the torch that wrote it.",
            category="package_incompatible",
            where="archive_version",
        )


def model_flaws(model: CompiledModel, archive: Archive, weights_index: Any) -> Iterator[Flaw]:
    """Yield the flaws of one model, of its folder where no file is to blame."""
    found = [*_library_flaws(model), *_weight_flaws(model, weights_index)]
    if archive.layout != "library":
        found += _metadata_flaws(model) if model.library is not None else ()
        found += _wrapper_flaws(model, model.wrapper) if model.wrapper is not None else ()
    yield from (replace(flaw, where=flaw.where or model.folder) for flaw in found)


def _library_flaws(model: CompiledModel) -> Iterator[Flaw]:
    library = model.library
    if library is None:
        if not model.source_only:
            yield Flaw(
                f"model {model.name!r} has no library (.so)",
                "File not found: …_compile_flags.json",
                AGAIN,
            )
        return
    if library.error:
        loader = library.error in ("invalid ELF header", "file too short")
        yield Flaw(
            f"{named(library.member)} is damaged: {library.error}",
            f"Error in dlopen: …/{PurePosixPath(library.member).name}: {library.error}"
            if loader
            else "Error in dlopen: …",
            "Copy the package again.",
            confidence="proved" if loader else "likely",
            where=library.member,
        )
        return
    if library.static_libstdcxx:
        yield Flaw(
            "the library holds its own copy of libstdc++ (linked statically): it cannot be loaded "
            "into a process that has the shared one",
            STATIC_LIBSTDCXX,
            "Compile with a g++ that links libstdc++.so (CXX=/usr/bin/g++, no "
            "-static-libstdc++ in CXX, CXXFLAGS, LDFLAGS or the compiler's wrapper).",
            category="toolchain",
            where=library.member,
        )
    if not library.model:
        yield likely(
            f"{named(library.member)} is not a compiled model: "
            "it lacks AOTInductorModelContainerRun",
            "undefined symbol: AOTInductorModelContainerCreateWithDevice",
            AGAIN,
            where=library.member,
        )


def _metadata_flaws(model: CompiledModel) -> Iterator[Flaw]:
    device = model.device
    if device is None:
        yield likely(
            "the metadata does not say for which device the model was compiled",
            "KeyError: 'AOTI_DEVICE_KEY' (torch 2.10 to 2.13), No device information found. "
            "(other releases)",
            AGAIN,
        )
    elif device not in ("cpu", "cuda", "xpu", "mps"):
        yield likely(
            f"the metadata names an unknown device, {device[:40]!r}",
            f"Unsupported device key found: {device[:40]}",
            AGAIN,
        )


def _wrapper_flaws(model: CompiledModel, wrapper: Wrapper) -> Iterator[Flaw]:
    """Yield what the wrapper calls that the package does not have."""
    calls = [launch for launch in wrapper.launches if launch.kind == "custom_op"]
    wanted = max((int(c.kernel[15:-1]) + 1 for c in calls), default=0)
    if wanted > len(model.custom_ops):
        missing = "no" if not model.custom_ops else f"only {len(model.custom_ops)}"
        yield Flaw(
            f"the model calls {wanted} operators through Python's registry, and {missing} "
            "description of them is in the package (the library's .json)",
            NO_PROXY,
            AGAIN,
            category="package_corrupt" if not model.custom_ops else "missing_symbol",
        )
    have = {binary.member for binary in model.binaries}
    absent = [k for k in wrapper.kernels if k.binary and k.binary not in have]
    if absent:
        names = named(*(k.name for k in absent[:5]))
        yield Flaw(
            f"the binaries of {len(absent)} of {len(wrapper.kernels)} Triton kernels are "
            f"missing: {names}",
            "CUDA driver error: file not found",
            "Compile again; aot_inductor.embed_kernel_binary=True puts them into the library.",
            category="missing_kernel_binary",
        )
    for binary in [b for b in model.binaries if b.error][:5]:
        yield likely(
            f"{named(binary.member)}: {binary.error}",
            "CUDA driver error: device kernel image is invalid",
            "Copy the package again.",
            category="missing_kernel_binary",
            where=binary.member,
        )
    embedded = set(model.library.embedded_kernels) if model.library else set()
    lost = [k.name for k in wrapper.kernels if k.embedded and k.name not in embedded]
    if lost and embedded:
        yield likely(
            f"the library lacks the embedded kernels {named(*lost[:5])}",
            "undefined symbol: __…_start",
            AGAIN,
            category="missing_kernel_binary",
        )


def _weight_flaws(model: CompiledModel, index: Any) -> Iterator[Flaw]:
    listed = index.values() if isinstance(index, dict) else ()
    names = [one[0] for one in listed if isinstance(one, list) and one and isinstance(one[0], str)]
    present = {PurePosixPath(m.name).name for m in model.weights}
    lost = [name[:100] for name in names if PurePosixPath(name).name not in present]
    if lost:
        yield likely(
            f"{len(lost)} of {len(names)} weight files are missing: {named(*lost[:5])}",
            "Segmentation fault (core dumped)",
            AGAIN,
            category="constants_missing",
        )
    wrapper = model.wrapper
    if wrapper is None or wrapper.weights_in_library is not False:
        return
    constants = [c for c in wrapper.constants if not c.folded]
    if constants:
        where = "beside it in the package" if model.weights else "nowhere in the package"
        yield Flaw(
            f"the library holds none of its {len(constants)} constants; they are {where}. A call "
            "before load_constants() ends the process",
            "Segmentation fault (core dumped)",
            "Call load_constants(state_dict, check_full_update=True) before the first call, "
            "or load the weights with load_pt2(path, load_weights_from_disk=True).",
            category="constants_missing",
            severity="may_break",
        )
