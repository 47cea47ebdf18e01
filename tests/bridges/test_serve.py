"""The command `serve`, as a process of its own, with the clients of the real packages."""

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bridges.contract import EVENT, gold, installed

COMMAND = (sys.executable, "-c", "from hexathlon_cli import main; main()", "serve")


@contextlib.contextmanager
def running(*arguments: str) -> Iterator[str]:
    """Run a server for the length of a test and yield its address; Ctrl-C ends it."""
    command = [*COMMAND, *arguments, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            announced = next(line for line in process.stderr if "is served on" in line)
            yield announced.split("served on ")[1].split()[0]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def test_envs_serves_openenv() -> None:
    generic = pytest.importorskip("openenv.core.generic_client", reason="scripts/bridges openenv")
    played = gold()[0]
    with (
        running("envs", EVENT, "--level", "tiny", "--split", "test") as address,
        generic.GenericEnvClient(base_url=address).sync() as env,
    ):
        opening = env.reset(seed=played.seed, task=played.task).observation
        assert opening["text"] == played.opening
        results = [env.step({"text": action}) for action in played.actions]
        assert results[-1].done and results[-1].reward == 1.0


def test_ors_serves_the_open_reward_standard() -> None:
    ors = pytest.importorskip("openreward", reason="scripts/bridges ors")
    with (
        running("ors", EVENT, "--level", "tiny") as address,
        ors.OpenReward(api_key="none", base_url=address) as client,
    ):
        env = client.environments.get("sql", base_url=address)
        with env.session(task=env.get_task("test", 0)) as session:
            assert not session.call_tool("list_tables", {}).finished


def test_mcp_serves_one_episode_and_keeps_its_verdict(tmp_path: Path) -> None:
    if not installed("mcp", "2.3"):
        pytest.skip("scripts/bridges mcp")
    import anyio
    import mcp
    from mcp.client.stdio import StdioServerParameters

    played, verdicts = gold()[1], tmp_path / "verdicts.jsonl"
    arguments = ["mcp", EVENT, "--task", played.task, "--seed", str(played.seed),
                 "--verdicts", str(verdicts)]  # fmt: skip

    async def play(actions: tuple[str, ...]) -> None:
        server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *arguments])
        async with mcp.Client(server) as session:
            for action in actions:
                call = json.loads(action)
                await session.call_tool(call["name"], call["arguments"])

    nowhere = [*COMMAND, *arguments[:-1], str(tmp_path / "no" / "folder")]
    done = subprocess.run(nowhere, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "cannot write the verdicts" in done.stderr
    anyio.run(play, played.actions)
    anyio.run(play, played.actions[:-1])
    full, cut = (json.loads(line) for line in verdicts.read_text().splitlines())
    assert full["reward"] == 1.0 and full["turns"] == len(played.actions)
    assert cut["reward"] is None and "before the episode" in cut["error"]
    assert played.task not in json.dumps((full, cut))


@pytest.mark.parametrize(("line", "said"), [
    ("envs SQ", "there is no environment 'SQ'"),
    ("envs SQL --level tinny", "did you mean 'tiny'"),
    ("ors SQ", "there is no environment 'SQ'"),
    ("envs SQL --dialect hermees", "did you mean 'hermes'"),
    ("mcp SQL --split tets", "did you mean 'test'"),
    ("mcp SQL --task shopping/buy/tiny/test/00000", "is a task of Shopping"),
])  # fmt: skip
def test_bad_input_ends_in_a_sentence(line: str, said: str) -> None:
    done = subprocess.run([*COMMAND, *line.split()], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr
