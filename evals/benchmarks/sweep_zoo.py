"""Hold the buckets of a sweep against the causes that were planted.

    sweep_zoo.py OUT --python PYTHON [--targets 300] [--jobs 2] [--limit SECONDS] [--results DIR]

A few of the zoo's cheapest architectures are compiled once, side by side; the targets are scripts
that load such a package and call it, healthy or with one of twelve causes. What was run within the
limit is scored: the adjusted Rand index of buckets against causes, healthy ones as a cause of
their own. Where the sweep in DIR was cut off, the same command goes on with it.

Up to torch 2.12 a load on a CPU with AMX compiles tests of vector instructions and starts a Python
that imports torch for each, one load after another under one lock. Here the compiler refuses these
tests, none is in the cache, and kernels are of AVX2.
"""

from __future__ import annotations

import itertools
import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from command import PYTHON, ZOO, clock, folder_at, options_of, ran, side_by_side, swept

ARCHITECTURES = (
    "two_tower",
    "fourier_operator",
    "lstm_tagger",
    "point_cloud",
    "position_table",
    "mixture_of_experts",
)
PREPARE = """
import sys
zoo, name, out = sys.argv[1:]
sys.path.insert(0, zoo)
import architectures, faults, json, serve, torch
from pathlib import Path
case, package = architectures.CASES[name], Path(out, name + ".pt2")
if not package.with_suffix(".json").exists():
    serve.compile_package(case, package, "cpu")
torch.save(architectures.inputs_of(case, "cpu"), Path(out, name + ".inputs"))
known = dict(case.bounds.items())
found = torch._inductor.aoti_load_package(str(package)).get_constant_fqns()
state = architectures.prepared(case, "cpu")[0].state_dict()
weight = faults.middle_weight(state, list(found)) or next(iter(found), None)
known["*weight"] = weight
first, value = next(iter(case.give().items()))
known["*first"] = first
known["*free"] = value.dim() - 1 in case.dynamic.get(first, {})
if weight is not None:
    torch.save(state[weight], Path(out, name + ".weight"))
Path(out, name + ".known").write_text(json.dumps(known))
"""
NARROW = {"ATEN_CPU_CAPABILITY": "avx2", "TORCHINDUCTOR_VEC_ISA_OK": "1"}
REFUSES = """\
#!/bin/sh
case " $* " in *" -o "*) exit 1;; esac
exec ${REAL_CXX:-g++} "$@"
"""
HEAD = """\
import sys
import torch
package = {package!r}
given = torch.load({inputs!r})
"""
LOAD = "model = torch._inductor.aoti_load_package(package)\n"
CALL = "for number in range({calls}):\n    result = model(**given)\n"
RUN = LOAD + CALL
LAST = """\
name = {last!r}
value = given[name]
"""
CAUSES = {
    "healthy": RUN,
    "shape": LAST + "given[name] = torch.cat([value, value.narrow(-1, 0, 1)], -1)\n" + RUN,
    "dtype": LAST
    + "other = torch.float16 if value.is_floating_point() else torch.int32\n"
    + "given[name] = value.to(other)\n"
    + RUN,
    "index": "given[{bounded!r}].view(-1)[-{calls}] = {bound} + 7\n" + RUN,
    "nan_weight": LOAD
    + "weight = torch.load({weight!r}).clone()\nweight.view(-1)[0] = float('nan')\n"
    + "model.load_constants({{{name!r}: weight}}, check_full_update=False)\n"
    + CALL,
    "unknown_constant": LOAD
    + "model.load_constants({{'no.such.weight': torch.ones(3)}}, check_full_update=True)\n"
    + CALL,
    "truncated": "data = open(package, 'rb').read()\npackage = sys.argv[0] + '.pt2'\n"
    + "open(package, 'wb').write(data[: len(data) * 2 // 3])\n"
    + RUN,
    "no_package": "package = sys.argv[0] + '.not.there.pt2'\n" + RUN,
    "no_module": LOAD + "import tokenizers_of_ours\n" + CALL,
    "zero_division": RUN + "rate = 1 / (number - {calls} + 1)\n",
    "segfault": RUN + "import ctypes\nctypes.string_at(0)\n",
    "memory": RUN + "torch.empty(1 << 50)\n",
    "missing_key": RUN + "print(dict(given)['attention_mask'])\n",
}


def scripts(out: Path, known: dict, count: int) -> Iterator[tuple[str, str]]:
    """Write scripts and yield names and causes: all causes of an architecture, then the next."""
    turns = itertools.cycle(
        (cause, name)
        for name, cause in itertools.product(known, CAUSES)
        if applies(cause, known[name])
    )
    for number, (cause, name) in zip(range(count), turns, strict=False):
        bounds = {n: b for n, b in known[name].items() if not n.startswith("*")}
        bounded = next(iter(bounds), "")
        text = (HEAD + CAUSES[cause]).format(
            package=str(out / f"{name}.pt2"),
            inputs=str(out / f"{name}.inputs"),
            weight=str(out / f"{name}.weight"),
            name=known[name]["*weight"],
            last=known[name]["*first"],
            bounded=bounded,
            bound=bounds.get(bounded),
            calls=1 + number // (len(CAUSES) * len(known)) % 3,
        )
        script = out / f"t{number:04d}_{name}.py"
        script.write_text(text)
        yield script.name, cause


def applies(cause: str, known: dict) -> bool:
    if cause == "index":
        return any(not name.startswith("*") for name in known)
    if cause == "shape":  # a free size takes one more
        return not known["*free"]
    return known["*weight"] is not None if cause == "nan_weight" else True


def adjusted_rand(pairs: Sequence[tuple[str, str]]) -> float:
    """Return the adjusted Rand index of two partitions (Hubert and Arabie, 1985)."""
    both, one, other = (Counter(pairs), Counter(a for a, _ in pairs), Counter(b for _, b in pairs))

    def within(counts: Counter) -> int:
        return sum(math.comb(n, 2) for n in counts.values())

    expected = within(one) * within(other) / max(1, math.comb(len(pairs), 2))
    most = (within(one) + within(other)) / 2
    return (within(both) - expected) / (most - expected) if most > expected else 1.0


def main() -> None:
    options = options_of(
        None,
        python=PYTHON,
        targets=300,
        jobs=2,
        limit=36_000.0,
        prepare=(False, "compile, and no more"),
        results=(Path, "of the sweep; OUT/results"),
    ).parse_args()
    out, took = folder_at(options.out), clock()
    known = prepared(out, options.python, options.jobs)
    compiled = f"{len(known)} of {len(ARCHITECTURES)} architectures compiled"
    print(f"{compiled} in {took():.0f} s", flush=True)
    if options.prepare:
        return
    causes = dict(scripts(out, known, options.targets))
    entries = "".join(f"[[target]]\nscript = '{name}'\n" for name in causes)
    manifest = out / "causes.toml"
    manifest.write_text(
        f"[defaults]\npython = '{options.python}'\ntimeout_s = 900\ngpus = 0\n{entries}"
    )
    results = (options.results or out / "results").absolute()
    how = "--resume" if (results / "sweep.jsonl").exists() else "--out"
    refuses = out / "c++"
    refuses.write_text(REFUSES)
    refuses.chmod(0o755)
    compilers = {"CXX": str(refuses), "REAL_CXX": os.environ.get("CXX", "g++")}
    cache = {"TORCHINDUCTOR_CACHE_DIR": str(out / "cache")}
    env = {**os.environ, **NARROW, **compilers, **cache}
    seconds, _ = swept(manifest, results, options.jobs, options.limit - took(), env, how)
    print(f"swept for {seconds:.0f} s, {options.jobs} at a time")
    score(results / "sweep.jsonl", causes)


def prepared(out: Path, python: str, jobs: int) -> dict:
    """Compile what is not there yet, so many side by side; return what is known of each
    architecture that could be compiled."""
    paths = [out / f"{name}.known" for name in ARCHITECTURES]
    missing = [path.stem for path in paths if not path.exists()]
    tasks = [([python, "-c", PREPARE, str(ZOO), name, str(out)],) for name in missing]
    prepare = partial(ran, env={**os.environ, **NARROW})
    for (words,), done in side_by_side(prepare, tasks, jobs):
        if done.returncode:
            print(f"{words[-2]}: {done.stderr[-600:]}", flush=True)
    return {path.stem: json.loads(path.read_text()) for path in paths if path.exists()}


def score(ledger: Path, causes: dict[str, str]) -> None:
    from aoti_debug.sweep.buckets import Groups, kind_of, signature_of
    from aoti_debug.sweep.row import rows_of

    rows = list(rows_of(ledger))
    groups = Groups(rows)
    pairs: list[tuple[str, str]] = []
    table: Counter[tuple[str, str, str, str]] = Counter()
    for row in rows:
        group = None if row.outcome == "ok" else groups.find(kind_of(row), signature_of(row))
        cause, bucket = causes[f"{row.target}.py"], group.id if group else "good"
        category: str = (group.first.category or "") if group else "no fault"
        pairs.append((cause, bucket))
        table[cause, bucket, category, row.outcome] += 1
    for (cause, bucket, category, outcome), count in sorted(table.items()):
        print(f"{cause:18} {bucket:12} {category:24} {outcome:7} {count:4}")
    print(
        f"{len(rows)} of {len(causes)} targets run, {len(groups)} buckets, "
        f"{len({cause for cause, _ in pairs})} causes with the healthy ones, "
        f"adjusted Rand index {adjusted_rand(pairs):.4f}"
    )


if __name__ == "__main__":
    main()
