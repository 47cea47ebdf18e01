"""The grader's own pytest, run unchanged in a sandbox: a script under an isolated Python."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hexathlon.envs.terminal import small_pytest

TESTS = """
import os
import pytest

@pytest.fixture
def numbers(tmp_path):
    (tmp_path / "n").write_text("3")
    yield [3]
    assert (tmp_path / "n").exists()

@pytest.fixture(autouse=True)
def always(monkeypatch):
    monkeypatch.setenv("SET", "1")

def test_good(numbers): assert numbers == [3] and os.environ["SET"] == "1"
def test_bad(): assert 1 == 2
@pytest.mark.skip(reason="later")
def test_skipped(): assert False
@pytest.mark.skipif(True, reason="x")
def test_skipped_if(): assert False
@pytest.mark.xfail
def test_expected(): assert False
def test_skips_itself(): pytest.skip("no")
def test_fails_itself(): pytest.fail("no")
def test_exits(): raise SystemExit(0)
@pytest.mark.parametrize("a, b", [(1, 2), pytest.param(2, 2, id="same")])
def test_pairs(a, b): assert a <= b
def test_raises():
    with pytest.raises(ZeroDivisionError, match="zero"): 1 / 0
def test_not_raised():
    with pytest.raises(ValueError): pass
def test_near(): assert 0.1 + 0.2 == pytest.approx(0.3)
def test_shown(capsys):
    print("x"); assert capsys.readouterr().out == "x\\n"
def test_no_such_fixture(nothing): pass
async def test_async(): assert True
class TestMore:
    def setup_method(self): self.x = 1
    def test_setup(self): assert self.x == 1
def helper(): assert False
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    script = folder / "pytest.py"
    script.write_text(Path(small_pytest.__file__).read_text())
    return subprocess.run(
        [sys.executable, "-S", str(script), *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={"HEXATHLON_OUTCOMES": str(folder / "out.json"), "PATH": "/usr/bin:/bin"},
    )


def test_outcomes_of_every_kind(tmp_path):
    (tmp_path / "test_all.py").write_text(TESTS)
    done = run(tmp_path, "--ctrf", str(tmp_path / "ctrf.json"), "test_all.py", "-rA")
    assert done.returncode == 1, done.stderr
    outcomes = {n.partition("::")[2]: o for n, o in json.loads((tmp_path / "out.json").read_text())}
    wrong = {"test_bad": "failed", "test_skipped": "skipped", "test_skipped_if": "skipped",
             "test_expected": "xfail", "test_skips_itself": "skipped", "test_exits": "failed",
             "test_fails_itself": "failed", "test_not_raised": "failed",
             "test_no_such_fixture": "failed"}  # fmt: skip
    assert {name: outcome for name, outcome in outcomes.items() if outcome != "passed"} == wrong
    assert sorted(set(outcomes) - set(wrong)) == [
        "TestMore::test_setup", "test_async", "test_good", "test_near", "test_pairs[0]",
        "test_pairs[same]", "test_raises", "test_shown",
    ]  # fmt: skip
    assert "PASSED test_all.py::test_good" in done.stdout
    reported = json.loads((tmp_path / "ctrf.json").read_text())["results"]["tests"]
    assert len(reported) == len(outcomes)


@pytest.mark.parametrize(
    ("text", "code"),
    [("def test_a(): pass\n", 0), ("x = 1\n", 5), ("import nothing_of_that_name\n", 1)],
)
def test_exit_status(tmp_path, text, code):
    (tmp_path / "test_it.py").write_text(text)
    assert run(tmp_path, "test_it.py").returncode == code


def test_hooks_next_to_the_tests_are_not_read(tmp_path):
    (tmp_path / "test_it.py").write_text("def test_a(): assert False\n")
    (tmp_path / "conftest.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\n")
    assert run(tmp_path, ".").returncode == 1


def test_unsupported_features_are_refused(tmp_path):
    (tmp_path / "test_it.py").write_text("def test_a(): pass\n")
    done = run(tmp_path, "-k", "a", "test_it.py")
    assert done.returncode != 0 and "-k" in done.stderr
