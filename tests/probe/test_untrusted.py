"""An exported program of somebody else's is loaded without a pickle, and no text in it is run."""

from __future__ import annotations

import json
from typing import Any

import pytest
from probe.conftest import printed

# With trust torch itself loads the file, which tells that it is what it is meant to be.
MAKE = """
import argparse, io, json, os, pickle, zipfile

import torch
from probe import mismatch_causes, standalone, untrusted

RAN = os.path.abspath("ran")


class Evil:
    def __reduce__(self):
        return (exec, (f"open({RAN!r}, 'w').close()",))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(8, 4)
        self.tied = torch.nn.Linear(8, 4)
        self.tied.weight = self.out.weight
        self.register_buffer("part", torch.arange(12.0)[3:7])
        self.constant = torch.arange(4) * 1.0

    def forward(self, x):
        with torch.no_grad():
            y = self.tied(x)
        return self.out(x) * self.part + self.constant + y + x.shape[0] // 2


def written(change):
    with zipfile.ZipFile("plain.pt2") as old, zipfile.ZipFile("changed.pt2", "w") as new:
        records = {one.filename.partition("/")[2]: old.read(one) for one in old.infolist()}
        change(records)
        for name, content in records.items():
            new.writestr("changed/" + name, content)
    return "changed.pt2"


def config(kind, records):
    name = next(n for n in records if n.startswith(f"data/{kind}/") and n.endswith("config.json"))
    return name, json.loads(records[name])


def stored_as(kind, path, content):
    def change(records):
        name, document = config(kind, records)
        key = next(iter(document["config"]))
        document["config"][key].update(path_name=path, use_pickle=True)
        records[name] = json.dumps(document).encode()
        records[f"data/{kind}/{path}"] = content

    return change


def saved(value):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


def put(name, content):
    return lambda records: records.update({f"data/{name}": content})


def in_model(edit, *given):
    def change(records):
        document = json.loads(records["models/model.json"])
        edit(document, *given)
        records["models/model.json"] = json.dumps(document).encode()

    return change


def guard(document):
    code = "open(chr(114) + chr(97) + chr(110), chr(119))"  # RAN; torch quotes a guard by "
    document["guards_code"] = [f"max([{code!r}], key=exec)"]


def operator(document):
    node = document["graph_module"]["graph"]["nodes"][0]
    document["verifiers"] = []
    run = {"name": "", "arg": {"as_string": f"touch {RAN}"}, "kind": 1}
    node.update(target="torch.os.system", inputs=[run])


def argument(document):
    nodes = document["graph_module"]["graph"]["nodes"]
    values = document["graph_module"]["graph"]["tensor_values"]
    values["called"] = next(iter(values.values()))
    given = {"as_operator": "torch.os.system"}, {"as_string": f"touch {RAN}"}
    inputs = [{"name": "", "arg": one, "kind": 1} for one in given]
    called = {**nodes[0], "name": "called", "target": "torch.ops.higher_order.wrap"}
    outputs = [{"as_tensor": {"name": "called"}}]
    more = {"inputs": inputs, "outputs": outputs, "is_hop_single_tensor_return": True}
    nodes.insert(1, {**called, **more})


evil = saved(Evil())
sample = put("sample_inputs/model.pt", evil)
shapes = ({0: torch.export.Dim("n", min=2, max=64)},)
x = torch.randn(4, 8)
program = torch.export.export(Model(), (x,), dynamic_shapes=shapes)
torch.export.save(program, "plain.pt2")
CHANGES = {
    "weight": stored_as("weights", "weight_evil", evil),
    "weight of tensors": stored_as("weights", "weight_evil", saved(torch.ones(4, 8))),
    "constant": stored_as("constants", "tensor_evil", evil),
    "opaque object": stored_as("constants", "opaque_obj_0", pickle.dumps(Evil())),
    "object of C++": stored_as("constants", "custom_obj_0", evil),
    "weights of 2.8": put("weights/model.pt", evil),
    "guard": in_model(guard),
    "operator": in_model(operator),
    "argument": in_model(argument),
    "compiled code": put("aotinductor/model/x.so", b"no library"),
    "example": sample,
    "plain weights of 2.8": put("weights/model.pt", saved(dict(program.state_dict))),
    "plain": lambda records: None,
}


def evaluated(text):
    return f"exec({f'open({RAN!r}, chr(119))'!r})"


def commented(text):
    # To Python's parser the code is in a comment; once the line end is gone it is not.
    quotes = "'" * 2
    return f"({quotes}\\n{quotes} #{quotes}' and 0 or {evaluated(text)} or {text}\\n)"


def sizes(value, written):
    if isinstance(value, dict):
        if "expr_str" in value:
            value["expr_str"] = written(value["expr_str"])
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            sizes(one, written)


def quoted(document):
    code = str([*f"open({RAN!r}, 'w')".encode()]).replace(" ", "")
    document["guards_code"] = ["'" + '"+str(exec(bytes(' + code + ')))+"' + "' != 1"]


CHANGES["size"] = in_model(sizes, evaluated)
CHANGES["comment"] = in_model(sizes, commented)
CHANGES["quotes"] = in_model(quoted)


def imports(document):
    signature = document["graph_module"]["module_call_graph"][0]["signature"]
    protocol, tree = json.loads(signature["in_spec"])
    named = {"default_factory_module": "beside", "default_factory_name": "made"}
    keys = tree["children_spec"][1]
    keys.update(type="collections.defaultdict", context={**named, "dict_context": []})
    signature["in_spec"] = json.dumps([protocol, tree])


with open("beside.py", "w") as beside:
    beside.write(f"made = open({RAN!r}, 'w').close")
CHANGES["import"] = in_model(imports)


def outcome(load, path):
    if os.path.exists(RAN):
        os.remove(RAN)
    try:
        loaded = load(path)
        found = {"same": torch.equal(loaded.module()(x), program.module()(x)),
                 "example": loaded.example_inputs is not None}
    except BaseException as error:
        found = {"error": type(error).__name__, "message": str(error)}
    return {**found, "ran": os.path.exists(RAN)}


found = {}
for name, change in CHANGES.items():
    path = written(change)
    ours = outcome(lambda path: untrusted.load(path), path)
    found[name] = ours, outcome(lambda path: untrusted.load(path, trust=True), path)

path = written(sample)
options = argparse.Namespace(constants=["weights.pt"], exported=path, trust=False)
right = [program.module()(x)]
causes = mismatch_causes.Causes(program, options, lambda: standalone.of_call((x,), {}), right)
compared = outcome(lambda path: causes.kept_weights() or program, path)
found["weights at the compile"] = compared, None

graph = torch.fx.Graph()
graph.output(graph.call_function(torch.ops.aten.from_file.default, ("victim", True, 8)))
found["file"] = outcome(untrusted._no_files, torch.fx.GraphModule({}, graph)), None
print(json.dumps(found))
"""


Cases = dict[str, list[dict[str, Any]]]  # what came of it without trust and with trust


@pytest.fixture(scope="module")
def cases(warm_python: str, tmp_path_factory: pytest.TempPathFactory) -> Cases:
    """Load every file, with trust and without; say what came of it, by the change made to it."""
    found: Cases = json.loads(printed(tmp_path_factory.mktemp("untrusted"), MAKE, warm_python))
    return found


PICKLES = ["weight", "constant", "opaque object", "weights of 2.8"]


@pytest.mark.parametrize("name", [*PICKLES, "guard", "size", "comment", "quotes", "import"])
def test_pickles_and_code_run_only_where_the_file_is_trusted(cases: Cases, name: str) -> None:
    ours, trusted = cases[name]
    assert trusted["ran"] and not ours["ran"]
    assert ours["error"] == "NeedsTrust"
    assert name not in PICKLES or "--trust" in ours["message"]


def test_an_operator_that_opens_a_file_is_refused(cases: Cases) -> None:
    assert "opens a file" in cases["file"][0]["message"]


def test_a_function_that_is_no_operator_is_not_called(cases: Cases) -> None:
    for name in ("operator", "argument"):
        assert "no operator" in cases[name][0]["message"] and not cases[name][0]["ran"]


@pytest.mark.parametrize("name", ["weight of tensors", "object of C++", "compiled code"])
def test_what_is_no_plain_weight_is_refused(cases: Cases, name: str) -> None:
    assert cases[name][0]["error"] == "NeedsTrust"


@pytest.mark.parametrize("name", ["plain", "plain weights of 2.8", "weights at the compile"])
def test_a_plain_program_is_loaded_as_it_was(cases: Cases, name: str) -> None:
    assert cases[name][0] == {"same": True, "example": True, "ran": False}


def test_an_example_that_is_a_pickle_is_left_out(cases: Cases) -> None:
    ours, trusted = cases["example"]
    assert trusted["ran"]
    assert ours == {"same": True, "example": False, "ran": False}
