"""Sizes that vary: constraints of export, size symbols, asserts at run time."""

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURES = (
    Signature(
        id="export_constraints_violated",
        family="B",
        phase="export",
        category="contract_guard",
        role="envelope",
        weight=60,
        anchors=("Constraints violated (",),
        patterns=(r"Constraints violated \((?P<dims>[^)]{1,200})\)!",),
        summary="torch.export cannot keep the dynamic dimensions {dims}",
        means=(
            "The heading of one or more reasons: the lines below say what each dimension breaks, "
            "`Suggested fixes` what would do."
        ),
        fixes=(fix("Read the lines below and take the suggested Dims"),),
        guide="guides/dynamic-shapes.md#constraint-violations",
        matches=(
            recorded(
                "torch._dynamo.exc.UserError: Constraints violated (b)! For more information, run "
                'with TORCH_LOGS="+dynamic".',
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="export_guard_unsatisfied",
        family="B",
        phase="export",
        category="contract_guard",
        weight=83,
        confidence="proved",
        anchors=("satisfy the generated guard",),
        patterns=(
            (
                "Not all values of (?P<dim>.{1,80}?) = .{1,80}? in the specified range satisfy "
                "the generated guard (?P<guard>.{1,160})"
            ),
        ),
        summary="The model only works for some sizes of {dim}: {guard}",
        means=(
            "The traced code needs more of the size than the Dim promises, such as divisibility "
            "or a larger minimum."
        ),
        fixes=(
            fix("Take the Dim of `Suggested fixes` (2*_b for an even size, min=5 for a minimum)"),
            fix("Or remove the code that needs it"),
        ),
        guide="guides/dynamic-shapes.md#constraint-violations",
        matches=(
            recorded(
                "  - Not all values of b = L['a'][0].size()[0] in the specified range satisfy the "
                "generated guard 5 <= L['a'][0].size()[0] and L['a'][0].size()[0] <= IntInfinity()",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("export_constraints_violated",),
    ),
    Signature(
        id="export_specialised",
        family="B",
        phase="export",
        category="contract_guard",
        weight=84,
        confidence="proved",
        anchors=("but your code specialized it to be a constant",),
        patterns=(
            (
                "You marked (?P<dim>.{1,120}) as dynamic but your code specialized it to be a "
                r"constant \((?P<value>\d+)\)"
            ),
        ),
        summary="{dim} was meant to be dynamic, but the model fixes it at {value}",
        means=(
            "The example has size 0 or 1 there, or the code uses the size as a number (reshape "
            "with literals, int(x.shape[0]), a Python branch). With Dim.AUTO the same happens "
            "silently and other sizes give wrong results."
        ),
        check="Is the constant the example's size and 1? Then take an example of at least 2.",
        fixes=(
            fix("Export with an example of size 2 or more in {dim}"),
            fix("Replace literals by -1 or x.shape[0] where the model reshapes"),
            fix("Or give Dim.STATIC there and serve only {value}"),
        ),
        guide="guides/dynamic-shapes.md#specialised-to-a-constant",
        references=("pytorch/pytorch#122294",),
        matches=(
            recorded(
                "  - You marked b as dynamic but your code specialized it to be a constant (1).",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("export_guard_unsatisfied",),
    ),
    Signature(
        id="export_data_dependent",
        family="B",
        phase="export",
        category="lowering_error",
        weight=78,
        confidence="proved",
        anchors=(
            "Could not guard on data-dependent expression",
            "Could not extract specialized integer from data-dependent expression",
        ),
        patterns=(
            (
                "Could not (?:guard on|extract specialized integer from) data-dependent "
                r"expression (?P<expression>.{1,120}?) \(unhinted"
            ),
            (
                "Could not (?:guard on|extract specialized integer from) data-dependent "
                "expression (?P<expression>.{1,120})"
            ),
        ),
        summary="The model branches on a value known only at run time: {expression}",
        means=(
            "A size or bool comes from data (item(), nonzero(), a mask), so tracing cannot decide "
            "the branch."
        ),
        fixes=(
            fix(
                "State what is always true before it: torch._check(u >= 2), or use guard_or_false "
                "/ torch.cond"
            ),
            fix("Or move the data-dependent part out of the model"),
        ),
        guide="guides/dynamic-shapes.md#data-dependent-sizes",
        references=("pytorch/pytorch#118304",),
        matches=(
            recorded(
                "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: Could not "
                "guard on data-dependent expression Eq(u0, 1) (unhinted:",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "GuardOnDataDependentSymNode: Could not extract specialized integer from "
                "data-dependent expression u0 (unhinted: u0)",
                "words of symbolic_shapes.py",
            ),
        ),
    ),
    Signature(
        id="unbacked_symbol_lost",
        family="B",
        phase="lower",
        category="lowering_error",
        weight=70,
        anchors=("Pending unbacked symbols", "object has no attribute 'node'", " is not solvable"),
        patterns=(
            r"(?P<what>Pending unbacked symbols \{[^}]{1,120}\} not in returned outputs)",
            "AttributeError: (?P<what>'(?:float|int|bool)' object has no attribute 'node')",
            r"(?:AssertionError: |^)(?P<what>Eq\(.{1,160}\) is not solvable)",
        ),
        summary="Inductor lost track of a size symbol: {what}",
        means=(
            "A size that comes from data or from a formula cannot be tied to a tensor: item() "
            "evaluated to a number, a fake kernel that does not return its new size, or a "
            "dimension that is a formula only."
        ),
        fixes=(
            fix(
                "Remove .item() from the model, or state the size with torch._check and use it in "
                "an output"
            ),
            fix("In a fake kernel take sizes from torch.library.get_ctx().new_dynamic_size()"),
            fix("Give the basic size a dimension of its own; upgrade torch"),
        ),
        guide="guides/dynamic-shapes.md#data-dependent-sizes",
        references=("opendatalab/DocLayout-YOLO#177",),
        matches=(
            quoted(
                "torch.fx.experimental.symbolic_shapes.PendingUnbackedSymbolNotFound: Pending "
                "unbacked symbols {u1} not in returned outputs",
                "words of symbolic_shapes.py",
            ),
            quoted(
                "AttributeError: 'float' object has no attribute 'node'",
                "opendatalab/DocLayout-YOLO#177",
            ),
            quoted(
                "AssertionError: Eq(s0**2 + s0, arg0_1_size_0) is not solvable",
                "words of cpp_wrapper_cpu.py",
            ),
        ),
        apart_from=("api_misuse",),
    ),
    Signature(
        id="undeclared_size_symbol",
        family="B",
        phase="cpp_compile",
        category="cpp_error",
        weight=82,
        confidence="proved",
        anchors=("was not declared in this scope", "use of undeclared identifier"),
        patterns=(
            r"error: ['‘](?P<symbol>[suz]\d+)['’] was not declared in this scope",
            r"error: use of undeclared identifier '(?P<symbol>[suz]\d+)'",
        ),
        summary="The generated C++ uses the size symbol {symbol} without defining it",
        means=(
            "Inductor lost the definition of a dynamic size: derived Dims (2*s1), inputs that "
            "share one Dim, or a deferred assertion that still names a merged symbol."
        ),
        mistaken_for="A toolchain problem.",
        check="Is the name s or u with a number? Then it is a dynamic size.",
        fixes=(
            fix("Give each input its own Dim, or replace a derived Dim by an independent one"),
            fix("Upgrade torch"),
        ),
        guide="guides/dynamic-shapes.md#derived-and-shared-dims",
        next_tool="minify",
        references=("pytorch/pytorch#145500", "pytorch/pytorch#184624"),
        matches=(
            quoted("error: 's1' was not declared in this scope", "pytorch/pytorch#145500"),
            quoted("error: use of undeclared identifier 's77'", "pytorch/pytorch#184624"),
            recorded(
                "u.cpp:3:62: error: ‘u1’ was not declared in this scope; did you mean ‘u0’?",
                "g++ 12 on a file of ours",
            ),
        ),
        neighbours=(
            quoted("error: 'int_array_6' was not declared in this scope", "another failure"),
            quoted("error: use of undeclared identifier 'stream0'", "another failure"),
        ),
    ),
    Signature(
        id="negative_size_while_tuning",
        family="B",
        phase="autotune",
        category="autotune_error",
        weight=76,
        anchors=("Storage size calculation overflowed with sizes=[",),
        patterns=(
            (
                "Storage size calculation overflowed with "
                r"sizes=\[(?P<sizes>[^\]]{0,80}-\d[^\]]{0,80})\]"
            ),
        ),
        summary="A tensor of sizes [{sizes}] was to be allocated: a size is negative",
        means=(
            "Inductor guesses sizes that come from data independently, so a difference of two can "
            "be negative in the tuning block (or at run time, from a wrong assertion)."
        ),
        mistaken_for="Out of memory or an illegal access in your kernel.",
        fixes=(
            fix("Bound the data-dependent size with torch._check(u0 <= x.shape[0]) before export"),
            fix("Upgrade torch"),
        ),
        guide="guides/dynamic-shapes.md#negative-sizes-while-tuning",
        references=("pytorch/pytorch#190589",),
        matches=(
            quoted(
                "RuntimeError: Storage size calculation overflowed with sizes=[-1008, 64] and "
                "strides=[64, 1]",
                "pytorch/pytorch#190589",
            ),
        ),
        neighbours=(
            quoted(
                "RuntimeError: Storage size calculation overflowed with "
                "sizes=[9223372036854775807]",
                "another failure",
            ),
        ),
    ),
    Signature(
        id="runtime_assert",
        family="B",
        phase="run",
        category="contract_guard",
        weight=84,
        anchors=(" but received ", "Runtime assertion failed for expression "),
        patterns=(
            (
                r"Expected (?P<condition>.{0,80}\b[suz]\d+\b.{0,80} but received (?:-?\d+|True"
                "|False|[0-9.eE+-]+))"
            ),
            "Runtime assertion failed for expression (?P<condition>.{1,200} on node '[^']{1,80}')",
        ),
        summary="A size taken from the inputs breaks an assertion of the model: {condition}",
        means=(
            "torch.export recorded this condition (from torch._check or from how the size is "
            "used) and the package checks it. A lower bound of 2 often only comes from the "
            "exporter's assumption that sizes are not 0 or 1."
        ),
        mistaken_for=(
            "A wrong kernel; with a bound of 2 and size 0 or 1 the input is often legitimate."
        ),
        check="Run ep.module() on the same input: it names the graph node.",
        fixes=(
            fix(
                "Keep the data in the range, or state the real one with torch._check(u >= 0) "
                "before export"
            ),
            fix("For sizes of 0 and 1, pad to two elements or branch outside the model"),
        ),
        guide="guides/dynamic-shapes.md#runtime-asserts",
        next_tool="triage",
        references=("pytorch/pytorch#150539", "pytorch/pytorch#146462"),
        matches=(
            recorded("RuntimeError: Expected u0 <= 6 but received 10", "torch 2.13.0, CPU"),
            recorded("RuntimeError: Expected u1 >= 2 but received 1", "torch 2.13.0, CPU"),
            quoted("Expected u0 < s17 but received 4", "pytorch/pytorch#150539"),
            recorded(
                "RuntimeError: Runtime assertion failed for expression u0 < s10 on node 'lt_1'",
                "torch 2.13.0, CPU",
            ),
        ),
        neighbours=(
            quoted("Expected 2 arguments but received 3", "an ordinary API"),
            quoted("ValueError: Expected target size [4, 10], got [4, 12]", "another failure"),
        ),
    ),
)
