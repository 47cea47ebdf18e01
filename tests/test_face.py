"""The names that `import hexathlon` offers: listed, lazily imported, enough for a first script."""

import subprocess
import sys
from pathlib import Path

import pytest

import hexathlon
from hexathlon.baselines.harness.errors import UsageError


def test_every_offered_name_can_be_imported() -> None:
    assert len(hexathlon.__all__) < 20
    assert set(hexathlon._HOMES) == set(hexathlon.__all__) - {"__version__"}
    for name in hexathlon.__all__:
        assert getattr(hexathlon, name) is not None
        assert name in dir(hexathlon)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = hexathlon.nothing


def test_importing_the_package_imports_none_of_their_modules() -> None:
    code = (
        "import sys, hexathlon\n"
        "homes = set(hexathlon._HOMES.values()) & set(sys.modules)\n"
        "print(sorted(homes), 'torch' in sys.modules, 'pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False False"


def test_a_function_is_evaluated_and_the_run_read_back(tmp_path: Path) -> None:
    def shrug(messages: list[dict[str, object]]) -> dict[str, object]:
        return {"role": "assistant", "content": "?"}

    run = hexathlon.evaluate(shrug, tmp_path / "run", envs=("RolePlay",), tasks=3)
    assert run.label == "custom:shrug"
    assert [row.score.trials for row in run.summary.envs] == [3]
    assert hexathlon.load_run(tmp_path / "run").plan == run.plan
    assert hexathlon.verify_run(tmp_path / "run").sound


def test_an_agent_by_name_scores_as_the_command_does(tmp_path: Path) -> None:
    run = hexathlon.evaluate("agent:oracle", tmp_path / "run", envs=("RolePlay",), tasks=2)
    (row,) = run.summary.envs
    interval = row.score.interval
    assert interval is not None and interval.mean == 1.0


def test_bad_settings_end_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no setting 'task_count'"):
        hexathlon.evaluate("agent:oracle", tmp_path, task_count=3)
    with pytest.raises(UsageError, match="concurrency"):
        hexathlon.evaluate("agent:oracle", tmp_path, envs=("SQL",), concurrency=0)
    with pytest.raises(UsageError, match="expected a string such as"):
        hexathlon.make_agent(7)  # type: ignore[arg-type]
