"""Days at the counter: oracle, alternatives, near misses, gaps, and how days differ by split."""

import json
import re
from collections import Counter

import pytest

from hexathlon.envs.shopping.env import ShoppingEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.shopping.templates.shifts.day import HUMAN_TRAPS, TRAIN_TRAPS, TRAPS
from hexathlon.tasks.shopping.templates.table import TEMPLATES
from hexathlon.tasks.shopping.world.shift.lapses import LAPSES
from hexathlon.tasks.source import play
from hexathlon.tasks.task import Split, Task
from support.shop import call, played

SOURCE = get_source("shopping")
SHIFTS = [name for name, template in TEMPLATES.items() if template.group == "shift"]


def days_of(split: Split, count: int) -> list[Task]:
    ids = (SOURCE.address(split, i, "hard") for i in range(20 * count))
    return [SOURCE.build(i) for i in [i for i in ids if i.split("/")[1] in SHIFTS][:count]]


@pytest.fixture(scope="module")
def days() -> list[Task]:
    """Two days of every template."""
    return days_of("test", 8)


@pytest.fixture(scope="module")
def env() -> ShoppingEnv:
    return ShoppingEnv()


def test_the_groups_of_templates_share_the_hard_tasks_of_every_split():
    for split in ("train", "dev", "test"):
        names = [SOURCE.address(split, i, "hard").split("/")[1] for i in range(300)]
        groups = Counter(TEMPLATES[name].group for name in names)
        assert groups == {"month": 224, "shift": 76}
        # All templates have tasks, and pairs keep their template.
        assert set(names) == {name for name, t in TEMPLATES.items() if "hard" in t.levels}
        assert names[::2] == names[1::2]


def test_easier_levels_have_no_days():
    ids = [
        SOURCE.address("test", i, level) for level in ("tiny", "easy", "medium") for i in range(200)
    ]
    assert not any(i.split("/")[1] in SHIFTS for i in ids)


def test_the_oracle_and_its_alternatives_are_right(days, env):
    for task in days:
        assert played(env, task.id, SOURCE.oracle(task)) == 1.0, task.id
        assert env.verdict().partial == 1.0
        for name, script in SOURCE.alternatives(task).items():
            assert played(env, task.id, script) == 1.0, (task.id, name)


def test_every_near_miss_is_wrong(days, env):
    labels: Counter[str] = Counter()
    for task in days[::2]:
        mutants = SOURCE.mutants(task)
        assert len(mutants) >= 8
        for name, script in mutants.items():
            assert played(env, task.id, script) == 0.0, (task.id, name)
            labels[re.sub(r"[\d/]+|\(.*\)|[OPC]\w{6,}\S*", "", name)] += 1
    assert len(labels) > 15


def test_trivial_clerks_are_wrong_and_get_no_credit_for_most_cases(days, env):
    for task in days:
        for name, script in SOURCE.policies(task).items():
            assert played(env, task.id, script) == 0.0, (task.id, name)
            partial = env.verdict().partial
            assert partial is not None and partial <= 0.5, (task.id, name)


def test_a_day_has_seven_to_nine_gaps_that_nothing_announces(days):
    for task in days:
        traps = task.checks[0].params["traps"]
        assert 7 <= len(traps) <= 9 and set(traps) <= set(TRAPS), task.id
        affected = [key for defect in task.params["defects"] for key in defect["affects"]]
        assert len(affected) == len(set(affected)) and len(task.params["defects"]) >= 4
        shown = task.instruction + json.dumps(task.params["cases"][0]["says"])
        assert not any(trap in shown for trap in traps)


def test_three_gaps_or_more_affect_records_of_closed_cases_while_someone_else_is_there(days):
    for task in days:
        cases, closes = task.params["cases"], task.checks[0].params["closes"]
        late = [defect for defect in task.params["defects"] if defect["kind"] in LAPSES]
        assert len(late) >= 3
        for defect in late:
            agreed = {key for close in closes[: defect["case"]] for key in close["changes"]}
            assert agreed.issuperset(defect["affects"]), (task.id, defect)
            assert not set(defect["affects"]) & set(_of_accounts(cases[defect["case"]]))


def _of_accounts(case: dict) -> list[str]:
    return [f"{table}/{key}" for table in ("customers", "cards", "baskets")
            for key in case["accounts"]]  # fmt: skip


def test_a_third_of_the_kinds_of_gaps_is_held_out_of_train():
    held_out = set(TRAPS) - set(TRAIN_TRAPS)
    assert 3 * len(held_out) >= len(TRAPS) and len(set(TRAIN_TRAPS) - set(HUMAN_TRAPS)) >= 9
    assert held_out & set(LAPSES) and set(LAPSES) - held_out
    seen = {kind for task in days_of("train", 6) for kind in task.checks[0].params["traps"]}
    assert len(seen) >= 9 and seen <= set(TRAIN_TRAPS)


def test_days_have_ten_customers_four_or_five_of_whom_come_back(days):
    for task in days:
        cases = task.params["cases"]
        accounts = [tuple(case["accounts"]) for case in cases]
        assert len(cases) == 10 and len(set(accounts)) in (5, 6)
        assert [case["at"] for case in cases] == sorted({case["at"] for case in cases})


def observations_of(task: Task, env: ShoppingEnv) -> list[str]:
    """Play the oracle and return the opening and the observations."""
    opening, _ = env.reset(seed=0, options={"task": task.id})
    heard = [opening]

    def respond(action: str) -> str | None:
        observation, _, terminated, truncated, _ = env.step(action)
        heard.append(observation)
        return None if terminated or truncated else observation

    play(SOURCE.oracle(task), respond)
    return heard


def test_the_budget_is_little_more_than_the_oracle_needs_and_is_stated(days, env):
    for task in days[:2]:
        actions = len(observations_of(task, env)) - 1
        assert 1.14 <= task.limits.turns / actions <= 1.17
        assert str(task.limits.turns) in task.instruction


def test_every_close_is_judged_not_only_the_end(days, env):
    """A record that is right in the end but was wrong when an earlier case was closed."""
    task = next(t for t in days if _first_write(t) is not None)
    late = [json.loads(action) for action in _actions(env, task)]
    first_close = next(i for i, action in enumerate(late) if action["name"] == "finish_case")
    place = late.index(_first_write(task))
    moved = late.pop(place)
    late.insert(first_close, moved)  # after the first close
    env.reset(seed=0, options={"task": task.id})
    for action in late:
        _, _, terminated, truncated, _ = env.step(json.dumps(action, ensure_ascii=False))
        if terminated or truncated:
            break
    verdict = env.verdict()
    assert verdict.score == 0.0 and verdict.evidence["cases"][0]["case"] == 1


def _first_write(task: Task) -> dict | None:
    """Return a call that only the first customer's case needs, if it closes at the first try."""
    if task.params["cases"][0]["last"]:
        return None
    plan = task.checks[0].params["plans"][0]["actions"]
    writes = [(n, a) for n, a in plan if n in ("decline", "set_note")]
    return {"name": writes[-1][0], "arguments": writes[-1][1]} if writes else None


def _actions(env: ShoppingEnv, task: Task) -> list[str]:
    actions: list[str] = []
    env.reset(seed=0, options={"task": task.id})
    script = SOURCE.oracle(task)
    try:
        action = next(script)
        while True:
            actions.append(action)
            action = script.send(env.step(action)[0])
    except StopIteration:
        return actions


def test_a_fork_in_the_middle_of_a_day_continues_like_its_parent(days, env):
    task = days[0]
    actions = _actions(env, task)
    env.reset(seed=0, options={"task": task.id})
    half = len(actions) // 2
    for action in actions[:half]:
        env.step(action)
    (fork,) = env.fork(1)
    state = env.snapshot()
    first = [env.step(action)[0] for action in actions[half:]]
    second = [fork.step(action)[0] for action in actions[half:]]
    assert first == second and fork.verdict().score == 1.0
    env.restore(state)
    assert [env.step(action)[0] for action in actions[half:]] == first


def test_nothing_that_an_agent_sees_holds_reference_actions_or_gaps(days, env):
    for task in days[:4]:
        tools = json.dumps([tool.model_dump() for tool in task.tools])
        shown = "\n".join([*observations_of(task, env), tools])
        assert all(defect["order"] in shown for defect in task.params["defects"])
        for hidden in (task.canary, "plans", "defects", "slips"):
            assert hidden not in shown


def test_prose_and_wrong_calls_do_not_end_a_day(days, env):
    task = days[0]
    env.reset(seed=0, options={"task": task.id})
    for action in (
        "Good morning!",
        call("show_order", order="O1"),
        call("return_lines", order="O1", lines=[]),
        call("decline", reason="taste", record="x", rule="R1"),
        call("show_orders", orders=["a"] * 7),
        call("finish_case"),
    ):
        _, _, terminated, truncated, _ = env.step(action)
        assert not terminated and not truncated
    assert env.final_state()["closes"] == []


def test_customers_speak_both_languages(days):
    languages = {task.params["language"] for task in days}
    assert languages == {"en", "zh"}
    for task in days:
        chinese = any("\u4e00" <= c <= "\u9fff" for c in task.params["cases"][0]["says"])
        assert chinese == (task.params["language"] == "zh")
