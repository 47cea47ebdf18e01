"""Shifts: successive requests in one world."""

import json
from functools import cache

import pytest

from hexathlon.envs.web.env import WebEnv
from hexathlon.envs.web.twin.twin import TwinBrowser
from hexathlon.evaluators.web.state import web_state
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import play
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.source import _draft_of
from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.templates.mailbox import Mailbox, compose
from hexathlon.tasks.web.templates.shifts.handbook import _condition
from hexathlon.tasks.web.templates.shifts.ledger import kept
from hexathlon.tasks.web.templates.shifts.plans import PlanTerms
from hexathlon.tasks.web.templates.shifts.records import in_order
from hexathlon.tasks.web.templates.shifts.templates import TEMPLATES
from hexathlon.tasks.web.templates.table import templates_of
from hexathlon.tasks.web.world.looks import LOOKS
from hexathlon.tasks.web.world.network import Network
from support.web_clerk import clerk_of, day_of
from support.web_pages import check_scripts, reward_of, task_ids

NAMES = [template.name for template in TEMPLATES]
FINISH = json.dumps({"name": "finish", "arguments": {"task_type": "MUTATE"}})


@pytest.fixture
def env():
    made = WebEnv()
    yield made
    made.close()


@cache
def built(task_id):
    """Return a task; a day takes half a second to build, and tests share days."""
    return get_source("web").build(task_id)


def first_task(template="shift_office", split="train"):
    return built(task_ids(template, "hard", split, count=1)[0])


def played(env, task, script):
    env.reset(seed=7, options={"task": task.id})
    terms, seen = {}, []

    def respond(action):
        observation, _, terminated, truncated, info = env.step(action)
        seen.append(observation)
        terms.update(info["reward_terms"])
        return None if terminated or truncated else observation

    actions = play(script, respond)
    return terms, seen, actions


@pytest.mark.parametrize("template", NAMES)
def test_oracle_alternative_and_some_near_misses(env, template):
    source = get_source("web")
    task = first_task(template)
    assert reward_of(env, task.id, source.oracle(task)) == 1
    for script in source.alternatives(task).values():
        assert reward_of(env, task.id, script) == 1
    mutants = source.mutants(task)
    for name in ("never_made_up", "others_overwritten", sorted(mutants)[0]):
        assert reward_of(env, task.id, mutants[name]) == 0, name


@pytest.mark.slow
@pytest.mark.parametrize("split", ["train", "dev", "test"])
@pytest.mark.parametrize("template", NAMES)
def test_scripts_of_more_tasks(template, split):
    for task_id in task_ids(template, "hard", split, count=8):
        check_scripts(task_id)


def test_level_hard_is_shifts():
    assert len(NAMES) >= 12
    assert set(templates_of("hard")) == set(NAMES)


@pytest.mark.parametrize("template", NAMES[::2])
def test_every_shift_has_the_near_misses_that_matter(template):
    source = get_source("web")
    for task_id in task_ids(template, "hard", "dev", count=1):
        mutants = set(source.mutants(built(task_id)))
        needed = {"never_made_up", "morning_pages", "grants_ignored", "others_overwritten"}
        needed |= {"charges_ignored", "savings_ignored", "hasty_plans", "exchanged_plans"}
        needed |= {"plan_sent_once", "undelivered_left", "undone_left", "pace_ignored"}
        assert needed | {"miscounted", "not_sent", "never_looked_again"} <= mutants
        assert sum(name.endswith("_unseen") for name in mutants) >= 3
        assert len(mutants) >= 10


def test_the_number_of_mails_that_count_varies():
    """Neither always one of several nor always the same place: nothing to learn by heart."""
    tasks = (built(each) for name in NAMES for each in task_ids(name, "hard", "dev", 2))
    numbers = set[int]()
    for task in tasks:
        numbers.add(task.checks[0].params["answer"]["data"][-1])
        if len(numbers) == 4:
            return
    pytest.fail(f"only {sorted(numbers)} of the mails count")


def test_some_kinds_of_requests_never_occur_in_training():
    held_out = (
        ("because that record is held now", "因被冻结而没有它所要求的值"),
        ("The request in force that names", "指定了值的有效请求"),
    )

    def occurring(split, names):
        """Yield which of the kinds have occurred after each task."""
        text = ""
        for name in names:
            for each in task_ids(name, "hard", split, count=2):
                text += "\n".join(late["text"] for late in built(each).params["requests"])
                yield [any(part in text for part in parts) for parts in held_out]

    assert list(occurring("train", NAMES[::4]))[-1] == [False, False]
    assert any(all(kinds) for kinds in occurring("test", NAMES))


def test_a_day_says_how_it_ends_and_how_numbers_are_reported():
    languages = set()
    for name in NAMES[::4]:
        for task_id in task_ids(name, "hard", "test", count=2):
            task = built(task_id)
            *_, last = [each["text"] for each in task.params["requests"]]
            zh = "个操作" in task.instruction
            languages.add(zh)
            assert ("最后一个请求会写明它是最后一个" if zh else
                    "The last one says that it is the last request") in task.instruction  # fmt: skip
            assert '["#9", "#10"]' in task.instruction
            assert ("最后一个请求：" if zh else "The last request: ") in last
            count = len(task.checks[0].params["answer"]["data"])
            assert str(list(range(10, 10 + count))) in last
    assert languages == {True, False}


def test_words_that_differ_between_pages_are_explained_where_they_are_used():
    texts = [text for name in NAMES[::4] for task_id in task_ids(name, "hard", "test", count=2)
             for task in [built(task_id)]
             for text in (task.instruction, *(each["text"] for each in task.params["requests"]))
             if "planned events" in text or "已计划的" in text]  # fmt: skip
    assert texts
    for text in texts:
        assert '"planned", "takes place", "on" or "scheduled"' in text or (
            "“已安排”、“如期举行”、“有效”或“已排定”" in text
        )


def test_a_rebate_is_granted_once_for_each_firm():
    english, chinese = _condition(PlanTerms(9, 3, rebate=210))
    assert "takes €210 off, once for all of its works together." in english
    assert "每家减收210欧元，按公司总共只减一次。" in chinese


def test_two_shifts_of_a_template_differ_in_their_course():
    courses = set()
    for task_id in task_ids("shift_office", "hard", count=8):
        draft = _draft_of(built(task_id))
        statuses = tuple(each.answer.status for each in draft.requests)
        edits = tuple(tuple(values[-1] for _, _, values in each.edits) for each in draft.requests)
        courses.add((statuses, tuple(map(len, edits))))
    assert len(courses) >= 6


def test_the_next_request_is_the_answer_to_a_report(env):
    task = first_task()
    later = [each["text"] for each in task.params["requests"]]
    screen, _ = env.reset(seed=1, options={"task": task.id})
    assert not any(text in screen for text in later)
    say = json.dumps({"name": "send_msg_to_user", "arguments": {"text": "What was it?"}})
    assert task.instruction in env.step(say)[0]
    for text in later:
        observation, reward, terminated, _, _ = env.step(FINISH)
        assert text in observation and reward == 0 and not terminated
        assert text in env.step(say)[0]
    _, reward, terminated, _, info = env.step(FINISH)
    assert terminated and reward == 0
    assert info["reward_terms"]["ended"] == 1


def test_partial_credit_is_the_share_of_requests_that_are_right(env):
    source = get_source("web")
    task = first_task()
    terms, _, _ = played(env, task, source.mutants(task)["miscounted"])
    requests = {name: met for name, met in terms.items() if name.startswith("request ")}
    wrong = [name for name, met in requests.items() if not met]
    assert wrong == [f"request {len(requests)}"]
    assert env.verdict().partial == pytest.approx(1 - 1 / len(requests))


def assert_the_clerk_finishes(env, task_id):
    """He has what pages show, no more, and a little more actions than he needs."""
    task, script = clerk_of(task_id)
    terms, seen, actions = played(env, task, script)
    assert env.verdict().score == 1, (task_id, {name for name, met in terms.items() if not met})
    assert 1.03 * actions <= task.limits.turns <= 1.2 * actions, (task_id, actions)
    assert f"Actions left: {task.limits.turns - actions + 2}\n" in seen[-3]
    told = (f" {task.limits.turns} actions ", f"{task.limits.turns}个操作")
    assert any(each in task.instruction for each in told)


@pytest.mark.parametrize("template", NAMES[::4])
def test_a_clerk_who_knows_only_what_pages_show_finishes_within_the_budget(env, template):
    assert_the_clerk_finishes(env, task_ids(template, "hard", "test", count=1)[0])


@pytest.mark.parametrize("task_id", task_ids("shift_incident", "hard", "test", count=2))
def test_other_people_never_give_a_value_that_the_agent_gives_on_that_day(task_id):
    """It could be an effect of the agent's own save for whoever looks only after that."""
    _, day = day_of(task_id)
    steps = [each.step for each in day.requests]
    others = {
        (job.field, job.noun, str(values)) for step in steps for job, _, values in step.others
    }
    assert others and not others & kept(steps)[0].used


@pytest.mark.slow
@pytest.mark.parametrize("template", NAMES)
def test_the_clerk_on_more_tasks(env, template):
    for task_id in task_ids(template, "hard", "test", count=16):
        assert_the_clerk_finishes(env, task_id)


def test_turns_are_a_small_multiple_of_what_the_oracle_does(env):
    task = first_task("shift_moving", "test")
    _, _, actions = played(env, task, get_source("web").oracle(task))
    assert 110 <= actions <= 290
    assert 1.1 * actions <= task.limits.turns < 1.1 * actions + 10


def test_the_mail_with_the_plan_does_not_arrive_at_first(env):
    """The notice is the only word of it; without a second mail the day is lost."""
    source, task = get_source("web"), first_task("shift_moving")
    _, seen, _ = played(env, task, source.oracle(task))
    assert env.verdict().score == 1
    assert any("could not be delivered" in each or "未能送达" in each for each in seen)
    _, seen, _ = played(env, task, source.mutants(task)["undelivered_left"])
    assert env.verdict().score == 0


def test_changes_by_other_people_are_not_the_agents(env):
    """Rules and mails arrive in the course of the day; a day without work changes nothing."""
    task = first_task()
    env.reset(seed=1, options={"task": task.id})
    for _ in range(1 + len(task.params["requests"])):
        env.step(FINISH)
    state = env.final_state()
    assert state["changes"] == {}
    assert any(each["edits"] for each in task.params["requests"])
    assert len(state["reports"]) == 1 + len(task.params["requests"])


def test_a_fork_continues_the_same_day(env):
    source = get_source("web")
    task = first_task("shift_project")
    env.reset(seed=7, options={"task": task.id})
    script, forked, seen = source.oracle(task), None, {"parent": [], "fork": []}
    action = next(script)
    while True:
        observation, _, terminated, _, info = env.step(action)
        seen["parent"].append(observation)
        if forked is not None:
            copy, _, _, _, _ = forked.step(action)
            seen["fork"].append(copy)
        if terminated:
            break
        if forked is None and task.params["requests"][1]["text"] in observation:
            forked = env.fork(1)[0]
            seen["parent"].clear()
        action = script.send(observation)
    assert forked is not None and seen["fork"] == seen["parent"]
    assert forked.final_state() == env.final_state()
    assert info["reward_terms"]["changes"] == 1
    forked.close()


def test_labels_have_the_same_order_by_number_and_by_letters():
    assert in_order(["#10", "#9"]) == ["#9", "#10"]
    assert in_order(["K2001", "K1999"]) == ["K1999", "K2001"]
    assert in_order(["E5000", "K2000"]) is None


@pytest.mark.parametrize("way", ["anew", "from the returned mail"])
def test_a_returned_mail_may_be_sent_again_in_any_way(way):
    scene = WebScene(generator_for("returned"), "hard", "train", "en", True, 5)
    plan = scene.plan("mail")
    box = Mailbox(scene, plan)
    to = box.people[3].email
    fault = ("mail", "INSERT INTO _faults (address) VALUES (?)", (to,))
    network, browser = Network(plan.with_edits([fault]), LOOKS[next(iter(LOOKS))]), TwinBrowser()
    browser.open(network)

    def respond(action):
        call = json.loads(action)
        browser.act(call["name"], call["arguments"])
        network.after_action()
        return browser.view().text

    def script(pilot):
        yield from compose(pilot, [to], "Plan", "O-12, O-45")
        for _ in range(5):
            yield from pilot.goto("mail", "/folder/inbox")
        if way == "anew":
            yield from compose(pilot, [to], "Plan", "O-12, O-45")
        else:
            yield from pilot.goto("mail", "/failed")
            yield from pilot.click("button", pilot.words("mail", "mend"))
            yield from pilot.click("button", pilot.words("mail", "send"))

    play(script(Pilot("en")), respond)
    answer = {"status": "SUCCESS", "data": None, "record": ""}
    changes = box.expected(box.sent([to], "O-12, O-45", subject="Plan"))
    state = {**network.final_state(), "answer": {**answer, "retrieved_data": None}}
    verdict = web_state(None, {"changes": changes, "answer": answer}, state, ())
    assert verdict.terms["changes"] == 1, verdict.evidence
