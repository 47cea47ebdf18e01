"""Forgeries that nothing in a run contradicts."""

from collections.abc import Callable
from typing import Any

from support.forger import Forger, Record, digest, key_of
from support.forgeries.base import failed, passed
from support.forgeries.records import as_infra
from support.toy import ADD


def use_the_oracle(f: Forger) -> None:
    """Give all trials the oracle's actions, with invented usage."""
    f.records = f.other("oracle12")
    for record in f.records:
        pay(record)


def use_the_oracle_once(f: Forger) -> None:
    index = f.records.index(f.first(failed))
    f.records[index] = f.other("oracle12")[index]
    pay(f.records[index])


def pay(record: Record, read: int = 50) -> None:
    """Invent the usage of a trial."""
    steps = record["steps"]
    for step in steps:
        step["tokens"] = {"input": read, "output": 5}
    usage = {"input": read * len(steps), "output": 5 * len(steps), "calls": len(steps)}
    record["usage"] = {"agent": {**usage, "cached": 0, "reasoning": 0, "cost": None}}


def use_fewer_tokens(f: Forger) -> None:
    for record in f.records:
        pay(record, read=1)


def hide_the_tokens_of_steps(f: Forger) -> None:
    """Continue past a token limit, and keep only the totals."""
    more = {str(record["key"]): record for record in f.other("more")}
    f.records = [more[str(record["key"])] for record in f.records]
    for record in f.records:
        for step in record["steps"]:
            del step["tokens"]


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
    """Claim that the model refused to continue before its last step."""
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
    """Add an attempt that never took place; removing one leaves as little trace."""
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


UNDETECTED: list[tuple[str, Callable[[Forger], None], str]] = [
    ("Who answered", use_the_oracle, "model"),
    ("Who answered", use_the_oracle_once, "model"),
    ("Who answered", name_another_model, "model"),
    ("Who answered", name_another_team, "model"),
    ("The agent around the model", prompt_otherwise, "model"),
    ("The agent around the model", say_something, "model"),
    ("Usage and cost", use_fewer_tokens, "model"),
    ("Usage and cost", hide_the_tokens_of_steps, "limited"),
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
"""Row of the guide, forgery, run."""
