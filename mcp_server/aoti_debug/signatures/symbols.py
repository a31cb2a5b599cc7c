"""What the library needs from torch, the C++ runtime and the system."""

from __future__ import annotations

from aoti_debug.facts.tiers import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="abi_mix_crash",
        phase="load",
        category="host_segfault",
        role="symptom",
        tier=Tier.KIND_TEXT,
        confidence="possible",
        patterns=(
            "(?P<what>_Sp_counted_base<.{0,120}>::_M_release)",
            r"what\(\):\s{1,4}(?P<what>basic_string::_M_create)",
            r"what\(\):\s{1,4}(?P<what>basic_string: construction from null)",
        ),
        summary="C++ libraries that do not fit meet in this process: {what}",
        means=(
            "Typical of mixed compilers or of two std::string layouts: a shared pointer or string "
            "of one library is released or read by another."
        ),
        check=(
            "Does every package crash, also that of a one-line model? Then it is the toolchain, "
            "not the model."
        ),
        fixes=(fix("Build all C++ parts with the compiler and _GLIBCXX_USE_CXX11_ABI of torch"),),
        guide="guides/host-crash.md#segfault-on-load",
        next_tool="check_environment",
        matches=(
            quoted(
                "#0 std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::_M_release() ()",
                "pytorch/pytorch#145441",
            ),
            quoted("  what():  basic_string::_M_create", "words of libstdc++"),
            quoted(
                "  what():  basic_string: construction from null is not valid",
                "words of libstdc++",
            ),
        ),
    ),
    Signature(
        id="link_undefined_reference",
        phase="cpp_compile",
        category="missing_symbol",
        tier=Tier.KIND_TEXT,
        anchors=("LNK1120",),
        patterns=(
            "undefined reference to [`'‘]?(?P<symbol>(?![`'‘]?WinMain)[^'’]{1,200})",
            "error: undefined (?:hidden )?symbol: (?P<symbol>.{1,200})",
            "mold: undefined (?:hidden )?symbol: (?P<symbol>.{1,200})",
            r"(?P<symbol>Undefined symbols for architecture \w{1,20})",
            r"(?P<symbol>symbol\(s\) not found for architecture \w{1,20})",
            "unresolved external symbol (?P<symbol>.{1,160})",
            r"(?P<symbol>LNK1120\b.{0,60})",
        ),
        summary="The linker finds no definition of {symbol}",
        means=(
            "A library is not on the link line or comes too early on it, or was built with another "
            "torch release or C++ ABI (a name with __cxx11 against one without)."
        ),
        check=(
            "nm -DC on libtorch_cpu.so, libtorch_cuda.so and libc10.so: who defines the name, and "
            "with which std::string?"
        ),
        fixes=(
            fix(
                (
                    "Link with the libraries that find_package(Torch) gives in TORCH_LIBRARIES, "
                    "after your own objects"
                ),
            ),
            fix("Build all parts against one torch and with its _GLIBCXX_USE_CXX11_ABI"),
        ),
        guide="guides/toolchain.md#linker-errors",
        next_tool="check_environment",
        matches=(
            recorded("u.cpp:(.text+0xa): undefined reference to `nope(int)'", "GNU ld 2.40"),
            recorded(
                "/tmp/ccyhDUZh.o:u.cpp:function main: error: undefined reference to 'nope(int)'",
                "gold 2.40",
            ),
            quoted(
                "ld.lld: error: undefined symbol: torch::jit::load(std::string const&)",
                "words of lld",
            ),
            quoted("Undefined symbols for architecture arm64:", "words of Apple's ld"),
            quoted(
                "error LNK2019: unresolved external symbol aoti_torch_check",
                "pytorch/pytorch#139954",
            ),
            quoted("build\\app.exe : fatal error LNK1120: 2 unresolved externals", "words of MSVC"),
            words(
                "programs that were not at hand",
                "mold: undefined symbol: x",
                "symbol(s) not found for architecture x",
            ),
        ),
    ),
    Signature(
        id="not_an_aoti_library",
        phase="load",
        category="package_incompatible",
        tier=Tier.EXACT_TEXT,
        patterns=(r"undefined symbol: (?P<symbol>AOTInductor\w{1,80})",),
        summary="The library does not export {symbol}",
        means=(
            "The file is no AOTInductor library, or one compiled by a torch whose entry points "
            "differ."
        ),
        fixes=(fix("Pass the library of a package compiled by the torch release that loads it"),),
        guide="guides/package-and-load.md#torch-versions-of-both-sides",
        next_tool="inspect_package",
        matches=(
            recorded(
                (
                    "/lib/x86_64-linux-gnu/libm.so.6: undefined symbol: "
                    "AOTInductorModelContainerCreateWithDevice"
                ),
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="static_libstdcxx",
        phase="load",
        category="host_segfault",
        tier=Tier.NAMED_TEXT,
        patterns=(
            (
                r"^#\d{1,20}\s.{0,600}\bstd::(?:__cxx11::|__detail::)?(?:codecvt|regex_traits|"
                r"_Compiler)<.{0,1200}from \S{1,300}/data/aotinductor/\S{1,200}\.so"
            ),
            (
                r"^0x[0-9a-f]{1,200} in std::codecvt<.{0,400}from \S{1,300}"
                r"/data/aotinductor/\S{1,200}\.so"
            ),
        ),
        summary=(
            "The package carries its own static copy of the C++ standard library and crashes on "
            "load"
        ),
        means=(
            "The compiler that built it links libstdc++ statically; its locale and regex code then "
            "clashes with the one of the process. Every package of that compiler dies on load."
        ),
        check="readelf -d on the package's .so: libstdc++.so.6 is missing among NEEDED.",
        fixes=(fix("Set CXX to a g++ that links libstdc++ dynamically and compile again"),),
        guide="guides/toolchain.md#static-libstdcxx",
        next_tool="check_environment",
        matches=(
            recorded(
                (
                    "0x00007fff19a9bdd4 in std::codecvt<char16_t, char, "
                    "__mbstate_t>::do_unshift(__mbstate_t&, char*, char*, char*&) const () from "
                    "/tmp/n8wTCF/p1/data/aotinductor/model/cbikr4ookibs3mgi3yklftjwn7zwgggckjm4zhcjndbrcsuu4wzg.wrapper.so"
                ),
                "torch 2.11.0, H200",
            ),
            recorded(
                (
                    "#5  0x00007fff19a89ea5 in "
                    "std::__detail::_Compiler<std::__cxx11::regex_traits<char> >::_M_atom() () "
                    "from "
                    "/tmp/n8wTCF/p1/data/aotinductor/model/cbikr4ookibs3mgi3yklftjwn7zwgggckjm4zhcjndbrcsuu4wzg.wrapper.so"
                ),
                "torch 2.11.0, H200",
            ),
            recorded(
                (
                    "#1  0x00007fff19a7fac0 in std::__cxx11::basic_string<char, "
                    "std::char_traits<char>, std::allocator<char> > "
                    "std::__cxx11::regex_traits<char>::transform_primary<char const*>(char const*, "
                    "char const*) const () from "
                    "/tmp/n8wTCF/p1/data/aotinductor/model/cbikr4ookibs3mgi3yklftjwn7zwgggckjm4zhcjndbrcsuu4wzg.wrapper.so"
                ),
                "torch 2.11.0, H200",
            ),
        ),
        neighbours=(
            quoted(
                (
                    "#3 0x7fff5eea1e0e in std::__detail::_Compiler<std::regex_traits<char> "
                    ">::_M_atom() () from /usr/lib/x86_64-linux-gnu/libstdc++.so.6"
                ),
                "not in the package",
            ),
        ),
    ),
    Signature(
        id="static_libstdcxx_bad_cast",
        phase="load",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(r"^Error: std::bad_cast\s{0,20}$",),
        summary="The package carries its own static copy of the C++ standard library",
        means=(
            "The compiler that built it links libstdc++ statically; its locales then clash with "
            "those of the process: with g++ 12 the model cannot be created, with g++ 13 loading "
            "crashes. The `create_func_(...) API call failed` below it says no more."
        ),
        check="readelf -d on the package's .so: libstdc++.so.6 is missing among NEEDED.",
        fixes=(fix("Set CXX to a g++ that links libstdc++ dynamically and compile again"),),
        guide="guides/toolchain.md#static-libstdcxx",
        next_tool="inspect_package",
        matches=(recorded("Error: std::bad_cast", "torch 2.13.0, CPU, g++ 12"),),
        neighbours=(quoted("  what():  std::bad_cast", "any other C++ program"),),
    ),
    Signature(
        id="symbol_not_provided",
        phase="load",
        category="missing_symbol",
        tier=Tier.SPECIFIC_TEXT,
        anchors=("exit code", "exit status"),
        patterns=(
            r"symbol (?P<symbol>\w{1,200}),? version \S{1,60} not defined in file",
            r"symbol not found in flat namespace '?\(?(?P<symbol>[\w$]{1,200})",
            r"Symbol not found: \(?(?P<symbol>[\w$]{1,200})",
            r"Error relocating \S{1,200}: (?P<symbol>\w{1,200})\)?: symbol not found",
            r"dlsym\(\S{1,40} (?P<symbol>\w{1,200})\)?: symbol not found",
            r"(?P<symbol>\[?WinError 127\b)",
            "(?P<symbol>error in GetProcAddress)",
            r"(?P<symbol>\S{1,200} could not be located in the dynamic link library)",
            "(?P<symbol>0x[cC]0000139)",
            "(?P<symbol>-1073741511)",
        ),
        summary="A library of this process lacks a symbol: {symbol}",
        means=(
            "The library that was loaded is not the one it was linked against: another torch, "
            "another C++ runtime or CUDA library is found first."
        ),
        check=(
            "nm -D (nm -gU on macOS, dumpbin /exports on Windows) on the library that should "
            "define it."
        ),
        fixes=(
            fix(
                (
                    "Load with the torch release that compiled it; put the right library first on "
                    "the search path"
                ),
            ),
        ),
        guide="guides/package-and-load.md#undefined-symbols",
        next_tool="check_environment",
        matches=(
            quoted(
                (
                    "ImportError: libtorch_cuda.so: symbol cudaGraphInstantiateWithFlags version "
                    "libcudart.so.11.0 not defined in file libcudart.so.11.0 with link time "
                    "reference"
                ),
                "words of the dynamic loader",
            ),
            quoted(
                (
                    "ImportError: dlopen(m.so, 0x0002): symbol not found in flat namespace "
                    "'_aoti_torch_empty_strided'"
                ),
                "words of dyld",
            ),
            quoted("dyld[123]: Symbol not found: __ZN2at4_ops5zeros4callE", "words of dyld"),
            quoted(
                "Error relocating /app/libfoo.so: __memcpy_chk: symbol not found",
                "words of musl's loader",
            ),
            quoted(
                "OSError: [WinError 127] The specified procedure could not be found.",
                "words of Windows",
            ),
            quoted(
                "DynamicLibraryError: error in GetProcAddress",
                "words of ATen/DynamicLibrary.cpp",
            ),
            words("ld", "dlsym(x x: symbol not found"),
            words(
                "programs that were not at hand",
                "x could not be located in the dynamic link library",
                "exit code -1073741511",
            ),
            words("programs that were not at hand", "exit status 0xC0000139"),
        ),
    ),
    Signature(
        id="system_library_too_old",
        phase="load",
        category="package_incompatible",
        tier=Tier.EXACT_TEXT,
        patterns=(r"version `(?P<version>(?:GLIBCXX|GLIBC|CXXABI|GOMP)_[\w.]{1,20})' not found",),
        summary="This machine's C or C++ library lacks {version}",
        means="The package was compiled on a newer system than the one that loads it.",
        check="ldd --version, and strings libstdc++.so.6 | grep GLIBCXX on both machines.",
        fixes=(
            fix("Compile on the oldest system that must load it, or in the same container image"),
            fix("For GLIBCXX install a newer libstdc++ and put it first in LD_LIBRARY_PATH"),
        ),
        guide="guides/package-and-load.md#system-library-too-old",
        next_tool="check_environment",
        matches=(
            recorded(
                (
                    "RuntimeError: Error in dlopen: /tmp/e1/rec/libstdfake.so.6: version "
                    "`GLIBCXX_3.4.99' not found"
                ),
                "torch 2.13.0, CPU, libraries of ours",
            ),
            quoted(
                "ImportError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found",
                "words of the dynamic loader",
            ),
            quoted(
                "libstdc++.so.6: version `CXXABI_1.3.15' not found",
                "words of the dynamic loader",
            ),
            quoted("libgomp.so.1: version `GOMP_5.0' not found", "words of the dynamic loader"),
        ),
    ),
    Signature(
        id="undefined_cuda_shim",
        phase="load",
        category="missing_symbol",
        tier=Tier.NAMED_TEXT,
        patterns=(r"undefined symbol: (?P<symbol>aoti_torch_(?P<device>cuda|xpu|mps)_\w{1,120})",),
        summary="This torch lacks {symbol}: it has no {device} support",
        means=(
            "A package for a GPU is loaded by a CPU-only torch, or by a libtorch built without the "
            "C shims of that device."
        ),
        check="torch.version.cuda, and nm -D libtorch_cuda.so | grep the symbol.",
        fixes=(
            fix("Load it with a torch build for that device"),
            fix("If the build is right, use at least the torch release that compiled the package"),
        ),
        guide="guides/package-and-load.md#missing-shim-symbols",
        next_tool="check_environment",
        matches=(
            recorded(
                (
                    "RuntimeError: Error in dlopen: /tmp/e1/rec/sB.so: undefined symbol: "
                    "aoti_torch_cuda_addmm_out"
                ),
                "torch 2.13.0, CPU, a library of ours",
            ),
        ),
        neighbours=(
            recorded(
                (
                    "RuntimeError: Error in dlopen: "
                    "/tmp/aotinductor_8uThIT/m/data/aotinductor/model/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: "
                    "undefined symbol: aoti_torch_cpu_addmm_out_v9"
                ),
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("undefined_torch_symbol",),
    ),
    Signature(
        id="undefined_other_symbol",
        phase="load",
        category="missing_symbol",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            (
                "(?<!error: )undefined symbol: (?P<symbol>(?!aoti_|AOTInductor|_ZT?[VINKS]{0,3}"
                r"(?:3c10|2at|5torch))\w{1,200})"
            ),
        ),
        summary="The symbol {symbol} is missing",
        means=(
            "A cu... name means that no CUDA driver library is loaded; a std:: name an older "
            "libstdc++; any other name a library that must be loaded first."
        ),
        check="c++filt the name; ldd -r on the library.",
        fixes=(
            fix("Load the library that defines it, or build against the one that is installed"),
        ),
        guide="guides/package-and-load.md#undefined-symbols",
        next_tool="check_environment",
        matches=(
            recorded(
                "RuntimeError: Error in dlopen: /tmp/e1/rec/sD.so: undefined symbol: cuModuleLoad",
                "torch 2.13.0, CPU, a library of ours",
            ),
        ),
        neighbours=(
            recorded(
                (
                    "RuntimeError: Error in dlopen: "
                    "/tmp/aotinductor_8uThIT/m/data/aotinductor/model/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: "
                    "undefined symbol: aoti_torch_cpu_addmm_out"
                ),
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="undefined_shim",
        phase="load",
        category="missing_symbol",
        tier=Tier.NAMED_TEXT,
        patterns=(r"undefined symbol: (?P<symbol>aoti_(?!torch_(?:cuda|xpu|mps)_)\w{1,160})",),
        summary="This torch does not know {symbol}",
        means=(
            "The package was compiled by a newer torch than the one that loads it (C shims are "
            "added over time), or its operator comes from a library that is not loaded."
        ),
        check="Compare torch.__version__ of both sides.",
        fixes=(
            fix("Load with the same torch release, or compile with the one that serves"),
            fix("For an operator of your own load its library first"),
        ),
        guide="guides/package-and-load.md#missing-shim-symbols",
        next_tool="check_environment",
        matches=(
            recorded(
                (
                    "/tmp/aotinductor_Dj41KZ/m/data/aotinductor/model/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: "
                    "undefined symbol: aoti_torch_cpu_addmm_ouX"
                ),
                "torch 2.13.0, CPU, name changed by us",
            ),
        ),
        apart_from=("undefined_cuda_shim",),
    ),
    Signature(
        id="undefined_torch_symbol",
        phase="load",
        category="missing_symbol",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                "undefined symbol: (?P<symbol>_ZT?[VINKS]{0,3}(?:3c10|2at|5torch|K3c10|K2at)"
                r"\w{1,240})"
            ),
        ),
        summary="This torch lacks the C++ symbol {symbol}",
        means=(
            "The package or a library that it needs was built against another torch release or C++ "
            "ABI: a name with `Ss` holds the old std::string."
        ),
        check="c++filt the name; torch.__version__ and torch.compiled_with_cxx11_abi() of both sides.",
        fixes=(
            fix(
                (
                    "Build or compile with the torch release that loads it; do not override "
                    "_GLIBCXX_USE_CXX11_ABI"
                ),
            ),
        ),
        guide="guides/package-and-load.md#undefined-symbols",
        next_tool="check_environment",
        matches=(
            recorded(
                (
                    "RuntimeError: Error in dlopen: /tmp/e1/rec/sC.so: undefined symbol: "
                    "_ZN2at4_ops6linear4callERKNS_6TensorES4_X"
                ),
                "torch 2.13.0, CPU, a library of ours",
            ),
            recorded(
                (
                    "RuntimeError: Error in dlopen: /tmp/e1/rec/sA.so: undefined symbol: "
                    "_ZN3c105ErrorC1ENS_14SourceLocationESs"
                ),
                "torch 2.13.0, CPU, a library of ours",
            ),
        ),
        apart_from=("undefined_other_symbol",),
    ),
)
