from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="triton_pass_failed",
    family="K",
    phase="triton_compile",
    category="triton_error",
    weight=62,
    anchors=(
        "error: 'tt.",
        "error: 'ttg.",
        "error: 'ttng.",
        "error: 'tti.",
        "error: 'triton",
        "error: 'amdg",
        "error: 'llvm.",
        "error: 'nvvm.",
        "error: 'nvgpu.",
        "error: 'nvws.",
        "error: 'rocdl.",
        "error: 'arith.",
        "error: 'scf.",
        "error: 'cf.",
        "error: 'math.",
        "error: 'vector.",
        "error: 'gpu.",
        "error: 'builtin.",
        "failed to legalize operation",
        "does not dominate this use",
        "Failures have been detected while processing an MLIR pass pipeline",
        "Pipeline failed while executing [",
        "note: see current operation",
        "mlir::",
        "LinearLayout",
        "lib/Dialect/Triton",
        "lib/Conversion/Triton",
        "TritonGPUToLLVM",
        "TritonToTritonGPU",
        "third_party/nvidia/lib",
        "third_party/amd/lib",
        "LLVM ERROR: ",
        "LLVM Error: ",
        "Cannot select: ",
        "Unsupported DotOp",
        "Unsupported WarpGroupDotOp",
        "Layout is expected to be surjective",
        "translateLLVMToASM",
        "failed to translate module to LLVM IR",
        "Failed to lower TMEM",
        "Failed to pipeline loop",
        "triton::gpu::",
        "UNREACHABLE executed at",
    ),
    patterns=(
        (r"^\s{0,20}#?\s?\d{1,3}:? .{0,120}\bmlir::\w|UNREACHABLE executed at \S{0,300}triton"),
        (
            r"\berror: '(?:tt|ttg|ttng|tti|triton\w{0,20}|amdg\w{0,10}|llvm|nvvm|nvgpu|nvws"
            "|rocdl"
            r"|arith|scf|cf|math|vector|gpu|builtin)\.[\w.]{1,80}' op|failed to legalize "
            "operation '|operand #\\d{1,5} does not dominate|Failures have been detected while "
            r"processing an MLIR pass|Pipeline failed while executing \["
            r"|LinearLayout\S{0,300}: "
            r".{0,600}Assertion|mlir::\S.{0,600}Assertion|(?:lib/(?:Dialect|Conversion)/Triton"
            r"|third_party/(?:nvidia|amd)/lib)\S{1,200}:\d{1,20}: .{0,600}(?:Assertion"
            r"|UNREACHABLE)"
            r"|LLVM (?:ERROR|Error): (?!out of memory|IO failure).{1,200}|Cannot select: (?:t\d"
            r"|0x|intrinsic)|Unsupported (?:WarpGroup)?DotOp found|Layout is expected to be "
            r"surjective|[fF]ailed to translate module to LLVM IR|Failed to lower TMEM"
        ),
    ),
    summary="A pass of Triton's compiler failed",
    means=(
        "The kernel's source was accepted, then MLIR or LLVM broke down: a bug of this Triton, "
        "or a combination of shape, dtype, num_stages and num_warps that it cannot lower on "
        "this GPU."
    ),
    mistaken_for="A crash of the model",
    check="Does num_stages=1 or another block size of the kernel compile?",
    fixes=(
        fix("Drop the configuration that fails: other block sizes, num_stages or num_warps"),
        fix("Use the newest Triton that fits this torch"),
    ),
    guide="guides/triton-and-autotuning.md#triton-compile-errors",
    next_tool="check_environment",
    matches=(
        quoted(
            "kernel.py:98:22: error: 'tt.assert' op pipeliner doesn't know how to predicate "
            "this op.",
            "form of an MLIR diagnostic",
        ),
        quoted("LLVM ERROR: mma16816 data type not supported", "words of Triton's LLVM lowering"),
        quoted(
            "#23 0x0000562 mlir::PassManager::run(mlir::Operation*) (/x/libtriton.so+0x1)",
            "a frame of a native stack",
        ),
        quoted(
            "triton-opt: /x/triton/lib/Tools/LinearLayout.cpp:512: mlir::triton::LinearLayout "
            "mlir::triton::LinearLayout::reshapeIns() const: Assertion `getTotalInDimSize() "
            "== n' failed.",
            "form of the assertion",
        ),
    ),
    neighbours=(quoted("LLVM ERROR: out of memory", "memory"),),
    apart_from=("compiler_killed",),
)
