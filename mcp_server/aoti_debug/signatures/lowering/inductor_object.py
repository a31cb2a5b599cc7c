from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

NODES = (
    "TensorBox",
    "StorageBox",
    "ReinterpretView",
    "ComputedBuffer",
    "InputBuffer",
    "ConstantBuffer",
    "FallbackKernel",
    "ExternKernelOut",
    "ExternKernelAlloc",
    "ExternKernelSchedulerNode",
    "FusedSchedulerNode",
    "SchedulerNode",
    "NopKernelSchedulerNode",
    "MultiOutput",
    "MultiOutputLayout",
    "NoneLayout",
    "FlexibleLayout",
    "FixedLayout",
    "MutationLayoutSHOULDREMOVE",
    "ShapeAsConstantBuffer",
    "NoneAsConstantBuffer",
    "TorchBindObject",
    "GraphLowering",
    "SubgraphLowering",
    "CppWrapperCpu",
    "CppWrapperGpu",
    "PythonWrapperCodegen",
    "TritonKernel",
    "CppKernel",
    "CppVecKernel",
    "SizeVarAllocator",
    "NullHandler",
    "NullKernelHandler",
    "UserDefinedTritonKernel",
    "PermuteView",
    "ExpandView",
    "SqueezeView",
    "GenericView",
    "SliceView",
)

SIGNATURE = Signature(
    id="inductor_object",
    family="J",
    phase="lower",
    category="lowering_error",
    weight=32,
    anchors=(
        *(f"'{node}' object " for node in NODES),
        "<class 'torch._inductor.",
        "torch._inductor.virtualized",
    ),
    patterns=(
        (
            rf"'(?P<what>{'|'.join(NODES)})' object (?:has no|is not|does not|cannot)"
            r"|(?:Error|Exception)\b.{0,300}<class 'torch\._inductor\.[\w.]{1,200}'>"
            r"|Error: 'torch\._inductor\.virtualized"
        ),
    ),
    summary="Inductor's own code stumbled over a node of its graph",
    means=(
        "A pass expected another kind of node in Inductor's IR. The stack below "
        "torch/_inductor names the pass; `target:` names the operator, if it was a lowering."
    ),
    mistaken_for="An error of your model code",
    check="The names are classes of torch/_inductor, not of the script",
    fixes=(fix("Reduce the graph to the operator that fails; try the newest torch"),),
    guide="guides/lowering-and-cpp.md#lowering-exceptions",
    next_tool="minify",
    matches=(
        recorded(
            "torch._inductor.exc.InductorError: LoweringException: AttributeError: 'TensorBox' "
            "object has no attribute 'nothing_here'",
            "torch 2.13 CPU, a lowering made to raise",
        ),
        quoted(
            "NotImplementedError: Unsupported arg type: <class 'torch._inductor.ir.Buffer'>",
            "words of torch/_inductor/ir.py",
        ),
    ),
)
