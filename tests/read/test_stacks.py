"""Python tracebacks and the fault handler's dumps."""

from __future__ import annotations

import subprocess
import sys

import pytest
from aoti_debug.diagnose.calls import is_users, users_frame
from aoti_debug.read.record import FaultHandlerDump, PythonException
from aoti_debug.read.scan import scan_text
from recall import recorded


def exceptions(text: str) -> list[PythonException]:
    return [r for r in scan_text(text, "a").records if isinstance(r, PythonException)]


def printed_by(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return done.stderr


def test_a_real_chain_of_causes_is_read() -> None:
    text = printed_by(
        "try:\n  try:\n    1/0\n  except ZeroDivisionError as e:\n    raise KeyError('k') from e\n"
        "except KeyError:\n  raise RuntimeError('two\\n\\nlines')"
    )
    first, second, third = exceptions(text)
    assert [e.type for e in (first, second, third)] == [
        "ZeroDivisionError",
        "KeyError",
        "RuntimeError",
    ]
    assert [e.relation for e in (first, second, third)] == ["cause", "context", None]
    assert [e.last for e in (first, second, third)] == [False, False, True]
    assert third.message == "two\n\nlines"
    assert third.frames[-1].file == "<string>"


def test_a_real_syntax_error_without_a_traceback_is_read() -> None:
    (found,) = exceptions(printed_by("x = (\n"))
    assert (found.type, found.frames[-1].line) == ("SyntaxError", 1)
    assert found.message.startswith("'(' was never closed")


def test_a_syntax_error_inside_an_import_is_read() -> None:
    (found,) = exceptions(printed_by("compile('a b', 'm.py', 'exec')"))
    assert found.type == "SyntaxError"
    assert found.frames[-1].file == "m.py"


RAISES = "def f():\n  raise ValueError('no')\nf()"
LOGGER = "E0304 10:00:00.533000 700 torch/_inductor/runtime/triton_heuristics.py:533] "


@pytest.mark.parametrize("prefix", ["", LOGGER])
def test_a_traceback_whose_beginning_was_cut_off_is_read(prefix: str) -> None:
    lines = printed_by(RAISES).splitlines()[1:]
    (found,) = exceptions("\n".join(prefix + line for line in lines))
    assert (found.type, found.message) == ("ValueError", "no")
    assert [frame.function for frame in found.frames] == ["<module>", "f"]


def test_frames_that_lead_to_no_exception_are_none() -> None:
    frames = printed_by(RAISES).splitlines()[1:-1]
    assert not exceptions("\n".join([*frames, "and so on", "the run went on", "epoch 2", "done"]))


def test_a_real_recursion_is_read() -> None:
    (found,) = exceptions(printed_by("def f():\n  f()\nf()"))
    assert found.type == "RecursionError"
    assert found.message.startswith("maximum recursion depth exceeded")


GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "/home/user/m.py", line 3, in <module>
  |     raise ExceptionGroup("eg", [ValueError(1), TypeError(2)])
  | ExceptionGroup: eg (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | ValueError: 1
    +---------------- 2 ----------------
    | Traceback (most recent call last):
    |   File "/home/user/n.py", line 9, in f
    |     g()
    | TypeError: 2
    +------------------------------------
"""


def test_a_group_gives_itself_and_the_tracebacks_within() -> None:
    group, inner = exceptions(GROUP)
    assert (group.type, group.frames[0].line) == ("ExceptionGroup", 3)
    assert (inner.type, inner.message, inner.frames[0].line) == ("TypeError", "2", 9)


TRACE = """\
Traceback (most recent call last):
  File "/home/user/model.py", line 7, in forward
    return self.fc(h)
           ^^^^^^^^^^
  File "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py", line 1, in _call_impl
    return forward_call(*args, **kwargs)
           ~~~~~~~~~~~~^^^^^^^^^^^^^^^^^
{}: oops
"""


@pytest.mark.parametrize(
    "name", ["RuntimeError", "torch._dynamo.exc.Unsupported", "KeyboardInterrupt", "lab.Odd"]
)
def test_marks_are_no_source_text_and_any_name_is_a_type(name: str) -> None:
    (found,) = exceptions(TRACE.format(name))
    assert (found.type, found.message) == (name, "oops")
    assert [f.text for f in found.frames] == [
        "return self.fc(h)",
        "return forward_call(*args, **kwargs)",
    ]


def test_the_deepest_frame_of_the_users_files_is_found() -> None:
    (found,) = exceptions(TRACE.format("RuntimeError"))
    frame = users_frame(found.frames)
    assert frame is not None
    assert (frame.file, frame.line) == ("/home/user/model.py", 7)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/user/model.py", True),
        ("/opt/venv/lib/python3.12/site-packages/torch/x.py", False),
        ("/usr/lib/python3.12/contextlib.py", False),
        ("<frozen runpy>", False),
        ("<string>", False),
    ],
)
def test_installed_files_are_not_the_users(path: str, expected: bool) -> None:
    assert is_users(path) is expected


def test_other_output_between_and_before_the_lines_is_passed_over() -> None:
    lines = TRACE.format("RuntimeError").splitlines()
    lines.insert(3, "step 3 loss 0.5")
    lines.insert(1, "hello")
    lines[0] = " 45%|####      | 9/20 [00:01<00:01]" + lines[0]
    (found,) = exceptions("\n".join(lines))
    assert (found.type, len(found.frames)) == ("RuntimeError", 2)


@pytest.mark.parametrize("prefix", ["[rank0]: ", "W1121 05:31:45.896000 3347 torch/x.py:348] "])
def test_a_prefixed_traceback_is_read_between_other_lines(prefix: str) -> None:
    lines = [prefix + line for line in TRACE.format("ValueError").splitlines()]
    lines.insert(2, "[rank1]: something else")
    (found,) = exceptions("\n".join(lines))
    assert (found.type, found.message, len(found.frames)) == ("ValueError", "oops", 2)


def test_inductors_message_keeps_its_paragraphs() -> None:
    text = TRACE.format("torch._inductor.exc.InductorError").rstrip("\n") + (
        "\n\nCommand:\ng++ x.cpp\n\nOutput:\nx.cpp:3:5: error: 'y' was not declared\n"
        "\n\n\nunrelated\n"
    )
    (found,) = exceptions(text)
    assert found.message.endswith("x.cpp:3:5: error: 'y' was not declared")


def test_what_the_program_prints_later_is_no_part_of_a_message() -> None:
    (found,) = exceptions(TRACE.format("ValueError") + "\nLAB ok\nmore\n")
    assert (found.message, found.span.last) == ("oops", 8)


def test_a_traceback_cut_short_gives_its_frames() -> None:
    (found,) = exceptions("\n".join(TRACE.splitlines()[:4]))
    assert (found.type, found.message, len(found.frames)) == ("", "", 1)


def test_of_very_many_tracebacks_the_first_and_last_are_kept() -> None:
    text = "".join(TRACE.format("ValueError").replace("oops", f"n{i}") for i in range(2000))
    found = exceptions(text)
    assert len(found) == 600
    assert (found[0].message, found[-1].message) == ("n0", "n1999")


def dumps(text: str) -> list[FaultHandlerDump]:
    return [r for r in scan_text(text, "a").records if isinstance(r, FaultHandlerDump)]


@pytest.mark.parametrize(
    ("stage", "reason", "function"),
    [
        ("fh-segv", "Segmentation fault", "string_at"),
        ("fh-abrt", "Aborted", "f"),
        ("fh-time", "Timeout (0:00:00.300000)", "f"),
    ],
)
def test_recorded_dumps_give_the_threads_own_stack(stage: str, reason: str, function: str) -> None:
    (found,) = dumps(recorded("cpu", stage))
    assert (found.reason, found.threads) == (reason, 2)
    assert found.frames[0].function == function
    assert found.frames[-1].function == "<module>"


NEW_DUMP = """\
Fatal Python error: Segmentation fault

<Cannot show all threads while the GIL is disabled>
Current thread 0x00007f35 [python3] (most recent call first):
  File "/home/user/run.py", line 7 in f
  File "/home/user/run.py", line ??? in <module>

Current thread's C stack trace (most recent call first):
  Binary file "/opt/bin/python3", at _Py_DumpStack+0x44 [0x55d]
  Binary file "/tmp/x/cabc.wrapper.so", at +0x1d2f4 [0x7fb]
  Binary file "/lib/libc.so.6"

Extension modules: numpy._core._multiarray_umath, torch._C (total: 2)
Segmentation fault
"""


def test_a_dump_of_python_3_14_has_a_c_stack_and_modules() -> None:
    (found,) = dumps(NEW_DUMP)
    assert [f.line for f in found.frames] == [7, 0]
    assert [f.library for f in found.native][1] == "/tmp/x/cabc.wrapper.so"
    assert found.native[0].function == "_Py_DumpStack+0x44"
    assert found.extension_modules == ("numpy._core._multiarray_umath", "torch._C")


def test_two_dumps_are_two() -> None:
    assert len(dumps(NEW_DUMP + NEW_DUMP)) == 2
