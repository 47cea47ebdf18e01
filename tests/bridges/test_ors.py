import pytest

pytest.importorskip("openreward", reason="scripts/bridges ors")

from bridges.guide import example
from bridges.served import served
from openreward import OpenReward
from openreward.api.environments.types import Task
from sse_starlette.sse import AppStatus

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.bridges.ors import make_ors_app
from hexathlon.envs.plugins import offer
from support import drill


@pytest.fixture(autouse=True)
def no_event_of_another_loop() -> None:
    """Two servers in one process: the package keeps an event of the first one's loop."""
    AppStatus.should_exit_event = None


def test_tasks_are_listed_and_the_guides_client_plays(capsys: pytest.CaptureFixture[str]) -> None:
    listing = TaskListing("SQL", level="tiny")
    app = make_ors_app(lambda: BridgedEpisode("SQL", level="tiny"), listing, "sql")
    with served(app) as address:
        exec(example("ors_client.py").replace("http://127.0.0.1:8080", address), {})
        with OpenReward(api_key="none", base_url=address) as client:
            env = client.environments.get("sql", base_url=address)
            assert set(env.list_splits()) == {"train", "dev", "test"}
            assert env.get_task("test", 1).task_spec["index"] == 1
            assert env.num_tasks("test") > len(env.get_task_range("test", 0, 3)) == 3
    assert " None False\n" in capsys.readouterr().out  # the package logs there, too


def test_a_call_that_never_returns_is_an_error_of_its_session() -> None:
    """The toy environment's tool blocks its thread for good."""
    offer("test/Drill-v0", drill.HOSTED, family="drill", title="Drill", tasksets=("drill",))
    app = make_ors_app(lambda: BridgedEpisode("test/Drill-v0"), TaskListing("test/Drill-v0"),
                       "drill", deadline=8.0)  # fmt: skip
    row = Task("drill", "drill", {"task": drill.TASK, "seed": 1}, None)
    with served(app) as address, OpenReward(api_key="none", base_url=address) as client:
        env = client.environments.get("drill", base_url=address)
        with env.session(task=row) as session, env.session(task=row) as other:
            with pytest.raises(Exception, match="within its deadline of 8 s"):
                session.call_tool("hang", {"how": "blocking"})
            assert other.call_tool("submit", {}).finished
