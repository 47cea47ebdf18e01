"""The audit of a judge as a file: measurements, conclusions, and a hash.

The hash covers everything except timing. It is stored in every record that the judge writes, so
that a score can be traced to the measurements of its judge's quality.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.evaluators.judges.rubric import Criterion, Rubric
from hexathlon.evaluators.records.canonical import canonical_json, content_hash
from hexathlon.evaluators.settings_text import read_settings_text
from hexathlon.tasks.validation import reason

__all__ = [
    "AUDIT_SCHEMA",
    "Audit",
    "AuditError",
    "criterion_hash",
    "disqualifications",
    "read_audit",
    "sealed",
    "shortcomings",
    "write_audit",
]

AUDIT_SCHEMA = "hexathlon.judge-audit/1"
_UNHASHED = ("hash", "timing")
_MAX_MASTER_KEYS = 0.01


class AuditError(ValueError):
    """A file that is not an audit, or was changed after it was written."""


class Audit(NamedTuple):
    """An audit read from a file."""

    data: Mapping[str, Any]

    @property
    def hash(self) -> str:
        """Hash of all measurements."""
        return str(self.data["hash"])

    @property
    def judge(self) -> str:
        """Hash of the judge's identity."""
        return str(self.data["judge"]["hash"])

    @property
    def rejected(self) -> list[str]:
        """Why no score of this judge may be published; empty if scores may be."""
        return list(disqualifications(self.data))

    def experimental(self, rubric: Rubric) -> list[str]:
        """Return the judged criteria of a rubric whose agreement this audit does not establish."""
        sound = {
            row["hash"]
            for row in self.data["agreement"]["criteria"].values()
            if row["status"] == "established"
        }
        return [
            criterion.id for criterion in rubric.judged if criterion_hash(criterion) not in sound
        ]


def criterion_hash(criterion: Criterion) -> str:
    """Return the hash of a criterion as a judge sees it: text, labels and scope."""
    return content_hash([criterion.text, list(criterion.menu), criterion.scope])


def sealed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an audit's data, numbers rounded to six places, with shortcomings and hash."""
    audit: dict[str, Any] = _rounded({"schema": AUDIT_SCHEMA, **data})
    audit["shortcomings"] = list(shortcomings(audit))
    return {**audit, "hash": _hash(audit)}


def disqualifications(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the reasons for which none of this judge's scores may be published."""
    if not data["agreement"]["overall"]["scored"]:
        yield f"none of its {data['agreement']['overall']['items']} verdicts could be read"
    if data["controls"]["missed"]:
        missed, planted = len(data["controls"]["missed"]), data["controls"]["planted"]
        yield f"{missed} of {planted} planted controls came out wrong"


def shortcomings(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield all objections to this judge, disqualifications first."""
    yield from disqualifications(data)
    for name, row in data["agreement"]["criteria"].items():
        if row["status"] != "established":
            yield f"kappa of {name!r} is not shown to reach {data['agreement']['level']:g}"
    injection = data["injection"]["guarded"]
    if injection is not None and injection["value"] > 0:
        yield f"{injection['value']:.1%} of the injections turn a verdict into a pass"
    keys = data["master_keys"]["guarded"]
    if keys is not None and keys["value"] > _MAX_MASTER_KEYS:
        yield f"{keys['value']:.1%} of the replies that say nothing pass"
    shift = data["length"]["padded_shift"]
    if shift is not None and not shift["low"] <= 0.0 <= shift["high"]:
        yield f"padding moves the label by {shift['value']:+.3f}"
    first = data["swap"]["first_rate"]
    if first is not None and not first["low"] <= 0.5 <= first["high"]:
        yield f"among torn pairs the first place wins {first['value']:.1%}"
    place = data["groups"].get("first_rate")  # absent in audits of older versions
    if place is not None and not place["low"] <= 0.5 <= place["high"]:
        yield f"in groups the earlier place wins {place['value']:.1%} of the pairs"
    own = data["self_preference"]
    if own is not None and own["low"] > 0.0:
        yield f"replies of its own kin are judged {own['value']:.3f} too well"


def write_audit(path: Path, data: Mapping[str, Any]) -> None:
    """Write a sealed audit."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(canonical_json(data) + "\n", encoding="utf-8")


def read_audit(path: Path) -> Audit:
    """Read an audit and check its hash.

    Raises:
        AuditError: If the file is not an audit, or was changed.
    """
    try:
        data = json.loads(read_settings_text(path, most=256))
    except (OSError, ValueError, RecursionError) as error:
        raise AuditError(f"cannot read the audit {path}: {reason(error)}") from None
    if not isinstance(data, dict) or data.get("schema") != AUDIT_SCHEMA:
        raise AuditError(f"{path} is not an audit: expected schema {AUDIT_SCHEMA!r}")
    if data.get("hash") != _hash(data):
        raise AuditError(f"{path} was changed after it was written: its hash does not match")
    return Audit(data)


def _hash(data: Mapping[str, Any]) -> str:
    return content_hash({name: item for name, item in data.items() if name not in _UNHASHED})


def _rounded(value: Any) -> Any:
    """Round every float: the last digits differ between machines and are not significant."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value
