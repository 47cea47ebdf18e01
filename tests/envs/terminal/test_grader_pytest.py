"""The grader's pytest: the real one, with plug-ins, and out of the submission's reach."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.terminal import grader_pytest
from hexathlon.envs.terminal.foreign import grader_files
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.terminal.directories import directory_source
from support.task_folders import write_folder
from support.terminal import commands, play

BESIDE = (
    "#!/bin/bash\ncp /tests/*.py /calc/\ncd /calc\nmkdir -p /logs/verifier\n"
    "{run} && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n"
)
RIGHT = "printf 'def add(a, b):\\n    return a + b\\n' > /calc/adding.py"
WRONG = "printf 'def add(a, b):\\n    return 7\\n' > /calc/adding.py"
TESTS = {
    "conftest.py": "import pytest\n\n\n@pytest.fixture(scope='session', params=[2, 3])\n"
    "def number(request):\n    return request.param\n",
    "adding_test.py": "import adding\nimport pytest\n\n\n"
    "class Base:\n    @pytest.mark.timeout(60)\n    def test_sum(self, number, subtests):\n"
    "        with subtests.test('x'):\n            assert adding.add(number, 1) == number + 1\n\n\n"
    "class TestDerived(Base):\n    pass\n\n\n"
    "def test_files(tmp_path_factory, capfd, recwarn):\n    assert tmp_path_factory.mktemp('a')\n",
}
STEERING = {
    "hooks": "echo 'def pytest_collection_modifyitems(items): items.clear()' > /calc/conftest.py",
    "skips": "printf 'import pytest\\ndef pytest_runtest_call(item): pytest.skip()\\n' "
    "> /calc/conftest.py",
    "settings": "printf '[pytest]\\npython_files = none.py\\naddopts = --co\\n' > /calc/pytest.ini",
    "project": "printf '[tool.pytest.ini_options]\\naddopts = \"--co\"\\n' > /calc/pyproject.toml",
    "a pytest": "echo 'raise SystemExit(0)' | tee /calc/pytest.py /calc/_pytest.py /calc/pluggy.py",
    "at start": "echo 'import os; os._exit(0)' > /calc/sitecustomize.py",
}


def judged(env, folder: Path, run: str, lines: list[str], tests: dict[str, str]):
    write_folder(folder, "module")
    (folder / "module/tests/test_adding.py").unlink()
    (folder / "module/tests/test.sh").write_text(BESIDE.format(run=run))
    for name, text in tests.items():
        (folder / "module/tests" / name).write_text(text)
    source, task_id = directory_source(folder / "module")
    task = get_source(source).build(task_id)
    reward, state = play(env, task.id, commands(lines))
    return reward, state["steps"][0]


def test_the_event_needs_no_pytest_in_the_harness() -> None:
    program = "import sys; sys.modules['pytest'] = None; import hexathlon.envs.terminal.env"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("run", ["pytest -q adding_test.py", "python3 -m pytest -n 2 --cov=adding"])
def test_tests_as_the_public_sets_write_them(env, tmp_path, run):
    reward, step = judged(env, tmp_path / "right", run, [RIGHT], TESTS)
    assert step["fault"] == "" and step["reward"] == {"reward": 1.0}, step
    assert {what for _, what in step["tests"]} == {"passed"}
    assert {name for name, _ in step["tests"]} == {
        "adding_test.py::TestDerived::test_sum", "adding_test.py::test_files",
    }  # fmt: skip
    reward, step = judged(env, tmp_path / "wrong", run, [WRONG], TESTS)
    assert reward == 0.0 and step["reward"] == {"reward": 0.0}
    assert ["adding_test.py::TestDerived::test_sum", "failed"] in step["tests"]


@pytest.mark.parametrize("name", STEERING)
def test_a_submission_does_not_steer_its_tests(env, tmp_path, name):
    tests = {"adding_test.py": TESTS["adding_test.py"].replace("number, sub", "sub").replace(
        "adding.add(number, 1) == number + 1", "adding.add(1, 1) == 2")}  # fmt: skip
    reward, step = judged(env, tmp_path, "pytest adding_test.py", [WRONG, STEERING[name]], tests)
    assert (reward, step["fault"], step["reward"]) == (0.0, "", {"reward": 0.0})
    assert ["adding_test.py::TestDerived::test_sum", "failed"] in step["tests"]


def test_a_grader_that_collects_nothing_is_a_fault(env, tmp_path):
    nothing = {"test_none.py": "def helper():\n    pass\n"}
    _, step = judged(env, tmp_path, "pytest test_none.py", [RIGHT], nothing)
    assert step["fault"] == "pytest ran, but collected no test"
    assert env.verdict().status == "unscored"


def test_without_pytest_the_message_says_what_to_install(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(grader_pytest, "distribution", missing)
    grader_pytest.pytest_files.cache_clear()
    with pytest.raises(BackendMissing, match="pip install pytest"):
        grader_pytest.pytest_files("/x")
    grader_pytest.pytest_files.cache_clear()


def test_the_copied_files_are_read_only():
    files = grader_pytest.pytest_files("/x")
    assert files["/x/_pytest/config/__init__.py"].data
    assert {entry.mode for entry in files.values()} == {0o444}
    assert all(path.startswith("/x/") and ".." not in path for path in files)


def called(folder: Path, *words: str) -> list[str]:
    """Return what the grader's `python3` calls: whether for pytest, and the other arguments."""
    (folder / "python3").write_text('#!/bin/sh\nprintf "%s\\n" "${HEXATHLON_HERE-none}" "$@"\n')
    (folder / "python3").chmod(0o755)
    command = grader_files()["/hexathlon/bin/python3"].data
    made = subprocess.run(
        ["sh", "-c", command.decode(), "python3", *words],
        env={"PATH": f"{folder}:/usr/bin:/bin"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return made.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "options"),
    [("-m", []), ("-B -m", ["-B"]), ("-u -Bm", ["-u", "-B"]), ("-W a=-m -X dev -m", None),
     ("-Wm -m", ["-Wm"]), ("-OO -bb -m", None)],
)  # fmt: skip
def test_pytest_is_the_graders_after_any_options(tmp_path, words, options):
    before = words.split()[:-1] if options is None else options
    here, *rest = called(tmp_path, *words.split(), "pytest", "-m", "not slow", "a b")
    place = rest.index("-c")
    assert (here, rest[:place]) == ("1", before)
    assert "import pytest" in rest[place + 1]
    assert rest[place + 2 :] == [
        "/hexathlon/lib", "-p", "no:cacheprovider", "-m", "not slow", "a b"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "here"), [("-mpytest", "1"), ("-I -m pytest", ""), ("-Pm py.test", "")]
)
def test_the_working_directory_is_added_where_python_adds_it(tmp_path, words, here):
    found = called(tmp_path, *words.split())
    assert found[0] == here and found[-1] == "no:cacheprovider"


@pytest.mark.parametrize(
    "words",
    [[], ["-m"], ["-m", "unittest", "-m", "pytest"], ["-c", "-m", "pytest"], ["-", "-m", "pytest"],
     ["-B", "run me.py", "-m", "pytest"], ["--version"], ["-W", "-m", "pytest"]],
)  # fmt: skip
def test_other_calls_of_python_stay_as_they_are(tmp_path, words):
    assert called(tmp_path, *words) == ["none", *words]
