from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="loader_refused_library",
    family="E",
    phase="load",
    category="package_incompatible",
    weight=62,
    anchors=(
        "cannot dynamically load ",
        "cannot read file data",
        "ELF file OS ABI invalid",
        "ELF file ABI version invalid",
        "ELF file version",
        "phentsize not the expected size",
        "ET_DYN and ET_EXEC",
        "object file has no dynamic section",
        "cannot enable executable stack",
        "CPU ISA level is lower than required",
        "unexpected reloc type",
        "unexpected PLT reloc type",
        "unsupported version ",
        "invalid mode for dlopen",
        "Inconsistency detected by ld.so",
        "object file has no loadable segments",
        "cannot handle TLS data",
        "ELF load command alignment not page-aligned",
    ),
    patterns=(
        (
            "(?P<why>cannot dynamically load (?:position-independent )?executable|cannot read "
            "file data: .{1,60}|ELF file (?:OS ABI invalid|ABI version invalid|version "
            "(?:ident )?does not match|'s phentsize).{0,40}|phentsize not the expected "
            "size|only ET_DYN and ET_EXEC can be loaded|object file has no (?:dynamic "
            "section|loadable segments)|cannot enable executable stack.{0,60}|CPU ISA level "
            r"is lower than required|unexpected (?:PLT )?reloc type 0x\w{1,8}|unsupported "
            r"version \S{1,20} of Ver\w{1,10} record|invalid mode for dlopen|Inconsistency "
            r"detected by ld\.so: \S{1,60}|cannot handle TLS data|ELF load command alignment "
            "not page-aligned)"
        ),
    ),
    summary="The dynamic loader refuses the library: {why}",
    means=(
        "The file is there, but it is no library for this system: another kind of file, "
        "another CPU level, page size or C library, or one that asks for rights (an "
        "executable stack) that the system does not give."
    ),
    check="file and readelf -h -l on the library; compile machine and this machine compared.",
    fixes=(fix("Compile the package on the kind of system that loads it, or in the same image"),),
    guide="guides/package-and-load.md#damaged-or-missing-library",
    next_tool="inspect_package",
    matches=(
        recorded(
            "OSError: /bin/true: cannot dynamically load position-independent executable",
            "CPython 3.11 ctypes on Debian 12",
        ),
        recorded(
            "OSError: /tmp/syn: cannot read file data: Is a directory",
            "CPython 3.11 ctypes on Debian 12",
        ),
        quoted(
            "OSError: libfoo.so: cannot enable executable stack as shared object requires: "
            "Invalid argument",
            "words of glibc 2.41",
        ),
        quoted(
            "/lib64/libc.so.6: CPU ISA level is lower than required",
            "words of the dynamic loader",
        ),
        quoted(
            "Inconsistency detected by ld.so: dl-version.c: 205: _dl_check_map_versions: "
            "Assertion `needed != NULL' failed!",
            "words of the dynamic loader",
        ),
    ),
    apart_from=("library_damaged",),
)
