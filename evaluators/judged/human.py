"""Labels that people gave to the trials of a run, and their agreement with judges.

A file has one JSON line per label: the record's hash, the rubric's hash, criterion, label and
annotator. The last line of an annotator on a rubric's criterion of a record counts, so a label is
corrected by another line, and labels on an older text of a rubric are not those on a newer one.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.evaluators.judged.file import JudgedFile, last_of_trials
from hexathlon.evaluators.judges.audit.agreement import kappa_estimate
from hexathlon.evaluators.judges.audit.estimates import Estimate
from hexathlon.evaluators.judges.labels import ABSTAIN
from hexathlon.evaluators.records.canonical import canonical_json
from hexathlon.tasks.validation import reason

__all__ = [
    "Agreement",
    "HumanLabel",
    "HumanLabelError",
    "agreements",
    "append_label",
    "read_human_labels",
]

_FIELDS = ("record", "rubric", "criterion", "label", "annotator")
_MAX_BYTES = 256 << 20

RaterLabels = Mapping[tuple[str, str, str], str]
"""Label by record hash, rubric hash and criterion, of one rater."""


class HumanLabelError(ValueError):
    """A file of labels is invalid."""


class HumanLabel(NamedTuple):
    """One label."""

    record: str
    rubric: str
    criterion: str
    label: str
    annotator: str


class Agreement(NamedTuple):
    """Agreement of two raters on one criterion."""

    first: str
    second: str
    criterion: str
    both: int
    """Number of records that both decided."""

    equal: int
    kappa: Estimate | None
    """Cohen's kappa with its interval; None if there is no variation."""


def append_label(path: Path, label: HumanLabel) -> None:
    """Write one label at the end of a file, creating it if necessary."""
    with path.open("a", encoding="utf-8") as file:
        file.write(canonical_json(label._asdict()) + "\n")


def read_human_labels(path: Path) -> list[HumanLabel]:
    """Return the labels that count, in the order of the file; none if there is no file.

    Raises:
        HumanLabelError: If a line is not a label; the message has its number.
    """
    if not path.exists():
        return []
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise HumanLabelError(f"{path} has more than {_MAX_BYTES >> 20} MiB")
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise HumanLabelError(f"cannot read the labels {path}: {reason(error)}") from None
    last: dict[tuple[str, str, str, str], HumanLabel] = {}
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        label = _label(path, number, line)
        last[label.annotator, label.record, label.rubric, label.criterion] = label
    return list(last.values())


def agreements(labels: Sequence[HumanLabel], judged: Iterable[JudgedFile]) -> list[Agreement]:
    """Return the agreement of every pair of raters with a record in common, by criterion.

    Raters are the annotators and the judges of the files; two judges are not compared. Records on
    which either abstained or gave no label are left out.
    """
    people: dict[str, dict[tuple[str, str, str], str]] = {}
    for label in labels:
        own = people.setdefault(label.annotator, {})
        own[label.record, label.rubric, label.criterion] = label.label
    judges = {_name(file): _labels_of(file) for file in judged}
    names = sorted(people)
    pairs = [(a, people[a], b, people[b]) for i, a in enumerate(names) for b in names[i + 1 :]]
    pairs += [(a, people[a], b, judges[b]) for a in names for b in judges]
    return [row for pair in pairs for row in _between(*pair)]


def _between(first: str, a: RaterLabels, second: str, b: RaterLabels) -> list[Agreement]:
    common = [key for key in a if key in b and ABSTAIN not in (a[key], b[key])]
    found = []
    for criterion in dict.fromkeys(name for *_, name in common):
        own = [key for key in common if key[2] == criterion]
        ours, theirs = [a[key] for key in own], [b[key] for key in own]
        equal = sum(x == y for x, y in zip(ours, theirs, strict=True))
        estimate = kappa_estimate(ours, theirs)
        found.append(Agreement(first, second, criterion, len(own), equal, estimate))
    return found


def _name(file: JudgedFile) -> str:
    models = ", ".join(str(judge["model"]) for judge in file.header["judges"]) or "code"
    return f"{models} ({file.path.stem[:8]})"


def _labels_of(file: JudgedFile) -> dict[tuple[str, str, str], str]:
    labels = {}
    for line in last_of_trials(file.lines):
        for decision in line["judges"]:
            if decision["label"] is not None:
                key = str(line["record"]), str(line["rubric"]), str(decision["criterion"])
                labels[key] = str(decision["label"])
    return labels


def _label(path: Path, number: int, line: str) -> HumanLabel:
    try:
        row: Any = json.loads(line)
    except ValueError as error:
        raise HumanLabelError(f"{path}, line {number} is not JSON: {error}") from None
    if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in _FIELDS):
        raise HumanLabelError(
            f"{path}, line {number}: expected an object with the texts {', '.join(_FIELDS)}"
        )
    return HumanLabel(*(row[name] for name in _FIELDS))
