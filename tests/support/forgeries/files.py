"""Forged files: records added and dropped, judged files."""

from collections.abc import Callable
from typing import Any

from hexathlon.evaluators.judges.rubric_files import get_rubric
from support.forger import Forger, Record
from support.forgeries.base import Forgery
from support.forgeries.records import claims


def drop_last_record(f: Forger) -> None:
    f.records.pop()


def repeat_a_record(f: Forger) -> None:
    f.records.append(f.records[0])


def merge_another_run(f: Forger) -> Record:
    f.records.append(f.other("more")[-1])
    return f.records[-1]


def judged(
    name: str, field: str, change: Callable[[dict[str, Any]], Any], kind: str = "key"
) -> Forgery:
    """Return a forgery of the first judged line of a kind."""

    def forge(f: Forger) -> None:
        change(next(line for line in f.lines[0] if kind in line))

    return Forgery(name, forge, field, "judged/", "judged")


def label(place: int, **values: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change to one decision of a judged line."""
    return lambda line: line["judges"][place].update(values)


def drop_a_control(f: Forger) -> None:
    f.lines[0].remove(next(line for line in f.lines[0] if "control" in line))


def ease_a_registered_rubric(f: Forger) -> None:
    """Give the rubric the name of a shipped one."""
    (content,) = f.headers[0]["rubrics"].values()
    content.update(id="roleplay", version=get_rubric("roleplay").version)


def judge_other_records(f: Forger) -> None:
    line = next(line for line in f.lines[0] if "key" in line)
    line["key"] = {**line["key"], "seed": 9}


def miss_a_control(line: dict[str, Any]) -> None:
    line["control"].update(label="met", hit=False)


def expect_otherwise(line: dict[str, Any]) -> None:
    line["control"].update(expected="not_met")


def name_no_judge(f: Forger) -> None:
    f.headers[0]["judges"] = []


def name_two_judges(f: Forger) -> None:
    f.headers[0].update(kind="groupwise", judges=[{"model": "a"}, {"model": "b"}])


def call_it_a_comparison(f: Forger) -> None:
    """Evade controls and decisions by code: comparisons decide no criteria."""
    f.headers[0]["kind"] = "groupwise"
    f.lines[0] = [{**line, "score": 1.0, "bounds": [1.0, 1.0]} for line in f.lines[0]]


def invent_a_kind(f: Forger) -> None:
    f.headers[0]["kind"] = "exact"


FILES = [
    Forgery("the last trial dropped", drop_last_record, "count", "records"),
    Forgery("a trial repeated", repeat_a_record, "line 13, key", "records"),
    Forgery("a trial of another run added", merge_another_run, "key"),
]
JUDGED = [
    judged("a judged score", "line 2, score", claims(score=1.0)),
    judged("a judged trial's reward", "line 2, reward", claims(reward=0.5)),
    judged("a label decided by code", "line 2, judges.short", label(0, label="met", value=1.0)),
    judged("a judged value", "line 2, judges.polite", label(1, value=0.75)),
    judged("a criterion dropped", "line 2, judges", lambda line: line["judges"].pop()),
    judged("a control that missed", "line 6, control", miss_a_control, "control"),
    judged("a control's expectation", "line 6, control", expect_otherwise, "control"),
    Forgery("a control dropped", drop_a_control, "controls", "judged/", "judged"),
    Forgery("labels without a judge", name_no_judge, "header.judges", "judged/", "judged"),
    Forgery("a comparison by two judges", name_two_judges, "header.judges", "judged/", "judged"),
    Forgery(
        "labels called a comparison", call_it_a_comparison, "line 2, judges", "judged/", "judged"
    ),
    Forgery("another kind of judging", invent_a_kind, "header.kind", "judged/", "judged"),
    Forgery("another run's trial judged", judge_other_records, "line 2, key", "judged/", "judged"),
    Forgery(
        "a rubric with a shipped name", ease_a_registered_rubric, "header.rubrics", "judged/",
        "judged",
    ),
]  # fmt: skip
