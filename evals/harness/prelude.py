"""Functions for every oracle. This text precedes the oracle's own, in the case's interpreter.

An oracle runs in the project after the case's command. Its seed is not known before, and
uninitialized memory holds 0x7F bytes (3.4e38 in float32, NaN in float16). It exits with status 0 if
all is right; `fail` ends it otherwise. It imports torch and the standard library only.
"""

import importlib.util
import os
import sys

import torch

SEED = int(sys.argv[1])
HEALTHY = os.environ["AOTI_EVALS_TWIN"] == "healthy"  # the case without its fault
sys.path.insert(0, os.getcwd())
torch.manual_seed(SEED)


def fail(reason, detail=""):
    """End with a reason, which identifies the failure, and a detail, which does not."""
    print(f"FAIL: {reason}" + (f" | {detail}" if detail else ""), flush=True)
    os._exit(1)


def close(got, want, what="values", rtol=1e-3, atol=1e-4):
    """Fail if two tensors differ in shape, dtype class or value."""
    if not isinstance(got, torch.Tensor):
        fail(f"{what}: no tensor", type(got).__name__)
    if got.shape != want.shape:
        fail(f"{what}: shape", f"{tuple(got.shape)} instead of {tuple(want.shape)}")
    one, other = got.detach().cpu().double(), want.detach().cpu().double()
    if not torch.allclose(one, other, rtol=rtol, atol=atol, equal_nan=True):
        fail(f"{what}: wrong", f"off by {(one - other).abs().max().item():.3g}")


def reference(name):
    """Return a module of the correct project, under another name."""
    path = os.path.join(os.environ["AOTI_EVALS_RIGHT"], f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"right_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Seen:
    calls = 0
    shift = 0.0


def _watched(original):
    def call(self, *args, **kwargs):
        _Seen.calls += 1
        result = original(self, *args, **kwargs)
        if not _Seen.shift:
            return result
        return torch.utils._pytree.tree_map(_moved, result)

    return call


def _moved(leaf):
    if not isinstance(leaf, torch.Tensor):
        return leaf
    if leaf.is_floating_point():
        return 0.25 - leaf * (1 + _Seen.shift)  # reverses the order
    return ~leaf if leaf.dtype == torch.bool else leaf + 1


def _compiled_models():
    from torch._inductor.package import package

    return package.AOTICompiledModel


_compiled_models().__call__ = _watched(_compiled_models().__call__)


def by_package(answer, *args):
    """Return answer(*args); fail unless it calls a package and uses its results."""
    before = _Seen.calls
    right = answer(*args)
    if _Seen.calls == before:
        fail("no package is called")
    _Seen.shift = 0.5
    try:
        other = answer(*args)
    except Exception:
        return right  # it checks the package's results
    finally:
        _Seen.shift = 0.0
    if _same(right, other):
        fail("what the package returns is not used")
    return right


def _same(one, other):
    leaves = [torch.utils._pytree.tree_leaves(value) for value in (one, other)]
    return len(leaves[0]) == len(leaves[1]) and all(map(_equal, *leaves))


def _equal(one, other):
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape == other.shape and torch.equal(one.nan_to_num(), other.nan_to_num())
    return one == other


def refuses(call, *args, named=()):
    """Fail unless the call raises a clear Python error that contains the words `named`."""
    try:
        call(*args)
    except (ValueError, TypeError, IndexError, KeyError) as error:
        if not all(word in str(error) for word in named):
            fail("the error does not say what is wrong", str(error)[:200])
        return
    except Exception as error:
        fail("bad input is refused by no clear error", f"{type(error).__name__}: {error}"[:200])
    fail("bad input is not refused")
