"""Fork, snapshot and restore through stacks of our wrappers and of Gymnasium's."""

import pickle

import gymnasium
import pytest
from gymnasium.wrappers import OrderEnforcing, RecordEpisodeStatistics, TimeLimit

from hexathlon.envs.errors import ForkUnsupported, WrongState
from hexathlon.envs.forking import fork, restore, snapshot
from hexathlon.envs.wrappers import ChatHistory, EpisodeRecorder, StepTimeout, TokenBudget
from support.drill import TASK as DRILL
from support.drill import DrillEnv, walk
from support.toy import ADD, SUBMIT, ToyEnv

TASK = {"task": "toy/count/easy/test/00003"}
ACTIONS = [ADD % 1, "prose", ADD % 2, ADD % 3, SUBMIT]


def stack(env=None):
    env = TimeLimit(TokenBudget(env or ToyEnv(), budget=400, count="all"), 6)
    env = EpisodeRecorder(OrderEnforcing(env))
    return ChatHistory(StepTimeout(env, 5.0))


def run(env, actions):
    seen = []
    for action in actions:
        seen.append(env.step(action))
        if seen[-1][2] or seen[-1][3]:
            break
    return seen


@pytest.mark.parametrize("build", [ToyEnv, stack, lambda: TimeLimit(ToyEnv(), 3)])
@pytest.mark.parametrize("prefix", range(4))
def test_forks_see_the_same_bytes_and_do_not_affect_the_parent(build, prefix):
    alone, env = build(), build()
    for each in (alone, env):
        each.reset(seed=3, options=TASK)
        run(each, ACTIONS[:prefix][:2])
    clones = fork(env, 3)
    rest = ACTIONS[prefix:]
    seen = [run(clone, rest) for clone in clones]
    assert seen[0] == seen[1] == seen[2]
    assert run(env, rest) == seen[0] == run(alone, rest)


def test_counters_of_wrappers_are_forked_too():
    env = TimeLimit(TokenBudget(ToyEnv(), budget=10_000), max_episode_steps=3)
    env.reset(seed=0, options=TASK)
    env.step(ADD % 1)
    (clone,) = fork(env)
    assert not clone.step(ADD % 1)[3] and clone.step(ADD % 1)[3]
    assert not env.step(ADD % 1)[3], "the parent's own counter did not move"
    assert clone.get_wrapper_attr("used") == 3 * len(ADD % 1)
    assert env.get_wrapper_attr("used") == 2 * len(ADD % 1)


def test_a_wrapper_that_references_its_environment_references_the_copy():
    env = RecordEpisodeStatistics(ToyEnv())
    env.reset(seed=0, options=TASK)
    env.kept = [env, env.unwrapped, env.unwrapped.step]
    (clone,) = fork(env)
    assert clone.kept[0] is clone and clone.kept[1] is clone.unwrapped
    assert clone.kept[2].__self__ is clone.unwrapped and clone.unwrapped is not env.unwrapped


def test_snapshot_and_restore_any_number_of_times():
    env = stack()
    env.reset(seed=3, options=TASK)
    run(env, ACTIONS[:2])
    state = snapshot(env)
    expected = run(env, ACTIONS[2:])
    for target in (env, stack()):
        if target is not env:
            target.reset(seed=9)
        for _ in range(2):
            restore(target, state)
            assert run(target, ACTIONS[2:]) == expected


def test_states_can_be_pickled():
    env = stack()
    env.reset(seed=3, options=TASK)
    state = pickle.loads(pickle.dumps(snapshot(env)))
    expected = run(env, ACTIONS)
    other = stack()
    other.reset(seed=1)
    restore(other, state)
    assert run(other, ACTIONS) == expected


def test_a_state_of_another_stack_is_refused():
    env = stack()
    env.reset(seed=3, options=TASK)
    with pytest.raises(WrongState, match="TimeLimit"):
        restore(ToyEnv(), snapshot(env))


def test_an_environment_that_cannot_fork_says_why():
    class Rigid(ToyEnv):
        supports_fork = False
        fork_obstacle = "the browser's process cannot be copied"

    with pytest.raises(ForkUnsupported, match="the browser's process cannot be copied"):
        fork(TimeLimit(Rigid(), 3))
    with pytest.raises(ForkUnsupported, match=r"CartPoleEnv has no fork\(\)"):
        snapshot(gymnasium.make("CartPole-v1"))


def test_a_wrapper_with_something_that_cannot_be_copied_is_named():
    env = TimeLimit(ToyEnv(), 3)
    env.reset(seed=0, options=TASK)
    env.stream = (line for line in "generators cannot be copied")
    with pytest.raises(ForkUnsupported, match="wrapper TimeLimit has an attribute"):
        fork(env)


def test_coroutine_environments_fork_with_their_image():
    env = stack(DrillEnv())
    env.reset(seed=0, options={"task": DRILL})
    env.step(walk(2))
    (clone,) = fork(env)
    assert clone.step(walk(1)) == env.step(walk(1))
    assert (clone.unwrapped.frame() == env.unwrapped.frame()).all()
    clone.close()
    env.close()
