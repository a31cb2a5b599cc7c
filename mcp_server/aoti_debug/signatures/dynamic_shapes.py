"""Sizes that vary: constraints of export, size symbols, asserts at run time."""

from __future__ import annotations

from aoti_debug.facts.tiers import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="export_constraints_violated",
        phase="export",
        category="lowering_error",
        role="envelope",
        tier=Tier.KIND_TEXT,
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
                (
                    "torch._dynamo.exc.UserError: Constraints violated (b)! For more information, "
                    'run with TORCH_LOGS="+dynamic".'
                ),
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="export_data_dependent",
        phase="export",
        category="lowering_error",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            "(?P<expression>guard_size_oblivious would fix the error)",
            r"Could not guard on data-dependent expression (?P<expression>.{1,120}?) \(unhinted",
            (
                "Could not extract specialized integer from data-dependent expression "
                r"(?P<expression>.{1,120}?) \(unhinted"
            ),
            "Could not guard on data-dependent expression (?P<expression>.{1,120})",
            (
                "Could not extract specialized integer from data-dependent expression "
                "(?P<expression>.{1,120})"
            ),
        ),
        summary="The model branches on a value known only at run time: {expression}",
        means=(
            "A size or bool comes from data (item(), nonzero(), a mask), so tracing cannot decide "
            "the branch."
        ),
        fixes=(
            fix(
                (
                    "State what is always true before it: torch._check(u >= 2), or use "
                    "guard_or_false / torch.cond"
                ),
            ),
            fix("Or move the data-dependent part out of the model"),
        ),
        guide="guides/dynamic-shapes.md#data-dependent-sizes",
        matches=(
            words(
                "torch/fx/experimental/symbolic_shapes.py",
                "ATTENTION: guard_size_oblivious would fix the error, evaluating expression to False.",
            ),
            recorded(
                (
                    "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: Could not "
                    "guard on data-dependent expression Eq(u0, 1) (unhinted:"
                ),
                "torch 2.13.0, CPU",
            ),
            quoted(
                (
                    "GuardOnDataDependentSymNode: Could not extract specialized integer from "
                    "data-dependent expression u0 (unhinted: u0)"
                ),
                "words of symbolic_shapes.py",
            ),
        ),
    ),
    Signature(
        id="export_dynamic_shapes_wrong",
        phase="export",
        category="lowering_error",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "(?P<what>mismatch between the structure of `[^`]{1,60}` and `dynamic_shapes`)",
            (
                "(?P<what>When `dynamic_shapes` is specified as a dict, its top-level keys must be "
                "the arg names)"
            ),
            "(?P<what>Expected dynamic shape spec.{1,200}at `dynamic_shapes)",
            "(?P<what>Unexpected input tensor shape.{1,200}at `dynamic_shapes)",
            "(?P<what>Unexpected dimension.{1,200}at `dynamic_shapes)",
            "(?P<what>Cannot associate shape.{1,200}at `dynamic_shapes)",
            r"(?P<what>`spec\['dynamic_shapes'\]`)",
            "(?P<what>Unable to specify input integers as dynamic through named Dims)",
            "(?P<what>Found different definitions .{1,160} for the same symbolic dimension)",
            "(?P<what>Must provide a tree_name when there might be a mismatch)",
            "(?P<what>Cannot be a mismatch if there is no dynamic_shapes)",
            "(?P<what>expected dynamic_shape to be None, int, or _DimHint for _IntWrapper)",
            "(?P<what>Some tensors that were assigned shapes were not found in args)",
            "(?P<what>Shapes assigned to input do not match)",
            "(?P<what>differing types, so they cannot be marked as dynamic)",
            "(?P<what>Only increasing linear operations with integer coefficients are supported)",
            "(?P<what>Cannot create Dim with inconsistent min=)",
            "(?P<what>Dim name must be a valid identifier)",
            "(?P<what>Expected derived (?:min|max) value of .{1,80} to be [<>]=)",
        ),
        summary="dynamic_shapes does not fit the example inputs: {what}",
        means=(
            "dynamic_shapes mirrors the structure and the names of the inputs: one entry for each "
            "tensor, with as many dimensions, None for what is no tensor."
        ),
        check="torch.export.export without dynamic_shapes passes",
        fixes=(
            fix(
                (
                    "Mirror the inputs: args=(x,), dynamic_shapes={{'x': {{0: Dim('b', min=1, "
                    "max=64)}}}}"
                ),
            ),
            fix("Let torch write it: torch.export.ShapesCollection or AdditionalInputs"),
        ),
        guide="guides/lowering-and-cpp.md#calling-the-api-wrongly",
        matches=(
            recorded(
                (
                    "torch._dynamo.exc.UserError: Detected mismatch between the structure of "
                    "`inputs` and `dynamic_shapes`: `inputs` has 2 elements, but `dynamic_shapes` "
                    "has 1 elements"
                ),
                "torch 2.13.0, CPU",
            ),
            recorded(
                (
                    "torch._dynamo.exc.UserError: When `dynamic_shapes` is specified as a dict, "
                    "its top-level keys must be the arg names"
                ),
                "torch 2.13.0, CPU",
            ),
            recorded(
                (
                    "torch._dynamo.exc.UserError: Expected dynamic shape spec (Dim('a', min=0),) "
                    "specified at `dynamic_shapes['x']` to have the same length as the actual "
                    "tensor shape torch.Size([4, 4]) (expected 2, but got 1 instead)"
                ),
                "torch 2.13.0, CPU",
            ),
            recorded(
                (
                    "torch._dynamo.exc.UserError: Unexpected dimension mapped to index 0 in input "
                    "tensor shape {0: 'a'} specified at `dynamic_shapes['x']` (expected None, an "
                    "int, a Dim, Dim.AUTO, Dim.STATIC, or Dim.DYNAMIC,  but got 'a' instead)"
                ),
                "torch 2.13.0, CPU",
            ),
            recorded(
                (
                    "ValueError: Unable to specify input integers as dynamic through named Dims. "
                    "Please use Dim.AUTO/DYNAMIC instead."
                ),
                "torch 2.13.0, CPU",
            ),
            recorded(
                (
                    "torch._dynamo.exc.UserError: Found different definitions Dim('a', min=0, "
                    "max=9) and Dim('a', min=0, max=10) for the same symbolic dimension Dim('a', "
                    "min=0, max=10)!"
                ),
                "torch 2.13.0, CPU",
            ),
            quoted(
                (
                    "NotImplementedError: Attempted to add 0.5 to a, where an integer was "
                    "expected. (Only increasing linear operations with integer coefficients are "
                    "supported.)"
                ),
                "words of torch/export/dynamic_shapes.py",
            ),
            words(
                "torch/export/dynamic_shapes.py",
                "Unexpected input tensor shapexat `dynamic_shapes",
                "Cannot associate shapexat `dynamic_shapes",
                "Must provide a tree_name when there might be a mismatch",
                "Cannot be a mismatch if there is no dynamic_shapes",
                "expected dynamic_shape to be None, int, or _DimHint for _IntWrapper",
                "Some tensors that were assigned shapes were not found in args",
                "Shapes assigned to input do not match",
                "differing types, so they cannot be marked as dynamic",
                "Cannot create Dim with inconsistent min=",
                "Dim name must be a valid identifier",
            ),
            words(
                "torch/_export/serde/dynamic_shapes.py",
                "`spec['dynamic_shapes']`",
                "Expected derived min value of x to be <=",
            ),
        ),
        apart_from=("export_example_outside_dims",),
    ),
    Signature(
        id="export_example_outside_dims",
        phase="export",
        category="lowering_error",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"(?:ConstraintViolationError|UserError): (?P<what>-?\d{1,20} not in range "
                r"\[[^\]]{1,60}\])"
            ),
            (
                r"(?:ConstraintViolationError|UserError): (?P<what>Expected shape\[\d{1,20}\] = "
                r"\d{1,20} of input \S{0,40} ?to be of the form [^,]{1,60})"
            ),
            (
                r"(?:ConstraintViolationError|UserError): (?P<what>L\[.{1,80} = \d{1,20} is not "
                r"equal to L\[.{1,80})"
            ),
            (
                r"(?:ConstraintViolationError|UserError): (?P<what>Expected input L\[.{1,120} to "
                r"be equal to [^,]{1,60}, where .{1,60}, but got \d{1,20})"
            ),
            "(?:ConstraintViolationError|UserError): (?P<what>Static shape constraint of .{1,160})",
            r"(?P<what>ValueRangeError: Invalid value -?\d{1,20} for range \[.{1,60})",
            "(?P<what>The following inconsistencies were found)",
        ),
        summary="The example inputs of torch.export do not lie in the Dims given for them: {what}",
        means=(
            "Sizes that share a Dim must be equal in the examples too, a derived Dim must come out "
            "even, and each size must lie in the range of its Dim."
        ),
        fixes=(
            fix("Choose examples that satisfy the Dims, or widen min and max"),
            fix("Give sizes that differ a Dim each"),
        ),
        guide="guides/dynamic-shapes.md#constraint-violations",
        matches=(
            recorded(
                (
                    "torch.fx.experimental.symbolic_shapes.ConstraintViolationError: 8 not in "
                    "range [2, 4]"
                ),
                "torch 2.13.0, CPU",
            ),
            recorded(
                (
                    "torch._dynamo.exc.UserError: Expected shape[0] = 9 of input Tensor to be of "
                    "the form 2*k, where k is an integer"
                ),
                "torch 2.13.0, CPU",
            ),
            recorded(
                (
                    "torch._dynamo.exc.UserError: L['y'].size()[0] = 5 is not equal to "
                    "L['x'].size()[0] = 4"
                ),
                "torch 2.13.0, CPU",
            ),
            recorded(
                (
                    "torch._dynamo.exc.UserError: Expected input L['y'].size()[0] to be equal to "
                    "2*a, where a = 4, but got 6"
                ),
                "torch 2.13.0, CPU",
            ),
            quoted(
                (
                    "torch.fx.experimental.symbolic_shapes.ValueRangeError: Invalid value 9 for "
                    "range [2:5]"
                ),
                "words of symbolic_shapes.py",
            ),
            words(
                "programs that were not at hand",
                "ConstraintViolationError: Static shape constraint of x",
            ),
            words(
                "torch/fx/experimental/symbolic_shapes.py",
                "The following inconsistencies were found",
            ),
        ),
        apart_from=(
            "guard_failed",
            "exported_size_guard",
        ),
    ),
    Signature(
        id="export_guard_unsatisfied",
        phase="export",
        category="lowering_error",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "Not all values of (?P<dim>.{1,200}?) (?P<guard>satisfy the generated guard .{1,160})",
            "(?P<guard>(?P<dim>The following dimensions) have been specialized and CANNOT be dynamic)",
            (
                "Not all values of (?P<dim>.{1,80}?) = .{1,80}? in the specified range "
                "(?P<guard>satisfy the generated guard .{1,160})"
            ),
            (
                "Not all values of (?P<dim>.{1,80}?) = .{1,80}? in the specified range "
                "(?P<guard>are valid because .{1,160})"
            ),
            (
                r"The values of (?P<dim>.{1,80}?) = .{1,120}? (?P<guard>and \S{1,60} = L\[.{1,80}"
                "must always be (?:equal|related to .{1,160}))"
            ),
            (
                "The values of (?P<dim>.{1,80}?) = .{1,120}? (?P<guard>must always be (?:equal|"
                "related to .{1,160}))"
            ),
        ),
        summary="The model only works for some sizes of {dim}: {guard}",
        means=(
            "The traced code needs more of the size than the Dim promises, such as divisibility or "
            "a larger minimum."
        ),
        fixes=(
            fix("Take the Dim of `Suggested fixes` (2*_b for an even size, min=5 for a minimum)"),
            fix("Give sizes that must be equal one Dim together, or remove the code that needs it"),
        ),
        guide="guides/dynamic-shapes.md#constraint-violations",
        matches=(
            words(
                "torch/fx/experimental/symbolic_shapes.py",
                "Not all values of n satisfy the generated guard 10 <= n",
                "The following dimensions have been specialized and CANNOT be dynamic.",
            ),
            recorded(
                (
                    "  - The values of b = L['y'].size()[0] and a = L['x'].size()[0] must always "
                    "be equal."
                ),
                "torch 2.13.0, CPU",
            ),
            recorded(
                (
                    "  - Not all values of b = L['a'][0].size()[0] in the specified range satisfy "
                    "the generated guard 5 <= L['a'][0].size()[0] and L['a'][0].size()[0] <= "
                    "IntInfinity()"
                ),
                "torch 2.13.0, CPU",
            ),
            words(
                "programs that were not at hand",
                "Not all values of x = x in the specified range are valid because x",
            ),
        ),
        apart_from=("export_constraints_violated",),
    ),
    Signature(
        id="export_needs_a_value",
        phase="export",
        category="lowering_error",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            r"(?P<what>(?:DataDependentOutput|DynamicOutputShape)Exception: \S{1,120})",
            r"(?P<what>Unsupported: Data-dependent branching(?! \(no meta))",
            r"(?P<what>Unsupported: Data-dependent assertion failed(?! \(no meta))",
            r"(?P<what>Unsupported: Data dependent operator(?! \(no meta))",
            r"(?P<what>Unsupported: Dynamic shape operator(?! \(no meta))",
            "(?P<what>GuardOnDataDependentSymNode: .{1,160})",
            r"(?P<what>data dependent operator: \S{1,120})",
            r"(?P<what>dynamic shape operator: \S{1,120})",
            r"(?P<what>aten[:.]{1,2}_local_scalar_dense\S{0,20}: attempted)",
            (
                "(?P<what>'aten::_local_scalar_dense' with arguments from the '(?:Meta|FakeTensor)"
                "' backend)"
            ),
            r"(?P<what>\w{1,200}\.item\(\) cannot be called on meta tensors)",
            "(?P<what>local_scalar_dense/item NYI)",
            r"UserError: (?P<what>Consider annotating your code using torch\._check\*\(\).{0,160})",
        ),
        summary="Tracing needs a number that is known only at run time: {what}",
        means=(
            "item(), int(), a Python branch, torch.equal or nonzero ask a tensor for its data, and "
            "while exporting tensors have none."
        ),
        check="The operator that is named belongs to ATen",
        fixes=(
            fix("Replace the branch by torch.where or torch.cond"),
            fix("Compute the number outside the model and pass it in"),
        ),
        guide="guides/dynamic-shapes.md#data-dependent-sizes",
        matches=(
            recorded(
                "torch._subclasses.fake_tensor.DataDependentOutputException: aten.equal.default",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch._dynamo.exc.Unsupported: Data-dependent branching",
                "torch 2.13.0, CPU, strict=True",
            ),
            recorded(
                (
                    "torch._dynamo.exc.UserError: Consider annotating your code using "
                    "torch._check*(). Could not guard on data-dependent expression u0 > 3 "
                    "(unhinted: u0 > 3)."
                ),
                "torch 2.13.0, CPU, strict=True",
            ),
            quoted("RuntimeError: Tensor.item() cannot be called on meta tensors", "words of ATen"),
            words(
                "programs that were not at hand",
                "Unsupported: Data-dependent assertion failed",
                "Unsupported: Data dependent operator",
                "Unsupported: Dynamic shape operator",
                "data dependent operator: x",
                "dynamic shape operator: x",
                "'aten::_local_scalar_dense' with arguments from the 'Meta' backend",
            ),
            words("torch/fx/experimental/_size_hinting.py", "GuardOnDataDependentSymNode: x"),
            words("torch/_meta_registrations.py", "aten._local_scalar_dense: attempted"),
            words("torch/_subclasses/fake_impls.py", "local_scalar_dense/item NYI"),
        ),
        neighbours=(
            quoted("torch._dynamo.exc.Unsupported: Dynamic shape operator (no meta kernel)"),
        ),
        apart_from=("custom_op_no_fake",),
    ),
    Signature(
        id="export_specialised",
        phase="export",
        category="lowering_error",
        tier=Tier.NAMED_TEXT,
        patterns=(
            (
                "You marked (?P<dim>.{1,120}) as dynamic but your code specialized it to be a "
                r"constant \((?P<value>\d{1,20})\)"
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
        matches=(
            recorded(
                "  - You marked b as dynamic but your code specialized it to be a constant (1).",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("export_guard_unsatisfied",),
    ),
    Signature(
        id="exported_size_guard",
        phase="run",
        category="contract_shape",
        tier=Tier.NAMED_TEXT,
        patterns=(
            (
                r"Guard failed: (?P<guard>[^\s%+*/()-]{1,120}\.size\(\)\[\d{1,20}\] (?:==|<=|>=|<|"
                r">) \d{1,20})$"
            ),
            (
                r"Guard failed: (?P<guard>\d{1,20} (?:==|<=|>=|<|>) [^\s%+*/()-]{1,120}"
                r"\.size\(\)\[\d{1,20}\])$"
            ),
            r"Input (?P<guard>\S{1,80}\.shape\[\d{1,20}\] is specialized at \d{1,20})",
            (
                r"Input (?P<guard>\S{1,80}\.shape\[\d{1,20}\] is outside of specified dynamic "
                r"range \[[^\]]{1,60}\])"
            ),
        ),
        summary="The exported program takes another size: {guard}",
        means=(
            "The dimension is static in the export, or this size lies outside its Dim. The package "
            "does not check it and would read memory by the exported size."
        ),
        check="Look at the dynamic_shapes given to torch.export.",
        fixes=(
            fix("Pad or crop the input to the exported size"),
            fix("Or export with that dimension dynamic, over the range that you serve"),
        ),
        guide="guides/input-contracts.md#sizes-and-rank",
        next_tool="inspect_package",
        matches=(
            recorded("AssertionError: Guard failed: x.size()[1] == 4", "torch 2.13.0, CPU"),
            recorded("AssertionError: Guard failed: x.size()[0] <= 16", "torch 2.13.0, CPU"),
            quoted(
                "RuntimeError: Input arg0_1.shape[1] is outside of specified dynamic range [4, 18]",
                "tutorial of torch 2.1",
            ),
            words("torch/export/_unlift.py", "Guard failed: 1 == x.size()[1]"),
            words("programs that were not at hand", "Input x.shape[1] is specialized at 1"),
        ),
        neighbours=(
            recorded("AssertionError: Guard failed: a_1.size()[0] == a_0.size()[0]"),
            recorded("AssertionError: Guard failed: 10 * a_0.size()[0] % 4 == 0"),
            recorded("AssertionError: Guard failed: k == 3"),
            quoted(
                (
                    "RuntimeError: Expected input *args[0].shape[0] = 9 to be of the form 2*s0, "
                    "where s0 is an integer"
                ),
                "words of torch/_export/utils.py",
            ),
        ),
        apart_from=("constant_argument_changed",),
    ),
    Signature(
        id="negative_size_while_tuning",
        phase="autotune",
        category="autotune_error",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"Storage size calculation overflowed with sizes=\[(?P<sizes>[^\]]{0,80}"
                r"-\d[^\]]{0,80})\]"
            ),
        ),
        summary="A tensor of sizes [{sizes}] was to be allocated: a size is negative",
        means=(
            "Inductor guesses sizes that come from data independently, so a difference of two can "
            "be negative in the tuning block (or at run time, from a wrong assertion)."
        ),
        fixes=(
            fix("Bound the data-dependent size with torch._check(u0 <= x.shape[0]) before export"),
            fix("Upgrade torch"),
        ),
        guide="guides/dynamic-shapes.md#negative-sizes-while-tuning",
        matches=(
            quoted(
                (
                    "RuntimeError: Storage size calculation overflowed with sizes=[-1008, 64] and "
                    "strides=[64, 1]"
                ),
                "pytorch/pytorch#190589",
            ),
        ),
        neighbours=(
            quoted(
                (
                    "RuntimeError: Storage size calculation overflowed with "
                    "sizes=[9223372036854775807]"
                ),
                "another failure",
            ),
        ),
    ),
    Signature(
        id="runtime_assert",
        phase="run",
        category="contract_guard",
        tier=Tier.NAMED_TEXT,
        patterns=(
            (
                r"Expected (?P<condition>.{0,80}\b[suz]\d{1,20}\b.{0,80} but received (?:-?\d{1,20}"
                "|True|False|[0-9.eE+-]{1,200}))"
            ),
            "Runtime assertion failed for expression (?P<condition>.{1,200} on node '[^']{1,80}')",
            r"Invalid value range for (?P<condition>-?\d{1,20} between \[-?\d{1,20}, -?\d{1,20}\])",
        ),
        summary="A size taken from the inputs breaks an assertion of the model: {condition}",
        means=(
            "torch.export recorded this condition (from torch._check or from how the size is used) "
            "and the package checks it. A lower bound of 2 often only comes from the exporter's "
            "assumption that sizes are not 0 or 1."
        ),
        check="Run ep.module() on the same input: it names the graph node.",
        fixes=(
            fix(
                (
                    "Keep the data in the range, or change the torch._check or the slice that "
                    "states it"
                ),
            ),
            fix(
                (
                    "A bound of 2: export under torch.fx.experimental._config.patch("
                    "backed_size_oblivious=True), or compile with TORCHINDUCTOR_SCALAR_ASSERTS=0; "
                    "torch._check(u >= 0) does not lower it"
                ),
            ),
        ),
        guide="guides/dynamic-shapes.md#runtime-asserts",
        next_tool="triage",
        matches=(
            recorded("RuntimeError: Expected u0 <= 6 but received 10", "torch 2.13.0, CPU"),
            recorded("RuntimeError: Expected u1 >= 2 but received 1", "torch 2.13.0, CPU"),
            quoted("Expected u0 < s17 but received 4", "pytorch/pytorch#150539"),
            recorded(
                "RuntimeError: Runtime assertion failed for expression u0 < s10 on node 'lt_1'",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: Invalid value range for 9 between [2, 5].",
                "torch 2.13.0, CPU, aten.sym_constrain_range",
            ),
        ),
        neighbours=(
            quoted("Expected 2 arguments but received 3", "an ordinary API"),
            quoted("ValueError: Expected target size [4, 10], got [4, 12]", "another failure"),
        ),
    ),
    Signature(
        id="unbacked_symbol_lost",
        phase="lower",
        category="lowering_error",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            r"(?P<what>Pending unbacked symbols \{[^}]{1,120}\} not in returned outputs)",
            "AttributeError: (?P<what>'(?:float|int|bool)' object has no attribute 'node')",
            r"AssertionError: (?P<what>Eq\(.{1,160}\) is not solvable)",
            r"^(?P<what>Eq\(.{1,160}\) is not solvable)",
        ),
        summary="Inductor lost track of a size symbol: {what}",
        means=(
            "A size that comes from data or from a formula cannot be tied to a tensor: item() "
            "evaluated to a number, a fake kernel that does not return its new size, or a "
            "dimension that is a formula only."
        ),
        fixes=(
            fix(
                (
                    "Remove .item() from the model, or state the size with torch._check and use it "
                    "in an output"
                ),
            ),
            fix("In a fake kernel take sizes from torch.library.get_ctx().new_dynamic_size()"),
            fix("Give the basic size a dimension of its own; upgrade torch"),
        ),
        guide="guides/dynamic-shapes.md#data-dependent-sizes",
        matches=(
            quoted(
                (
                    "torch.fx.experimental.symbolic_shapes.PendingUnbackedSymbolNotFound: Pending "
                    "unbacked symbols {u1} not in returned outputs"
                ),
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
            words("programs that were not at hand", "Eq(x) is not solvable"),
        ),
        apart_from=("api_misuse",),
    ),
    Signature(
        id="undeclared_size_symbol",
        phase="cpp_compile",
        category="cpp_error",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            r"error: ['‘](?P<symbol>[suz]\d{1,20})['’] was not declared in this scope",
            r"error: use of undeclared identifier '(?P<symbol>[suz]\d{1,20})'",
        ),
        summary="The generated C++ uses the size symbol {symbol} without defining it",
        means=(
            "Inductor lost the definition of a dynamic size: derived Dims (2*s1), inputs that "
            "share one Dim, or a deferred assertion that still names a merged symbol."
        ),
        check="Is the name s or u with a number? Then it is a dynamic size.",
        fixes=(
            fix("Give each input its own Dim, or replace a derived Dim by an independent one"),
            fix("Upgrade torch"),
        ),
        guide="guides/dynamic-shapes.md#derived-and-shared-dims",
        next_tool="minify",
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
)
