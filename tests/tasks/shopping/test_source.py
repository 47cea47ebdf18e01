"""The generator of shopping tasks: addresses, purity, twins, languages, and soundness."""

import json
import re
import subprocess
import sys
from collections import Counter

import pytest

from hexathlon.envs.shopping.env import ShoppingEnv
from hexathlon.tasks.catalogue import Constraint
from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.shopping.scene import answering
from hexathlon.tasks.shopping.templates.table import TEMPLATES, templates_of
from hexathlon.tasks.shopping.world.facts import group_of
from hexathlon.tasks.shopping.world.settings import open_settings
from hexathlon.tasks.task import LEVELS, Task
from hexathlon.tasks.taskset import TaskSet, build_task
from support.shop import played

SOURCE = get_source("shopping")


def tasks_of(level: str = "tiny", split: str = "dev", count: int | None = None) -> list[Task]:
    number = 2 * len(templates_of(level)) if count is None else count  # type: ignore[arg-type]
    return [SOURCE.build(SOURCE.address(split, i, level)) for i in range(number)]  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def tiny() -> list[Task]:
    """Every tiny template, both sides."""
    return tasks_of()


def test_there_are_enough_templates_at_every_level():
    assert len(TEMPLATES) >= 24
    assert all(len(templates_of(level)) >= 24 for level in LEVELS if level != "hard")
    # At `hard`, every task is a whole day or month.
    assert {TEMPLATES[name].group for name in templates_of("hard")} == {"month", "shift"}


def test_a_prefix_covers_levels_and_templates():
    ids = list(TaskSet("shopping", "test").ids(16 * len(templates_of("medium"))))
    assert Counter(task_id.split("/")[2] for task_id in ids).keys() == set(LEVELS)
    assert {task_id.split("/")[1] for task_id in ids} == set(TEMPLATES)


def test_a_task_is_a_function_of_its_id_in_every_process(tiny):
    code = (
        "import sys, hexathlon.tasks.taskset as t;"
        "print(' '.join(t.build_task(i).hash for i in sys.argv[1:]))"
    )
    ids = [task.id for task in tiny[:12]]
    out = subprocess.run(
        [sys.executable, "-c", code, *ids], capture_output=True, text=True, check=True
    )
    assert out.stdout.split() == [task.hash for task in tiny[:12]]


def test_both_languages_and_all_four_settings_occur(tiny):
    assert {task.params["language"] for task in tiny} == {"en", "zh"}
    settings = {("user" in task.params, "profile" in task.params) for task in tiny}
    assert settings == {(False, False), (False, True), (True, False), (True, True)}


def test_twins_share_the_request_or_the_facts_and_differ_in_what_is_right(tiny):
    twins = [(a, b) for a, b in zip(tiny[::2], tiny[1::2], strict=True) if a.twin]
    assert len(twins) >= 15
    for first, second in twins:
        assert (first.twin, second.twin) == (second.id, first.id)
        truths = [task.checks[0].params for task in (first, second)]
        kept = ("orders", "changes", "answer")
        assert [truths[0][k] for k in kept] != [truths[1][k] for k in kept], first.id


def test_which_twin_is_refused_is_drawn_for_each_pair(tiny):
    refused = [bool(task.checks[0].params["answer"]) for task in tiny]
    pairs = [pair for pair in zip(refused[::2], refused[1::2], strict=True) if pair[0] != pair[1]]
    first = sum(pair[0] for pair in pairs)
    assert len(pairs) >= 10 and 1 <= first <= len(pairs) - 1


@pytest.mark.parametrize("level", ["tiny", "medium"])
def test_the_list_of_orders_does_not_tell_the_side(level):
    templates = ("cancel", "change_address", "change_item", "not_owner",
                 "return_window", "return_plus", "return_refund", "late_delivery")  # fmt: skip
    for template in templates:
        for first, second in pairs_of(template, level, 6):
            assert listed(first, template) == listed(second, template), first.id


def pairs_of(template: str, level: str, count: int) -> list[tuple[Task, Task]]:
    starts = [
        start
        for start in range(0, 4 * count * len(templates_of(level)), 2)  # type: ignore[arg-type]
        if SOURCE.address("dev", start, level).split("/")[1] == template  # type: ignore[arg-type]
    ][:count]
    assert len(starts) == count
    return [
        tuple(SOURCE.build(SOURCE.address("dev", start + i, level)) for i in (0, 1))  # type: ignore[arg-type,misc]
        for start in starts
    ]


def listed(task: Task, template: str) -> tuple:
    """What the customer's list of orders tells: their number, states, and lateness."""
    records = {key: record for _, key, record in task.params["patch"]}
    customer = next(record for key, record in records.items() if key.startswith("C"))
    orders = [records[order] for order in customer["orders"]]
    policy = task.params["policy"]
    more = policy["plus_days"] if customer["tier"] == "plus" else 0
    days = policy["cash_days"] if template == "return_refund" else policy["return_days"] + more
    meant = task.checks[0].params["plan"]["orders"][:4]
    ours = [record for key, record in records.items() if key in meant]
    delivered = [order for order in ours if order["delivered"] is not None]
    beyond = late = 0
    if template.startswith("return"):
        beyond = sum(-order["delivered"] > days for order in delivered)
    if template == "late_delivery":
        waits = (order["delivered"] - order["promised"] for order in delivered)
        late = sum(wait > policy["late_days"] for wait in waits)
    return len(orders), Counter(order["status"] for order in orders), beyond, late


def test_order_numbers_are_not_repeated_between_tasks():
    numbers: Counter[str] = Counter()
    for template in ("cancel", "return_window", "same_as_last", "seller_as_last"):
        for pair in pairs_of(template, "tiny", 5):
            told = json.dumps([pair[0].params.get("patch"), pair[0].params.get("history")])
            numbers.update(set(re.findall(r"\bO\d+", told)))
    assert len(numbers) > 60 and set(numbers.values()) == {1}


def test_clerks_who_ignore_the_policy_never_serve_both_twins():
    env, won = ShoppingEnv(), Counter()
    pairs = [pair for name in ("cancel", "return_window", "exchange", "late_delivery")
             for pair in pairs_of(name, "tiny", 2)]  # fmt: skip
    for pair in pairs:
        for name in ("always_does", "always_declines"):
            scores = [played(env, task.id, SOURCE.one_sided(task)[name]) for task in pair]
            assert sum(scores) == 1.0, (pair[0].id, name)
            won[name] += 1
    assert set(won.values()) == {len(pairs)}


def test_twins_of_preference_differ_only_in_a_profile_fact(tiny):
    first, second = (task for task in tiny if task.template == "preference")
    assert first.instruction == second.instruction
    differing = [
        (a, b)
        for a, b in zip(first.params["profile"], second.params["profile"], strict=True)
        if a != b
    ]
    assert len(differing) == 1


def test_the_right_answer_of_one_twin_is_wrong_for_the_other(tiny):
    env = ShoppingEnv()
    twins = [(a, b) for a, b in zip(tiny[::2], tiny[1::2], strict=True) if a.twin]
    for first, second in twins:
        if first.template.startswith("dialogue") or first.params["world"] == "service":
            continue
        assert played(env, second.id, SOURCE.oracle(first)) == 0.0, second.id


def test_requests_have_exactly_one_answer_by_plain_facts(tiny):
    checked = 0
    for task in tiny:
        truth = task.checks[0].params
        if task.params["world"] != "store" or len(truth["orders"]) != 1:
            continue
        if task.template in ("stock", "bundle"):  # decided by stock and by the total
            continue
        catalogue = open_settings(task.params).catalogue
        for wish, line in zip(truth["wanted"], truth["orders"][0]["lines"], strict=True):
            constraints = [Constraint.from_json(item["constraint"]) for item in wish]
            family = catalogue.product(line["product"]).family
            assert answering(catalogue, family, constraints) == [line["variant"]], task.id
            checked += 1
    assert checked > 20


@pytest.mark.parametrize("kind", ["oracle", "alternatives", "mutants", "noop"])
def test_every_tiny_template_is_sound(tiny, kind):
    env = ShoppingEnv()
    for task in tiny:
        if kind == "oracle":
            assert played(env, task.id, SOURCE.oracle(task)) == 1.0, task.id
        elif kind == "noop":
            assert played(env, task.id, None) == 0.0, task.id
        elif kind == "alternatives":
            scripts = SOURCE.alternatives(task)
            assert scripts
            for name, script in scripts.items():
                assert played(env, task.id, script) == 1.0, (task.id, name)
        else:
            scripts = SOURCE.mutants(task)
            assert len(scripts) >= 3, task.id
            for name, script in scripts.items():
                assert played(env, task.id, script) == 0.0, (task.id, name)
                assert env.verdict().evidence["faults"], (task.id, name)


def test_trivial_shoppers_stay_at_the_floor(tiny):
    env = ShoppingEnv()
    scores: dict[str, list[float]] = {}
    for task in tiny:
        for name, script in SOURCE.policies(task).items():
            scores.setdefault(name, []).append(played(env, task.id, script))
    assert set(scores) == {
        "first_hit", "buy_random", "dump", "always_refuse", "majority", "first_number",
    }  # fmt: skip
    for name, values in scores.items():
        # A hundred tasks only; the floor of 2 % is checked on a thousand by the self-test.
        assert sum(values) / len(values) <= 0.04, name


def test_impossible_tasks_need_reason_and_record(tiny):
    impossible = [task for task in tiny if task.checks[0].params["answer"]]
    assert len({task.checks[0].params["answer"]["reason"] for task in impossible}) >= 6
    for task in impossible:
        answer = task.checks[0].params["answer"]
        assert answer["records"] and task.twin
        assert task.checks[0].params["orders"] == []
        assert SOURCE.build(task.twin).checks[0].params["answer"] is None


def test_splits_shop_in_different_catalogues():
    seeds = {
        split: {
            SOURCE.build(SOURCE.address(split, i, "tiny")).params["catalogue"]["seed"]
            for i in range(6)
        }
        for split in ("dev", "test", "train")
    }
    assert not set.intersection(*seeds.values()) and len(set.union(*seeds.values())) >= 3


def test_held_out_tasks_follow_the_salt():
    task_id = SOURCE.address("heldout", 0, "tiny")
    first, again, other = (build_task(task_id, salt) for salt in ("a", "a", "b"))
    assert first.hash == again.hash != other.hash
    with pytest.raises(UnknownTask):
        build_task(task_id)


@pytest.mark.parametrize(
    "task_id",
    [
        "shopping/nothing/tiny/dev/00000",
        "shopping/exact/tiny/dev/00002",
        "shopping/exact/tiny/dev/99999",
        "shopping/far_page/tiny/dev/00000",
    ],
)
def test_wrong_ids_are_refused(task_id):
    with pytest.raises(UnknownTask):
        SOURCE.build(task_id)


def test_the_truth_is_not_visible_to_the_agent(tiny):
    for task in tiny:
        shown = task.instruction + json.dumps([tool.model_dump() for tool in task.tools])
        assert task.canary not in shown
        for line in [line for o in task.checks[0].params["orders"] for line in o["lines"]]:
            assert line["variant"] not in shown and line["product"] not in shown, task.id


def faults_of(env: ShoppingEnv, task: Task, mutant: str) -> list[str]:
    assert played(env, task.id, SOURCE.mutants(task)[mutant]) == 0.0
    return env.verdict().evidence["faults"]


def test_each_near_miss_is_attributed_to_its_fault(tiny):
    env, seen = ShoppingEnv(), Counter()
    for task in tiny:
        truth = task.checks[0].params
        if task.params["world"] != "store" or len(truth["wanted"]) != 1:
            continue
        named = {
            item["constraint"]["name"]: group_of(Constraint.from_json(item["constraint"]))
            for item in truth["wanted"][0]
        }
        for label in SOURCE.mutants(task):
            name = label.removesuffix(" is off")
            if label.endswith(" is off") and name in named:
                assert named[name] in faults_of(env, task, label), (task.id, label)
                seen[named[name]] += 1
    assert set(seen) >= {"attribute", "option", "price"}


@pytest.mark.parametrize(
    ("template", "mutant", "fault"),
    [
        ("preference", "the other twin's target", "personal_ignored"),
        ("same_as_last", "the other twin's target", "personal_ignored"),
        ("override", "the other twin's target", "personal_overused"),
        ("dialogue_against_profile", "as the profile has it", "personal_overused"),
        ("dialogue_ask", "bought after a rejection", "bought_after_rejection"),
        ("dialogue_ask", "without confirmation", "unconfirmed"),
        ("exact", "one too many", "other_change"),
        ("exact", "reported instead", "wrong_answer"),
        ("cancel", "nothing done", "nothing_done"),
        ("dialogue_cancel", "without confirmation", "unconfirmed"),
    ],
)
def test_faults_of_whole_episodes_have_their_names(tiny, template, mutant, fault):
    task = next(t for t in tiny if t.template == template and mutant in SOURCE.mutants(t))
    assert fault in faults_of(ShoppingEnv(), task, mutant)


def test_buying_without_opening_the_page_is_named_even_if_right(tiny):
    env = ShoppingEnv()
    task = next(task for task in tiny if task.template == "exact")
    assert played(env, task.id, SOURCE.alternatives(task)["without looking"]) == 1.0
    assert env.verdict().evidence["faults"] == ["bought_unseen"]
