"""Fork and replay give the same bytes, here, in other processes and on other Pythons."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hexathlon.envs.sql.env import SQLEnv
from hexathlon.envs.testing.tracing import canonical
from hexathlon.tasks.seeding import generator_for
from support.trajectories import Trajectory, digest, replay, trajectories

FOLDER = Path(__file__).resolve().parents[3]
OTHERS = [path for path in os.environ.get("HEXATHLON_OTHER_PYTHONS", "").split(":") if path]
SMALL = ("tiny", "tiny", "easy")
PROGRAM = """
import sys
from support.trajectories import digest
print(digest(int(sys.argv[1]), sys.argv[2].split(",")))
"""


def digest_elsewhere(python: str, hash_seed: str, count: int, levels: tuple[str, ...]) -> str:
    path = os.pathsep.join([str(FOLDER / "src"), str(FOLDER / "tests")])
    done = subprocess.run(
        [python, "-c", PROGRAM, str(count), ",".join(levels)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": path},
        capture_output=True, text=True, check=False, timeout=2_000,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout.strip()


def check_fork_and_replay(trajectory: Trajectory) -> None:
    """Fork at a random step; the fork, its parent and a fresh replay all give the same lines."""
    rng = generator_for("fork-place", trajectory.task.id, trajectory.seed)
    place = int(rng.integers(len(trajectory.actions)))
    options = {"task": trajectory.task.id}
    env, fresh = SQLEnv(), SQLEnv()
    for each in (env, fresh):
        opening = each.reset(seed=trajectory.seed, options=options)
        assert canonical(opening) == trajectory.lines[0]
    replay(env, trajectory, 0, place)
    fork = env.fork(1)[0]
    replay(fork, trajectory, place)
    replay(env, trajectory, place)
    replay(fresh, trajectory)
    for each in (env, fork, fresh):
        each.close()


def test_fork_and_replay_give_the_same_bytes():
    kinds = set()
    for trajectory in trajectories(40, SMALL):
        check_fork_and_replay(trajectory)
        kinds.add(trajectory.task.params["mode"])
    assert kinds == {"read", "write"}


def test_two_processes_observe_the_same():
    expected = digest(10, SMALL)
    assert digest_elsewhere(sys.executable, "1", 10, SMALL) == expected
    assert digest_elsewhere(sys.executable, "77", 10, SMALL) == expected


@pytest.mark.slow
@pytest.mark.timeout(3_000)
def test_two_hundred_trajectories_fork_and_replay():
    ends = []
    for trajectory in trajectories(200):
        check_fork_and_replay(trajectory)
        ends.append('"str:status": "ongoing"' in trajectory.lines[-3])
    assert len(ends) == 200
    assert {True, False} == set(ends)


@pytest.mark.slow
@pytest.mark.timeout(3_000)
@pytest.mark.skipif(not OTHERS, reason="HEXATHLON_OTHER_PYTHONS names no further interpreters")
def test_other_versions_of_python_observe_the_same():
    levels = ("tiny", "easy", "medium", "hard", "tiny", "easy", "medium")
    expected = digest(200, levels)
    for python in OTHERS:
        assert digest_elsewhere(python, "5", 200, levels) == expected
