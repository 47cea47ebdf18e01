"""A forger who knows the code recomputes every hash; `verify` still names where the forgery is.

What it cannot detect is listed in `docs/guides/verification.md`, and is tried here, too.
"""

import copy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.verify import verify_run
from hexathlon.evaluators.content import Image
from hexathlon.evaluators.judges.rubric import Control, Criterion, Predicate, Rubric
from hexathlon.tasks.taskset import commitment
from support.counter import counter_run, failing_toy
from support.events import register_toy, toy_run, unregister
from support.forger import Forger, Record, digest, key_of
from support.judged import judge_by
from support.toy import ADD, SUBMIT

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "verification.md"
PARTS = "harness/Parts-v0"
RUBRIC = Rubric(
    id="forged",
    criteria=(
        Criterion(id="short", text="Short.", check=Predicate(name="turns", params={"least": 1, "most": 3})),
        Criterion(
            id="polite", text="The reply is polite.", why="Manners have no closed form.",
            controls=(Control(reply="Please.", label="met"), Control(reply="No!", label="not_met")),
        ),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Honest runs by name; forgers get copies."""
    folder = tmp_path_factory.mktemp("honest")
    register_toy(PARTS, "support.parts:PartsEnv")
    counter_run(folder / "model")
    counter_run(folder / "judged", tasks=4)
    judge_by(folder / "judged", RUBRIC)
    counter_run(folder / "twice", trials=2, seeds=2, tasks=4)
    counter_run(folder / "limited", limit_output_tokens=11)
    counter_run(folder / "tiny", level="tiny")
    counter_run(folder / "dev", split="dev")
    counter_run(folder / "more", tasks=24)
    counter_run(folder / "images", envs=("Parts",), tasks=2)
    toy_run(folder / "oracle", tasks=4)
    toy_run(folder / "oracle12", tasks=12)
    toy_run(folder / "noop", "agent:noop", tasks=4)
    yield folder
    unregister(PARTS)


def forger(honest: Path, name: str, folder: Path) -> Forger:
    shutil.copytree(honest / name, folder / "run")
    return Forger(folder / "run", honest)


def failed(record: Record) -> bool:
    return record["reward"] == 0.0


def passed(record: Record) -> bool:
    return record["reward"] == 1.0


def test_the_honest_runs_are_verified(honest: Path) -> None:
    for run in honest.iterdir():
        assert verify_run(run).findings == (), run.name
    records = Forger(honest / "model").records
    assert any(map(failed, records)) and any(map(passed, records))


class Forgery(NamedTuple):
    """A change to a run, and where it has to be found."""

    name: str
    change: Callable[[Forger], Record | None]
    """Returns the forged record; None for a forgery of the plan or of a whole file."""

    field: str
    """Start of the finding's field."""

    where: str = ""
    """What the finding names instead of a trial."""

    run: str = "model"


# Forged plans ----------------------------------------------------------------------------------


def drop_failed_trials(f: Forger) -> None:
    gone = [key_of(record) for record in f.drop(failed)]
    f.plan["keys"] = [key for key in f.plan["keys"] if key not in gone]


def drop_and_lower_the_count(f: Forger) -> None:
    drop_failed_trials(f)
    f.plan["config"]["tasks"] = len(f.plan["keys"])


def keep_the_better_seed(f: Forger) -> None:
    best = {r["key"]["task"]: r for r in f.records if r["key"]["trial"] == 0}
    best |= {r["key"]["task"]: r for r in f.records if passed(r)}
    f.records = list(best.values())
    f.plan["config"] |= {"seeds": 1, "trials": 1}
    f.plan["keys"] = [key_of(record) for record in f.records]


def swap_failed_tasks(f: Forger) -> None:
    spare = [r for r in f.other("more")[12:] if passed(r)]
    for index, record in enumerate(f.records):
        if failed(record):
            f.records[index] = spare.pop()
    f.plan["keys"] = [key_of(record) for record in f.records]


def claim_all_levels(f: Forger) -> None:
    f.plan["config"]["level"] = f.plan["envs"][0]["level"] = None


def claim_the_test_split(f: Forger) -> None:
    f.plan["config"]["split"] = f.plan["envs"][0]["split"] = "test"


def repeat_a_key(f: Forger) -> None:
    f.plan["keys"][1] = f.plan["keys"][0]


def reorder_keys(f: Forger) -> None:
    f.plan["keys"].reverse()


def in_plan(path: str, value: Any) -> Callable[[Forger], None]:
    *parents, last = path.split(".")

    def change(f: Forger) -> None:
        place: Any = f.plan
        for name in parents:
            place = place[int(name) if name.isdigit() else name]
        place[last] = value

    return change


PLANS = [
    Forgery("failed trials left out of plan and records", drop_failed_trials, "keys", "plan"),
    Forgery("and the number of tasks lowered", drop_and_lower_the_count, "keys", "plan"),
    Forgery("the better of several seeds", keep_the_better_seed, "keys", "plan", "twice"),
    Forgery("failed tasks swapped for others", swap_failed_tasks, "keys", "plan"),
    Forgery("an easy level as all levels", claim_all_levels, "keys", "plan", "tiny"),
    Forgery("another split as the test split", claim_the_test_split, "keys", "plan", "dev"),
    Forgery("a trial planned twice", repeat_a_key, "keys", "plan"),
    Forgery("trials in another order", reorder_keys, "keys", "plan"),
    Forgery("another level of the task set", in_plan("envs.0.level", "hard"), "envs[0].level", "plan"),
    Forgery("the hash of other tasks", in_plan("envs.0.taskset_hash", digest("other")), "envs[0].taskset_hash", "plan"),
    Forgery("another version of the tasks", in_plan("envs.0.taskset_version", "9"), "envs[0].taskset_version", "plan"),
    Forgery("a smaller task set", in_plan("envs.0.size", 12), "envs[0].size", "plan"),
    Forgery("another version of the environment", in_plan("envs.0.version", "9"), "envs[0].version", "plan"),
    Forgery("a task set beside", lambda f: f.plan["envs"].append(f.plan["envs"][0]), "envs", "plan"),
    Forgery("more seeds than played", in_plan("config.seeds", 3), "keys", "plan"),
    Forgery("a model of another name than configured", in_plan("model.name", "larger"), "model.name", "plan"),
    Forgery("a model at another place", in_plan("model.place", "http://elsewhere"), "model.place", "plan"),
    Forgery("other sampling than configured", in_plan("model.sampling.temperature", 0.5), "model.sampling", "plan"),
    Forgery("an unknown configuration", in_plan("config.bonus", 1), "config", "plan"),
    Forgery("an unknown environment", in_plan("config.envs", ["Toys"]), "config", "plan"),
]  # fmt: skip


# Forged records --------------------------------------------------------------------------------


def of(
    wanted: Callable[[Record], bool], change: Callable[[Record], Any]
) -> Callable[[Forger], Record]:
    """Change the first record of a kind."""

    def forge(f: Forger) -> Record:
        record = f.first(wanted)
        change(record)
        return record

    return forge


def pass_it(record: Record) -> None:
    record.update(reward=1.0, terms={"hit": 1.0})
    record["steps"][-1]["reward"] = 1.0


def pass_it_with_its_state(record: Record) -> None:
    pass_it(record)
    record["final_state"]["counter"] += 1


def as_infra(cause: str, *, cut: int) -> Callable[[Record], None]:
    """Call a failed trial an infrastructure failure, with its last steps cut off."""

    def change(record: Record) -> None:
        record["steps"] = record["steps"][: len(record["steps"]) - cut]
        blank = {"reward": None, "partial": None, "terms": {}, "evidence": {}, "final_state": {}}
        record.update(blank, status="infra", cause=cause, error="lost", stop="error_env")
        record["turns"] = len(record["steps"])
        tokens = [step["tokens"] for step in record["steps"] if "tokens" in step]
        for name in ("input", "output"):
            if "agent" in record["usage"]:
                record["usage"]["agent"][name] = sum(one[name] for one in tokens)

    return change


def as_unscored(cause: str) -> Callable[[Record], None]:
    def change(record: Record) -> None:
        blank = {"reward": None, "partial": None, "terms": {}, "evidence": {}}
        record.update(blank, status="unscored", cause=cause, error="lost", stop="error_judge")

    return change


def cut_the_end(record: Record) -> None:
    del record["steps"][-1]
    record["turns"] -= 1


def go_on_after_the_end(record: Record) -> None:
    record["steps"].append({**record["steps"][-1], "index": len(record["steps"])})
    record["turns"] += 1


def play_past_the_limit(f: Forger) -> Record:
    """Give a trial that a limit stopped the steps of one without that limit."""
    index = next(i for i, r in enumerate(f.records) if r["flags"])
    key = f.records[index]["key"]
    unlimited = f.other("more")
    f.records[index] = next(record for record in unlimited if record["key"] == key)
    return f.records[index]


def loosen_the_limit(f: Forger) -> Record:
    """Claim a limit of turns that the run did not keep."""
    f.plan["limits"]["turns"] = 2
    return f.first(lambda record: len(record["steps"]) > 2)


def put_in_another_trial(f: Forger) -> Record:
    good, bad = f.first(passed), f.first(failed)
    index = f.records.index(bad)
    f.records[index] = {**good, "key": bad["key"], "template": "count", "level": bad["level"]}
    return f.records[index]


def swap_verdicts(f: Forger) -> Record:
    good, bad = f.first(passed), f.first(failed)
    for name in ("reward", "terms", "final_state"):
        good[name], bad[name] = bad[name], good[name]
    return bad


def retry_a_scored_trial(f: Forger) -> Record:
    """Call a failed trial an infrastructure failure, and put a better one after it."""
    bad = f.first(failed)
    better = {**bad, "attempt": 2, "earlier": []}
    f.records.append(better)
    as_infra("provider", cut=0)(bad)
    return bad


def hide_an_attempt(record: Record) -> None:
    record.update(attempt=3, earlier=[{"attempt": 2, "cause": "provider", "message": "429"}])


def show_another_image(f: Forger) -> Record:
    return f.replace_image(Image.from_array(np.full((2, 3, 3), 7, np.uint8)))


def play_like_the_oracle(f: Forger) -> Record:
    """Give a run of `agent:noop` the trials of the oracle, to lift the floor."""
    f.records = f.other("oracle")
    return f.records[0]


def play_worse_than_the_oracle(f: Forger) -> Record:
    """Give a run of `agent:oracle` the trials of a weaker agent, to lower the ceiling."""
    others = {str(r["key"]): r for r in f.other("model")}
    f.records = [others[str(record["key"])] for record in f.records]
    for record in f.records:
        record["usage"] = {}
        for step in record["steps"]:
            del step["tokens"]
    return f.first(failed)


def stop_the_floor_early(record: Record) -> None:
    """Have `agent:noop` give up, which it never does."""
    del record["steps"][1:]
    record.update(turns=1, tool_errors=1, stop="aborted", flags=["gave_up"])


def drop_the_last_state_hash(f: Forger) -> Record:
    f.state_hashes = False
    f.records[3]["final_state_hash"] = digest("none")
    return f.records[3]


RECORDS = [
    Forgery("a reward", of(failed, lambda r: r.update(reward=1.0)), "reward"),
    Forgery("reward, terms and last step", of(failed, pass_it), "reward"),
    Forgery("and the final state", of(failed, pass_it_with_its_state), "final_state"),
    Forgery("the hash of a final state", drop_the_last_state_hash, "final_state_hash"),
    Forgery("verdicts of two trials swapped", swap_verdicts, "reward"),
    Forgery("partial credit", of(failed, lambda r: r.update(partial=0.9)), "partial"),
    Forgery("evidence", of(failed, lambda r: r.update(evidence={"rows": 5})), "evidence"),
    Forgery("the names of checks", of(failed, lambda r: r.update(checks=[])), "checks"),
    Forgery(
        "checks that are said to vary",
        of(failed, lambda r: (pass_it(r), r["checks"][0].update(deterministic=False))), "reward",
    ),
    Forgery("judgements by code", of(failed, lambda r: r.update(judges=[{"label": "met"}])), "judges"),
    Forgery("a failed trial as infra", of(failed, as_infra("provider", cut=0)), "status"),
    Forgery("as infra of the sandbox, its end cut off", of(failed, as_infra("sandbox", cut=1)), "status"),
    Forgery("as infra before the task", of(failed, lambda r: (as_infra("unclassified", cut=99)(r), r.update(task_hash="", system_prompt_hash="", opening=""))), "status"),
    Forgery("as infra of an unknown cause", of(failed, as_infra("aliens", cut=1)), "cause"),
    Forgery("as infra by a failed action", of(failed, lambda r: (as_infra("unclassified", cut=1)(r), r.update(failed_action=SUBMIT))), "status"),
    Forgery("a built-in agent's trial as infra", of(passed, as_infra("provider", cut=1)), "status", run="oracle"),
    Forgery("a failed trial as unscored by the verifier", of(failed, as_unscored("verifier")), "status"),
    Forgery("a failed trial as unscored by a judge", of(failed, as_unscored("judge")), "status"),
    Forgery("a failed trial as unscored for no reason", of(failed, as_unscored("luck")), "cause"),
    Forgery("actions of the oracle alone", of(failed, lambda r: r["steps"][0].update(action=ADD % 8)), "steps[0].observation"),
    Forgery("an observation", of(failed, lambda r: r["steps"][1].update(observation="All is well.")), "steps[1].observation"),
    Forgery("an image in an observation", show_another_image, "steps[0].observation", run="images"),
    Forgery("the reward of a step", of(failed, lambda r: r["steps"][0].update(reward=0.5)), "steps[0].reward"),
    Forgery("the status of a step", of(failed, lambda r: r["steps"][0].update(status="completed")), "steps[0].status"),
    Forgery("the end cut off", of(failed, cut_the_end), "flags"),
    Forgery("steps after the end", of(failed, go_on_after_the_end), "steps["),
    Forgery("the number of turns", of(failed, lambda r: r.update(turns=1)), "turns"),
    Forgery("another task's trial", put_in_another_trial, "opening"),
    Forgery("the task's hash", of(failed, lambda r: r.update(task_hash=digest("easy"))), "task_hash"),
    Forgery("the opening", of(failed, lambda r: r.update(opening="An easier task.")), "opening"),
    Forgery("the system prompt", of(failed, lambda r: r.update(system_prompt_hash=digest("help"))), "system_prompt_hash"),
    Forgery("the template", of(failed, lambda r: r.update(template="hard_sum")), "template"),
    Forgery("the level", of(failed, lambda r: r.update(level="hard" if r["level"] != "hard" else "tiny")), "level"),
    Forgery("the split", of(failed, lambda r: r.update(split="heldout")), "split"),
    Forgery("the environment's version", of(failed, lambda r: r.update(env_version="0")), "env_version"),
    Forgery("the seed", of(failed, lambda r: r["key"].update(seed=7)), "key"),
    Forgery("the sandbox", of(failed, lambda r: r.update(sandbox="gvisor")), "sandbox"),
    Forgery("the stop", of(failed, lambda r: r.update(stop="truncated_turns")), "stop"),
    Forgery("a stop by a limit that is not set", of(failed, lambda r: (cut_the_end(r), r.update(stop="truncated_time", flags=["limit:wall_seconds"]))), "flags"),
    Forgery("a flag removed", of(lambda r: bool(r["flags"]), lambda r: r.update(flags=[])), "flags", run="limited"),
    Forgery("steps beyond the plan's token limit", play_past_the_limit, "steps[", run="limited"),
    Forgery("turns beyond the plan's limit", loosen_the_limit, "steps"),
    Forgery("tool errors", of(failed, lambda r: r.update(tool_errors=9)), "tool_errors"),
    Forgery("cut characters", of(failed, lambda r: r.update(cut_chars=9)), "cut_chars"),
    Forgery("an error in a scored trial", of(failed, lambda r: r.update(error="429", cause="provider")), "cause"),
    Forgery("a retry of a scored trial", retry_a_scored_trial, "status"),
    Forgery("an attempt hidden", of(failed, hide_an_attempt), "attempt"),
    Forgery("usage lower than that of the steps", of(failed, lambda r: r["usage"]["agent"].update(output=1)), "usage.agent.output"),
    Forgery("a floor played by the oracle", play_like_the_oracle, "steps[0].action", run="noop"),
    Forgery("a ceiling played by a weaker agent", play_worse_than_the_oracle, "steps[", run="oracle"),
    Forgery("a floor that gives up", of(failed, stop_the_floor_early), "flags", run="noop"),
]  # fmt: skip


# Forged files ----------------------------------------------------------------------------------


def drop_last_record(f: Forger) -> None:
    f.records.pop()


def repeat_a_record(f: Forger) -> None:
    f.records.append(f.records[0])


def merge_another_run(f: Forger) -> Record:
    f.records.append(f.other("more")[-1])
    return f.records[-1]


def in_judged(
    change: Callable[[dict[str, Any]], Any], kind: str = "key"
) -> Callable[[Forger], None]:
    """Change the first judged line of a kind."""

    def forge(f: Forger) -> None:
        change(next(line for line in f.lines[0] if kind in line))

    return forge


def drop_a_control(f: Forger) -> None:
    f.lines[0].remove(next(line for line in f.lines[0] if "control" in line))


def ease_a_registered_rubric(f: Forger) -> None:
    """Give the rubric the name of a shipped one."""
    (content,) = f.headers[0]["rubrics"].values()
    content["id"] = "roleplay"


def judge_other_records(f: Forger) -> None:
    line = next(line for line in f.lines[0] if "key" in line)
    line["key"] = {**line["key"], "seed": 9}


FILES = [
    Forgery("the last trial dropped", drop_last_record, "count", "records"),
    Forgery("a trial repeated", repeat_a_record, "line 13, key", "records"),
    Forgery("a trial of another run added", merge_another_run, "key"),
    Forgery("a judged score", in_judged(lambda line: line.update(score=1.0)), "line 2, score", "judged/", "judged"),
    Forgery("a label that code decides", in_judged(lambda line: line["judges"][0].update(label="met", value=1.0)), "line 2, judges.short", "judged/", "judged"),
    Forgery("a judged value", in_judged(lambda line: line["judges"][1].update(value=0.75)), "line 2, judges.polite", "judged/", "judged"),
    Forgery("a criterion dropped", in_judged(lambda line: line["judges"].pop()), "line 2, judges", "judged/", "judged"),
    Forgery("a judged trial's reward", in_judged(lambda line: line.update(reward=0.5)), "line 2, reward", "judged/", "judged"),
    Forgery("a judged trial of another run", judge_other_records, "line 2, key", "judged/", "judged"),
    Forgery("a control that missed", in_judged(lambda line: line["control"].update(label="met", hit=False), "control"), "line 6, control", "judged/", "judged"),
    Forgery("a control's expectation", in_judged(lambda line: line["control"].update(expected="not_met"), "control"), "line 6, control", "judged/", "judged"),
    Forgery("a control dropped", drop_a_control, "controls", "judged/", "judged"),
    Forgery("a rubric under a shipped name", ease_a_registered_rubric, "header.rubrics", "judged/", "judged"),
]  # fmt: skip


CATALOGUE = [*PLANS, *RECORDS, *FILES]


@pytest.mark.parametrize("forgery", CATALOGUE, ids=[one.name for one in CATALOGUE])
def test_a_forgery_with_recomputed_hashes_is_found_where_it_was_made(
    honest: Path, tmp_path: Path, forgery: Forgery
) -> None:
    f = forger(honest, forgery.run, tmp_path)
    record = forgery.change(f)
    run = f.save()
    where = forgery.where or (record or {}).get("key", {}).get("task", "")
    findings = verify_run(run).findings
    assert where and any(
        one.field.startswith(forgery.field) and where in one.trial for one in findings
    ), findings


# What cannot be detected -----------------------------------------------------------------------


def use_the_oracle(f: Forger) -> None:
    """Give all trials the oracle's actions, with usage made up."""
    f.records = f.other("oracle12")
    for record in f.records:
        pay(record)


def use_the_oracle_once(f: Forger) -> None:
    index = f.records.index(f.first(failed))
    f.records[index] = f.other("oracle12")[index]
    pay(f.records[index])


def pay(record: Record, read: int = 50) -> None:
    """Make up the usage of a trial."""
    steps = record["steps"]
    for step in steps:
        step["tokens"] = {"input": read, "output": 5}
    usage = {"input": read * len(steps), "output": 5 * len(steps), "calls": len(steps)}
    record["usage"] = {"agent": {**usage, "cached": 0, "reasoning": 0, "cost": None}}


def use_fewer_tokens(f: Forger) -> None:
    for record in f.records:
        pay(record, read=1)


def be_faster(f: Forger) -> None:
    for record in f.records:
        record["timing"] |= {"agent": 0.001, "latencies": [0.001]}


def show_the_better_trial(f: Forger) -> None:
    """Pass one of several trials off as the only one."""
    tasks: dict[tuple[Any, ...], Record] = {}
    for record in f.records:
        env, task, seed, _ = key_of(record)
        if (env, task, seed) not in tasks or passed(record):
            tasks[env, task, seed] = record
    f.records = list(tasks.values())
    for record in f.records:
        record["key"]["trial"] = 0
    f.plan["config"]["trials"] = 1
    f.plan["keys"] = [key_of(record) for record in f.records]


def call_it_an_outage(f: Forger) -> None:
    as_infra("provider", cut=1)(f.first(failed))


def end_it_early(f: Forger) -> None:
    """Say that the model refused to go on before its last step."""
    record = f.first(failed)
    as_infra("", cut=1)(record)
    state = {"counter": record["final_state"].get("counter", 0), "submitted": False}
    state["counter"] = sum(_amount(step["action"]) for step in record["steps"])
    record.update(status="scored", cause=None, error=None, stop="aborted", flags=["refused"])
    record.update(reward=0.0, terms={"hit": 0.0}, final_state=state)


def _amount(action: str) -> int:
    return next(n for n in range(1, 10) if ADD % n == action)


def say_something(f: Forger) -> None:
    f.records[0]["steps"][0]["said"] = "I reason about the counter."


def run_elsewhere(f: Forger) -> None:
    f.plan |= {"created": "2020-01-01", "hardware": {"cores": 1}, "code": {"dirty": False}}
    f.plan |= {"suite_version": "9.9", "price_table": "free"}


def name_another_model(f: Forger) -> None:
    f.plan["model"] |= {"name": "larger", "revision": "3"}
    f.plan["config"]["model"] = f.plan["config"]["model"].replace("counter", "larger")


def name_another_team(f: Forger) -> None:
    f.plan["team"] = "north"


def prompt_otherwise(f: Forger) -> None:
    f.plan["config"]["prompt_suffix"] = ""
    f.plan["agent"] |= {"version": "2", "prompt_hash": digest("plain")}


def retry_less(f: Forger) -> None:
    """Add an attempt that never was; removing one leaves as little trace."""
    earlier = [{"attempt": 1, "cause": "provider", "message": "429"}]
    f.records[0].update(attempt=2, earlier=earlier)


def record_in_another_order(f: Forger) -> None:
    f.records.reverse()


def relabel(f: Forger) -> None:
    for line in f.lines[0]:
        if "key" in line:
            line["judges"][1].update(label="met", value=1.0)
            value = (line["judges"][0]["value"] + 1.0) / 2
            line.update(score=value, bounds=[value, value])


def audit_it(f: Forger) -> None:
    f.headers[0]["audits"] = [digest("audit")]


UNDETECTED = [
    ("Who answered", use_the_oracle, "model"),
    ("Who answered", use_the_oracle_once, "model"),
    ("Who answered", name_another_model, "model"),
    ("Who answered", name_another_team, "model"),
    ("The agent around the model", prompt_otherwise, "model"),
    ("The agent around the model", say_something, "model"),
    ("Usage and cost", use_fewer_tokens, "model"),
    ("Times", be_faster, "model"),
    ("Hidden attempts", show_the_better_trial, "twice"),
    ("Hidden attempts", retry_less, "model"),
    ("Failures of a model's server", call_it_an_outage, "model"),
    ("Stops from outside", end_it_early, "model"),
    ("Code and machine", run_elsewhere, "model"),
    ("Order of records", record_in_another_order, "model"),
    ("A judge's labels", relabel, "judged"),
    ("A judge's audit", audit_it, "judged"),
]


@pytest.mark.parametrize(
    ("name", "change", "run"), UNDETECTED, ids=[one[1].__name__ for one in UNDETECTED]
)
def test_what_cannot_be_detected_is_listed_with_what_would(
    honest: Path, tmp_path: Path, name: str, change: Callable[[Forger], None], run: str
) -> None:
    f = forger(honest, run, tmp_path)
    change(f)
    assert verify_run(f.save()).findings == ()
    _, _, listed = GUIDE.read_text("utf-8").partition("## Cannot be detected")
    assert f"\n| {name} |" in listed


def test_a_round_of_the_forgers_own_is_rejected(honest: Path, tmp_path: Path) -> None:
    salt = tmp_path / "salt"
    salt.write_text("of my own")
    counter_run(tmp_path / "run", split="heldout", salt_file=salt)
    assert verify_run(tmp_path / "run", "of my own").sound
    with pytest.raises(UsageError, match="is not the one that this run was planned with"):
        verify_run(tmp_path / "run", "of the round")
    f = Forger(tmp_path / "run")
    f.plan["envs"][0]["salt_commitment"] = commitment("of the round")
    findings = verify_run(f.save(), "of the round").findings
    assert {"envs[0].taskset_hash"} <= {one.field for one in findings if one.trial == "plan"}
    assert any(one.field == "task_hash" for one in findings)


def test_an_unfinished_line_is_found(honest: Path, tmp_path: Path) -> None:
    run = forger(honest, "model", tmp_path).run
    file = run / "records.jsonl"
    file.write_bytes(file.read_bytes()[:-30])
    (finding,) = verify_run(run).findings
    assert finding.field == "line 12, line" and "unfinished" in finding.message


def test_an_environment_that_fails_again_is_no_forgery(tmp_path: Path) -> None:
    """A failure that its action brings about each time is bounded, not rejected."""
    with failing_toy():
        counter_run(tmp_path / "run", tasks=3, envs=("Fails",), retries=0)
        f = Forger(tmp_path / "run")
        infra = [record for record in f.records if record["status"] == "infra"]
        assert infra and all("failed_action" in record for record in infra)
        done = verify_run(tmp_path / "run")
        assert done.sound and done.unscored == len(infra)
        for record in f.records:
            record.pop("failed_action", None)
        fields = {one.field for one in verify_run(f.save()).findings}
        assert fields == {"status"}


def test_a_failure_that_was_retried_is_no_finding(tmp_path: Path) -> None:
    run = counter_run(tmp_path / "run", tasks=4)
    f = Forger(run)
    spoilt = copy.deepcopy(f.records[0])
    as_infra("sandbox", cut=1)(spoilt)
    f.records[0].update(attempt=2)
    f.records.insert(0, spoilt)
    done = verify_run(f.save())
    assert done.findings == () and done.unscored == 0
