"""The checks of answers, and the fence around answers that are programs."""

from pathlib import Path

import code_runner
import pytest
from answers import Calls, Json, Number, Words


@pytest.mark.parametrize("text", ["It is Rome.", "ROME", "rome, of course", "a\nRome"])
def test_a_word_counts_in_any_case(text: str) -> None:
    assert Words(("Rome", "Roma")).accepts(text)


@pytest.mark.parametrize("text", ["", "Romeo", "Jerome", "It is Paris."])
def test_a_word_counts_whole_only(text: str) -> None:
    assert not Words(("Rome", "Roma")).accepts(text)


@pytest.mark.parametrize(
    "text", [" 12 eggs", " 2 * 6 = 12 eggs in 2 boxes", " 6 and 6, so 12.", " 3 = 3, 12 = 12.0"]
)
def test_the_number_is_the_last_one_or_that_behind_the_sign(text: str) -> None:
    assert Number(12).accepts(text)


@pytest.mark.parametrize("text", ["", " many", " 12 * 2 = 24", " 12 or 13", " -12", " 3 * 4 ="])
def test_another_number_is_refused(text: str) -> None:
    assert not Number(12).accepts(text)


def test_a_number_can_have_groups_of_three_digits() -> None:
    assert Number(12_500).accepts(" 12,500 people")
    assert not Number(500).accepts(" 12,500 people")


def test_json_is_read_to_its_end_and_no_further() -> None:
    answer = Json({"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]})
    assert answer.accepts('"a": 1} and so on')
    assert not answer.accepts('"a": 2}')
    assert not answer.accepts('"a": 1')
    assert not answer.accepts("}")
    assert not answer.accepts('"a":' + '{"a":' * 100_000)


def test_code_is_right_by_its_values() -> None:
    start = "def double(x):\n    return"
    answer = Calls(start, {"double(2)": 4, "double('a')": "aa"})
    assert answer.accepts(" x * 2\n")
    assert not answer.accepts(" x ** 2\n")
    assert not answer.accepts(" x *")


def test_a_boolean_is_no_number() -> None:
    start = "def positive(x):\n    return"
    answer = Calls(start, {"positive(1)": True, "[positive(-1)]": [False]})
    assert answer.accepts(" x > 0\n")
    assert not answer.accepts(" int(x > 0)\n")


def _result(body: str) -> object:
    return code_runner.evaluate(f"def f():\n{body}", ["f()"])


def test_an_endless_loop_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_runner, "SECONDS", 1)
    monkeypatch.setattr(code_runner, "TIMEOUT", 600)
    # Not quite endless: with no limit the test fails instead of hanging.
    loop = "    begin = time.process_time()\n    while time.process_time() < begin + {}: pass\n"
    assert _result("    import time\n" + loop.format(0.01) + "    return 1") == [1]
    assert _result("    import time\n" + loop.format(4) + "    return 1") is None


def test_waiting_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_runner, "TIMEOUT", 1)
    assert _result("    import time\n    time.sleep(20)\n    return 1") is None


def test_memory_has_a_limit() -> None:
    assert _result("    return len(bytearray(2**20))") == [2**20]
    assert _result(f"    return len(bytearray({2 * code_runner.MEMORY}))") is None


@pytest.mark.parametrize("mode", ["w", "a", "r+", "x"])
def test_no_file_is_written(tmp_path: Path, mode: str) -> None:
    there, new = tmp_path / "there", tmp_path / "new"
    there.write_text("kept")
    for path in (there, new):
        assert _result(f"    open({str(path)!r}, {mode!r}).write('x')\n    return 1") is None
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert there.read_text() == "kept"


def test_a_file_that_is_open_does_not_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits hold where the audit hook does not see: here there is none."""
    monkeypatch.setattr(
        code_runner, "_CHILD", code_runner._CHILD.replace("sys.addaudithook(refuse)", "pass")
    )
    path = tmp_path / "new"
    body = f"    with open({str(path)!r}, 'w') as file: file.write('x')\n    return 1"
    assert _result(body) is None
    assert path.read_text() == ""


@pytest.mark.parametrize(
    "body",
    [
        "import os; os.fork()",
        "import os; os.system('true')",
        "import os; os.posix_spawn('/bin/true', ['true'], {})",
        "import os; os.mkdir('folder')",
        "import os; os.listdir('/')",
        "import os; os.kill(os.getppid(), 0)",
        "import socket",
        "import subprocess",
        "import ctypes",
        "import _posixsubprocess",
        "open('/etc/hostname').read()",
    ],
)
def test_files_processes_and_the_network_are_refused(body: str) -> None:
    assert _result(f"    {body}\n    return 1") is None


def test_catching_the_refusal_does_not_help(tmp_path: Path) -> None:
    path = tmp_path / "new"
    body = f"    try: open({str(path)!r}, 'w')\n    except BaseException: pass\n    return 1"
    assert _result(body) == [1]
    assert not path.exists()


def test_the_folder_is_empty_and_isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SECRET", "known")
    (tmp_path / "answers_of_mine.py").write_text("value = 1")
    assert _result("    import answers_of_mine\n    return 1") is None
    found = _result("    import os\n    return [os.getcwd(), os.environ.get('SECRET')]")
    assert isinstance(found, list)
    ((folder, secret),) = found
    assert Path(folder) != tmp_path
    assert not Path(folder).exists()
    assert secret is None


@pytest.mark.parametrize(
    "body",
    [
        "    print('[5]')\n    raise ValueError",
        "    print('[5]', flush=True)\n    import os\n    os._exit(0)",
        "    import sys\n    print('[5]')\n    sys.exit(0)",
        "    for fd in range(3):\n        import os\n        os.write(fd, b'[5]')\n    return 4",
    ],
)
def test_what_is_printed_is_no_answer(body: str) -> None:
    assert _result(body) != [5]


def test_an_answer_that_is_printed_besides_does_no_harm() -> None:
    assert _result("    print('[4]')\n    return 5") == [5]


@pytest.mark.parametrize(
    "body", ["    return {1}", "    return 'x' * 10**6", "    return f()", "  ("]
)
def test_what_json_does_not_have_is_no_value(body: str) -> None:
    assert _result(body) is None
