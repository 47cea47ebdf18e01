"""The vector environment: equal to Gymnasium's in lock-step; also in completion order."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from hexathlon.envs.errors import EnvFault
from hexathlon.envs.vector import Arrival, VectorEnvironment, VectorFault, make_vector
from support.drill import TASK as DRILL
from support.drill import DrillEnv, walk
from support.toy import ADD, SUBMIT, ToyEnv

TASK = {"task": "toy/count/easy/test/00003"}
MODES = list(AutoresetMode)


class FaultyEnv(ToyEnv):
    """Fails when the counter would reach 9."""

    def on_text(self, text: str) -> str:
        raise EnvFault("the backend is gone", cause="backend")


def plain(value):
    """Make nested arrays comparable."""
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    if isinstance(value, np.ndarray):
        return value.dtype.str, [plain(item) for item in value.tolist()]
    return value


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("action_format", ["text", "message"])
def test_lock_step_equals_gymnasiums_own_vector(mode, action_format):
    def make():
        return ToyEnv(action_format=action_format, limits={"turns": 3})

    ours = VectorEnvironment([make] * 3, autoreset_mode=mode)
    theirs = SyncVectorEnv([make] * 3, autoreset_mode=mode)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    first, infos = ours.reset(seed=4)
    expected, expected_infos = theirs.reset(seed=4)
    assert first == expected and plain(infos) == plain(expected_infos)
    done = np.zeros(3, bool)
    for turn in range(9):
        if mode is AutoresetMode.DISABLED and done.any():
            mask = {"reset_mask": done}
            a, b = ours.reset(options=mask), theirs.reset(options=dict(mask))
            assert a[0] == b[0] and plain(a[1]) == plain(b[1])
        texts = [ADD % turn, SUBMIT if turn % 2 else ADD % 1, "prose"]
        actions = tuple(texts) if action_format == "text" else None
        if actions is None:
            ours.action_space.seed(turn)
            actions = ours.action_space.sample()
        result, wanted = ours.step(actions), theirs.step(actions)
        assert result[0] == wanted[0]
        for mine, other in zip(result[1:4], wanted[1:4], strict=True):
            assert mine.dtype == other.dtype and mine.tolist() == other.tolist()
        assert plain(result[4]) == plain(wanted[4])
        done = result[2] | result[3]
    ours.close()


def test_images_are_batched_into_one_array():
    vector = make_vector(DrillEnv, 2)
    observations, _ = vector.reset(seed=0, options={"task": DRILL})
    assert observations in vector.observation_space
    assert observations["image"].shape == (2, 32, 48, 3)
    assert isinstance(observations["text"], tuple)
    vector.close()


@pytest.mark.parametrize("mode", MODES)
def test_make_vec_uses_the_entry_point(mode):
    gymnasium.register(
        "tests/Drill-v0", "support.drill:DrillEnv", vector_entry_point="support.drill:make_vector",
        order_enforce=False, disable_env_checker=True,
    )  # fmt: skip
    try:
        vector = gymnasium.make_vec("tests/Drill-v0", 2, pause=0.0, autoreset_mode=mode.value)
        assert isinstance(vector, VectorEnvironment) and vector.metadata["autoreset_mode"] is mode
        assert vector.get_attr("pause") == (0.0, 0.0)
        vector.close()
    finally:
        del gymnasium.registry["tests/Drill-v0"]


def test_completion_order_one_slow_environment_delays_no_other():
    vector = VectorEnvironment([lambda p=p: DrillEnv(pause=p) for p in (60.0, 0.3, 0.01)])
    vector.reset(seed=0, options={"task": DRILL})
    vector.send([walk(1)] * 3)
    first = vector.recv()
    while len(first) < 2:
        first += vector.recv()
    assert [arrival.number for arrival in first] == [2, 1]
    vector.send([walk(1)], [2])
    assert [arrival.number for arrival in vector.recv()] == [2]
    assert vector.pending == 1
    assert vector.recv(1, timeout=0.01) == [] and vector.recv(0) == []
    with pytest.raises(ValueError, match="environment 0 has a pending answer"):
        vector.send([walk(1)], [0])
    with pytest.raises(ValueError, match="asked for 2 answers, but only 1 are pending"):
        vector.recv(2)
    vector.close()


def test_environments_of_this_process_and_coroutines_mix():
    class Quick(DrillEnv):
        step = ToyEnv.step
        reset = ToyEnv.reset
        astep = property()

        def on_reset(self, task):
            self.at, self.submitted, self.shade = 0, False, 0
            return "here"

        def on_text(self, text):
            return "answered in place"

    vector = VectorEnvironment([lambda: DrillEnv(pause=0.3), Quick, lambda: DrillEnv(pause=0.02)])
    vector.reset(seed=0, options={"task": DRILL})
    vector.send([walk(1), "hello", walk(1)])
    arrivals = vector.recv(3)
    assert arrivals[0].observation["text"] == "answered in place"
    assert [arrival.number for arrival in arrivals] == [1, 2, 0]
    vector.close()


@pytest.mark.parametrize("mode", MODES)
def test_autoreset_in_completion_order(mode):
    vector = VectorEnvironment([ToyEnv] * 2, autoreset_mode=mode)
    vector.reset(seed=0, options=TASK)
    vector.send([SUBMIT], [1])
    (ended,) = vector.recv()
    assert ended.terminated
    if mode is AutoresetMode.SAME_STEP:
        assert ended.info["final_obs"] == "Submitted." and "final_info" in ended.info
        assert ended.observation.startswith("Bring the counter")
    elif mode is AutoresetMode.NEXT_STEP:
        vector.send([ADD % 1], [1])
        assert vector.recv()[0].observation.startswith("Bring the counter")
    else:
        with pytest.raises(ResetNeeded, match="environment 1 has ended"):
            vector.send([ADD % 1], [1])
        vector.send_reset([1], seed=5, options=TASK)
        assert vector.recv()[0].info["seed"] == 6, "seeds count up by number"
    vector.close()


def test_each_environment_may_get_its_own_options_and_seed():
    vector = VectorEnvironment([ToyEnv] * 2)
    options = [{"taskset": "toy", "split": "test", "index": i} for i in (3, 5)]
    _, infos = vector.reset(seed=[8, 8], options=options)
    assert [i["task_id"][-1] for i in infos.each.values()] != []
    assert infos["seed"].tolist() == [8, 8] and len(set(infos["task_id"])) == 2


def test_a_fault_is_reported_and_the_others_keep_their_results():
    vector = VectorEnvironment([ToyEnv, FaultyEnv, ToyEnv])
    vector.reset(seed=0, options=TASK)
    actions = [ADD % 2, "prose", ADD % 3]
    with pytest.raises(VectorFault, match="number 1: the backend is gone") as caught:
        vector.step(actions)
    assert caught.value.cause == "backend" and list(caught.value.faults) == [1]
    observations, rewards, terminated, truncated, infos = caught.value.batch
    assert "counter stands at 2" in observations[0] and "at 3" in observations[2]
    assert np.isnan(rewards[1]) and not np.isnan(rewards[[0, 2]]).any()
    assert truncated.tolist() == [False, True, False] and not terminated.any()
    assert infos["status"].tolist() == ["ongoing", "error_env", "ongoing"]
    vector.reset(options={"reset_mask": truncated, **TASK})
    vector.step([ADD % 1] * 3)


def test_faults_may_be_marked_instead():
    vector = VectorEnvironment([ToyEnv, FaultyEnv], on_fault="mark", autoreset_mode="NextStep")
    vector.reset(seed=0, options=TASK)
    *_, infos = vector.step([ADD % 1, "prose"])
    assert infos["fault"].tolist() == [None, "backend"]
    _, rewards, *_ = vector.step([ADD % 1, "prose"])
    assert rewards.tolist() == [0.0, 0.0], "the failed one was reset"


def test_nothing_is_stepped_when_one_must_be_reset_first():
    vector = VectorEnvironment([ToyEnv] * 2)
    vector.reset(seed=0, options=TASK)
    vector.step([ADD % 1, SUBMIT])
    with pytest.raises(ResetNeeded):
        vector.step([ADD % 1, SUBMIT])
    assert vector.envs[0].counter == 1


def test_infos_behave_like_a_dictionary():
    vector = VectorEnvironment([ToyEnv] * 2)
    for use in (dict, copy.deepcopy, lambda i: pickle.loads(pickle.dumps(i)), lambda i: {**i}):
        _, infos = vector.reset(seed=0, options=TASK)
        taken = use(infos)
        assert set(taken) == set(infos) and taken["turn"].tolist() == [0, 0]
    assert len(infos) > 0 and "status" in infos and infos.get("nothing") is None
    assert infos.each[1]["task_id"] == vector.envs[1].task.opaque_id


@pytest.mark.parametrize(
    "mask", [[True, False], np.array([1, 0]), np.array([True]), np.array([False, False])]
)
def test_wrong_reset_masks_are_refused(mask):
    vector = VectorEnvironment([ToyEnv] * 2)
    with pytest.raises(ValueError, match="reset_mask must be"):
        vector.reset(options={"reset_mask": mask})


def test_wrong_use_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        VectorEnvironment([])
    with pytest.raises(ValueError, match="environment 1 has different spaces"):
        VectorEnvironment([ToyEnv, lambda: ToyEnv(action_format="message")])
    vector = VectorEnvironment([ToyEnv] * 2)
    with pytest.raises(ValueError, match="got 3 seeds"):
        vector.reset(seed=[1, 2, 3])
    with pytest.raises(ValueError, match="got 1 actions for 2"):
        vector.step(["a"])
    with pytest.raises(ValueError, match="no environment 2"):
        vector.send(["a"], [2])


def test_answers_contain_what_a_single_step_returns():
    alone, vector = ToyEnv(), VectorEnvironment([ToyEnv] * 2)
    alone.reset(seed=0, options=TASK)
    vector.reset(seed=[0, 0], options=TASK)
    for action in (ADD % 2, "prose", '{"name": "nothing"}', SUBMIT):
        vector.send([action] * 2)
        expected = alone.step(action)
        for number, arrival in enumerate(vector.recv(2)):
            assert isinstance(arrival, Arrival) and arrival == (number, *expected, None)
            assert list(arrival.info) == list(expected[4])


def test_one_environment_may_be_sent_to_again_before_its_answer_is_taken():
    vector = VectorEnvironment([ToyEnv] * 2)
    vector.reset(seed=0, options=TASK)
    vector.send([ADD % 1] * 2)
    vector.send([ADD % 2], [1])
    assert [arrival.number for arrival in vector.recv(3)] == [0, 1, 1]
    observations, *_ = vector.step([ADD % 1] * 2)
    assert "stands at 2" in observations[0] and "stands at 4" in observations[1]


class Paying(gymnasium.Wrapper):
    """Adds a reward to every step and a receipt to the info."""

    def step(self, action):
        observation, reward, *rest, info = self.env.step(action)
        return observation, reward + 0.5, *rest, {**info, "paid": True}


class Signed(ToyEnv):
    """Adds its own word to the info."""

    def _step_info(self, terms):
        return {**super()._step_info(terms), "signed": 7}


@pytest.mark.parametrize(
    ("make", "reward", "extra"),
    [(lambda: Paying(ToyEnv()), 0.5, "paid"), (Signed, 0.0, "signed")],
)
def test_overridden_steps_are_called(make, reward, extra):
    vector = VectorEnvironment([ToyEnv, make])
    vector.reset(seed=0, options=TASK)
    _, rewards, _, _, infos = vector.step([ADD % 1] * 2)
    assert rewards.tolist() == [0.0, reward] and infos[f"_{extra}"].tolist() == [False, True]
    vector.send([ADD % 1] * 2)
    answers = vector.recv(2)
    assert [extra in arrival.info for arrival in answers] == [False, True]
    assert [arrival.reward for arrival in answers] == [0.0, reward]
