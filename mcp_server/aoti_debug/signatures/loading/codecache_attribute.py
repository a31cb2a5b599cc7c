from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="codecache_attribute",
    family="E",
    phase="load",
    category="package_incompatible",
    weight=84,
    confidence="proved",
    anchors=("has no attribute 'codecache'",),
    patterns=(r"module 'torch\._inductor' has no attribute 'codecache'",),
    summary="torch 2.10 forgets to import a module that its loader uses",
    means="A bug of 2.10.0: loading a package as the first thing in a process fails.",
    fixes=(
        fix("import torch._inductor.codecache before aoti_load_package, or use another release"),
    ),
    guide="guides/package-and-load.md#attributeerror-on-load",
    since="2.10",
    until="2.10",
    matches=(
        quoted(
            "AttributeError: module 'torch._inductor' has no attribute 'codecache'",
            "torch 2.10.0, aoti_load_package",
        ),
    ),
    neighbours=(
        quoted(
            "AttributeError: module 'torch._inductor' has no attribute 'package'",
            "another failure",
        ),
    ),
)
