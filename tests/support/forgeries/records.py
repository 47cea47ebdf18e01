"""Forged records."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hexathlon.evaluators.content import Image
from support.forger import Forger, Record, digest
from support.forgeries.base import Forgery, failed, passed
from support.toy import ADD, SUBMIT


def of(
    wanted: Callable[[Record], bool], *changes: Callable[[Record], Any]
) -> Callable[[Forger], Record]:
    """Return a forgery of the first record of a kind."""

    def forge(f: Forger) -> Record:
        record = f.first(wanted)
        for change in changes:
            change(record)
        return record

    return forge


def claims(**values: Any) -> Callable[[Record], None]:
    """Return a change to some fields of a record."""
    return lambda record: record.update(values)


def claim(name: str, field: str, **values: Any) -> Forgery:
    """Return a forgery of some fields of the first failed record."""
    return Forgery(name, of(failed, claims(**values)), field)


def claim_step(name: str, field: str, **values: Any) -> Forgery:
    """Return a forgery of some fields of the first step of the first failed record."""
    change = of(failed, lambda record: record["steps"][0].update(values))
    return Forgery(name, change, f"steps[0].{field}")


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
        blank: Record = {
            "reward": None,
            "partial": None,
            "terms": {},
            "evidence": {},
            "final_state": {},
        }
        record.update(blank, status="infra", cause=cause, error="lost", stop="error_env")
        record["turns"] = len(record["steps"])
        tokens = [step["tokens"] for step in record["steps"] if "tokens" in step]
        for name in ("input", "output"):
            if "agent" in record["usage"]:
                record["usage"]["agent"][name] = sum(one[name] for one in tokens)

    return change


def as_unscored(cause: str) -> Callable[[Record], None]:
    def change(record: Record) -> None:
        blank: Record = {"reward": None, "partial": None, "terms": {}, "evidence": {}}
        record.update(blank, status="unscored", cause=cause, error="lost", stop="error_judge")

    return change


def cut_the_end(record: Record) -> None:
    del record["steps"][-1]
    record["turns"] -= 1


def go_on_after_the_end(record: Record) -> None:
    record["steps"].append({**record["steps"][-1], "index": len(record["steps"])})
    record["turns"] += 1


def play_past_the_limit(f: Forger) -> Record:
    """Give a trial stopped by a limit the steps of one without that limit."""
    index = next(i for i, r in enumerate(f.records) if r["flags"])
    key = f.records[index]["key"]
    unlimited = f.other("more")
    f.records[index] = next(record for record in unlimited if record["key"] == key)
    return f.records[index]


def loosen_the_limit(f: Forger) -> Record:
    """Claim a limit on turns that the run did not observe."""
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


def stop_at_the_start(flag: str, stop: str, limit: str = "") -> Callable[[Forger], Record]:
    """Have every trial of a built-in agent end before its first action."""

    def forge(f: Forger) -> Record:
        for record in f.records:
            record.update(steps=[], turns=0, tool_errors=0, cut_chars=0, flags=[flag], stop=stop)
            record.update(reward=0.0, terms={"hit": 0.0})
            record["final_state"] = {"counter": 0, "submitted": False}
        if limit:
            f.plan["limits"][limit] = 5
        return f.records[0]

    return forge


def drop_the_last_state_hash(f: Forger) -> Record:
    f.state_hashes = False
    f.records[3]["final_state_hash"] = digest("none")
    return f.records[3]


def claim_another_level(record: Record) -> None:
    record["level"] = "tiny" if record["level"] == "hard" else "hard"


def vary_the_checks(record: Record) -> None:
    record["checks"][0].update(deterministic=False)


def forget_the_task(record: Record) -> None:
    record.update(task_hash="", system_prompt_hash="", opening="")


def hide_the_tokens_of_a_step(f: Forger) -> Record:
    """Continue past a token limit, and omit where the tokens were used."""
    record = play_past_the_limit(f)
    del record["steps"][0]["tokens"]
    return record


def lower_the_usage(record: Record) -> None:
    record["usage"]["agent"].update(output=1)


INFRA = [
    Forgery("a failed trial as infra", of(failed, as_infra("provider", cut=0)), "status"),
    Forgery("as infra of the sandbox", of(failed, as_infra("sandbox", cut=1)), "status"),
    Forgery(
        "as infra before the task",
        of(failed, as_infra("unclassified", cut=99), forget_the_task), "status",
    ),
    Forgery("as infra of an unknown cause", of(failed, as_infra("aliens", cut=1)), "cause"),
    Forgery("as infra of the verifier", of(failed, as_infra("verifier", cut=1)), "cause"),
    Forgery(
        "as infra by an action",
        of(failed, as_infra("unclassified", cut=1), claims(failed_action=SUBMIT)), "status",
    ),
    Forgery("of a built-in agent", of(passed, as_infra("provider", cut=1)), "status", run="oracle"),
    Forgery("a failed trial as unscored", of(failed, as_unscored("verifier")), "status"),
    Forgery("as unscored by a judge", of(failed, as_unscored("judge")), "status"),
    Forgery("as unscored for no reason", of(failed, as_unscored("luck")), "cause"),
    Forgery("a retry of a scored trial", retry_a_scored_trial, "status"),
]  # fmt: skip
OUTCOMES = [
    claim("a reward", "reward", reward=1.0),
    Forgery("reward, terms and last step", of(failed, pass_it), "reward"),
    Forgery("and the final state", of(failed, pass_it_with_its_state), "final_state"),
    Forgery("the hash of a final state", drop_the_last_state_hash, "final_state_hash"),
    Forgery("verdicts of two trials swapped", swap_verdicts, "reward"),
    Forgery("checks declared to vary", of(failed, pass_it, vary_the_checks), "reward"),
    claim("partial credit", "partial", partial=0.9),
    claim("evidence", "evidence", evidence={"rows": 5}),
    claim("the names of checks", "checks", checks=[]),
    claim("judgements by code", "judges", judges=[{"label": "met"}]),
    claim("an error in a scored trial", "cause", error="429", cause="provider"),
]
EPISODES = [
    claim_step("a single action of the oracle", "observation", action=ADD % 8),
    claim_step("an observation", "observation", observation="All is well."),
    claim_step("the reward of a step", "reward", reward=0.5),
    claim_step("the status of a step", "status", status="completed"),
    Forgery("an image", show_another_image, "steps[0].observation", run="images"),
    Forgery("the end cut off", of(failed, cut_the_end), "flags"),
    Forgery("steps after the end", of(failed, go_on_after_the_end), "steps["),
    Forgery("another task's trial", put_in_another_trial, "opening"),
    Forgery("steps beyond a limit of tokens", play_past_the_limit, "steps[", run="limited"),
    Forgery("turns beyond the plan's limit", loosen_the_limit, "steps"),
    Forgery("a floor played by the oracle", play_like_the_oracle, "steps[0].action", run="noop"),
    Forgery("a ceiling played by another", play_worse_than_the_oracle, "steps[", run="oracle"),
    Forgery("a floor that gives up", of(failed, stop_the_floor_early), "flags", run="noop"),
    Forgery(
        "a ceiling that refuses", stop_at_the_start("refused", "aborted"), "flags", run="oracle"
    ),
    Forgery(
        "a ceiling without context", stop_at_the_start("context_overflow", "truncated_length"),
        "flags", run="oracle",
    ),
    Forgery(
        "a ceiling out of tokens",
        stop_at_the_start("limit:output_tokens", "truncated_length", "output_tokens"),
        "flags", run="oracle",
    ),
]  # fmt: skip
STATEMENTS = [
    claim("the number of turns", "turns", turns=1),
    claim("the task's hash", "task_hash", task_hash=digest("easy")),
    claim("the opening", "opening", opening="An easier task."),
    claim("the system prompt", "system_prompt_hash", system_prompt_hash=digest("help")),
    claim("the template", "template", template="hard_sum"),
    claim("the split", "split", split="heldout"),
    claim("the environment's version", "env_version", env_version="0"),
    claim("the sandbox", "sandbox", sandbox="gvisor"),
    claim("the stop", "stop", stop="truncated_turns"),
    claim("tool errors", "tool_errors", tool_errors=9),
    claim("an invented flag", "flags", flags=["checked by the organiser"]),
    claim("cut characters", "cut_chars", cut_chars=9),
    Forgery("the level", of(failed, claim_another_level), "level"),
    Forgery("the seed", of(failed, lambda record: record["key"].update(seed=7)), "key"),
    Forgery(
        "a stop by an unset limit",
        of(failed, cut_the_end, claims(stop="truncated_time", flags=["limit:wall_seconds"])),
        "flags",
    ),
    Forgery(
        "a flag removed", of(lambda record: bool(record["flags"]), claims(flags=[])), "flags",
        run="limited",
    ),
    Forgery("an attempt hidden", of(failed, hide_an_attempt), "attempt"),
    Forgery("usage below the sum of the steps", of(failed, lower_the_usage), "usage.agent.output"),
    Forgery("tokens of a step left out", hide_the_tokens_of_a_step, "steps[", run="limited"),
    Forgery(
        "a negative number of tokens",
        of(failed, lambda record: record["steps"][0]["tokens"].update(output=-9)), "usage.agent",
    ),
]  # fmt: skip
