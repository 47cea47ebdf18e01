import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openenv.core.env_server", reason="scripts/bridges openenv")

import httpx
from bridges.contract import EVENT, TASKS, broken, gold
from bridges.doors.openenv import play
from bridges.guide import example
from bridges.openenv_package import validated
from bridges.served import served
from openenv.core.generic_client import GenericEnvClient

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.bridges.openenv import make_app
from hexathlon.envs.plugins import offer
from support import drill


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    app = make_app(lambda: BridgedEpisode(EVENT), TaskListing(EVENT), "sql")
    with served(app) as place:
        yield place


def test_tools_and_prompt_arrive(address: str) -> None:
    with GenericEnvClient(base_url=address).sync() as env:
        opening = env.reset(seed=0, task=TASKS[0]).observation
    names = [tool["function"]["name"] for tool in opening["tools"]]
    assert "run_query" in names and "submit" in names
    assert '"name": "run_query"' in opening["system_prompt"]


def test_a_step_after_the_end_is_refused(address: str) -> None:
    played = gold()[0]
    with GenericEnvClient(base_url=address).sync() as env:
        env.reset(seed=played.seed, task=played.task)
        for action in played.actions:
            env.step({"text": action})
        with pytest.raises(RuntimeError, match="the episode has ended"):
            env.step({"text": played.actions[-1]})


def test_an_action_has_one_required_field(address: str) -> None:
    schema = httpx.get(f"{address}/schema").json()["action"]
    assert schema["required"] == ["text"]
    with GenericEnvClient(base_url=address).sync() as env:
        env.reset(seed=0)
        with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
            env.step({"texts": "?"})


def test_a_fault_is_an_error_and_other_sessions_go_on() -> None:
    faulty = iter((True, False))
    app = make_app(lambda: broken() if next(faulty) else BridgedEpisode(EVENT),
                   TaskListing(EVENT), "sql")  # fmt: skip
    played = gold()[0]
    with served(app) as place, GenericEnvClient(base_url=place).sync() as env:
        env.reset(seed=played.seed, task=played.task)
        other = play(place, played.task, played.seed, played.actions)
        with pytest.raises(RuntimeError, match="the disk is gone"):
            env.step({"text": played.actions[0]})
        assert other == played


def test_a_step_that_hangs_holds_up_its_own_session_only() -> None:
    played, go_on = gold()[0], threading.Event()

    def hanging() -> BridgedEpisode:
        episode = BridgedEpisode(EVENT)
        step = episode.env.step

        def late(action: str) -> Any:
            assert go_on.wait(120)
            return step(action)

        episode.env.step = late  # type: ignore[method-assign]
        return episode

    made = iter((hanging, lambda: BridgedEpisode(EVENT)))
    app = make_app(lambda: next(made)(), TaskListing(EVENT), "sql")
    with served(app) as place, ThreadPoolExecutor(1) as pool:
        with GenericEnvClient(base_url=place, message_timeout_s=120).sync() as env:
            env.reset(seed=played.seed, task=played.task)
            waiting = pool.submit(env.step, {"text": played.actions[0]})
            assert play(place, played.task, played.seed, played.actions) == played
            assert not waiting.done()
            go_on.set()
            assert waiting.result(120).observation["text"] == played.answers[0]


def test_a_step_that_never_returns_is_an_error_of_its_session() -> None:
    """The toy environment's tool blocks its thread for good; its session can begin anew."""
    offer("test/Drill-v0", drill.HOSTED, family="drill", title="Drill", tasksets=("drill",))
    app = make_app(lambda: BridgedEpisode("test/Drill-v0"), TaskListing("test/Drill-v0"), "drill",
                   deadline=8.0)  # fmt: skip
    done = {"text": drill.SUBMIT}
    with served(app) as place, GenericEnvClient(base_url=place).sync() as env:
        env.reset(seed=1, task=drill.TASK)
        with ThreadPoolExecutor(1) as pool, GenericEnvClient(base_url=place).sync() as other:
            waiting = pool.submit(env.step, {"text": drill.hang("blocking")})
            other.reset(seed=2, task=drill.TASK)
            assert other.step({"text": drill.walk(1)}).observation["text"].startswith("You are at")
            assert other.step(done).done
            with pytest.raises(RuntimeError, match="within its deadline of 8 s"):
                waiting.result(120)
        with pytest.raises(RuntimeError, match="within its deadline of 8 s"):
            env.step(done)
        env.reset(seed=1, task=drill.TASK)
        assert env.step(done).done


def test_tasks_are_listed(address: str) -> None:
    splits = {row["name"] for row in httpx.get(f"{address}/sql/splits").json()}
    assert splits == {"train", "dev", "test"}
    listing = TaskListing(EVENT)
    ask = {"split": "test"}
    size = httpx.post(f"{address}/sql/num_tasks", json=ask).json()["num_tasks"]
    assert size == listing.size("test")
    row = httpx.post(f"{address}/sql/task", json={**ask, "index": 3}).json()["task"]
    assert row == listing.row("test", 3)
    rows = httpx.post(f"{address}/sql/task_range", json={**ask, "start": -2, "stop": None}).json()
    assert rows["tasks"] == listing.rows("test", size - 2, size)
    assert httpx.post(f"{address}/sql/task", json={**ask, "index": size}).status_code == 400
    assert httpx.post(f"{address}/sql/num_tasks", json={"split": "no"}).status_code >= 400


def test_openenvs_own_validation_passes(address: str, tmp_path: Path) -> None:
    from openenv.cli._validation import validate_running_environment

    report = validate_running_environment(address, timeout_s=60.0)
    failed = [check for check in report["criteria"] if not check["passed"]]
    assert report["passed"], failed


def test_the_guides_example_runs(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(example("openenv_client.py").replace("http://127.0.0.1:8000", address), {})
    assert "0.0 False" in capsys.readouterr().out


IMPLEMENTED = ("static.manifest", "runtime.startup", "runtime.reward_well_formed",
               "runtime.observation_schema", "runtime.state_contract")  # fmt: skip


def test_the_package_passes_rfc_008(tmp_path: Path) -> None:
    """All checks that OpenEnv implements, but for that of the network, which needs Docker."""
    report = validated(tmp_path / "package")
    status = {check["check_id"]: check["status"] for check in report["results"]}
    assert [status[name] for name in IMPLEMENTED] == ["pass"] * len(IMPLEMENTED), report
    assert report["verdict"] == "warn" and set(status.values()) == {"pass", "skip"}
