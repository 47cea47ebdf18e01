"""Judges' summaries of a run, shown beside the verified scores and never mixed with them.

A judged file is not replayed. Instead, the reader checks that it was not changed after it was
written and that it belongs to this run; a file that fails is reported and excluded.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.evaluators.judged.consistency import unjudged_trials
from hexathlon.evaluators.judged.file import (
    JudgedError,
    JudgedFile,
    judged_files,
    last_of_trials,
    read_judged,
)
from hexathlon.evaluators.judged.results import JudgedSummary, summarise_judged

__all__ = ["Judgement", "Judgements", "load_judgements"]


class Judgement(NamedTuple):
    """One judge's summary of a run's trials in one environment."""

    env: str
    summary: JudgedSummary


class Judgements(NamedTuple):
    """All judges' summaries of a run."""

    found: tuple[Judgement, ...] = ()
    faults: tuple[str, ...] = ()
    """Excluded judged files, each with its reason."""

    def of(self, env: str) -> list[JudgedSummary]:
        """Return the summaries for one environment."""
        return [one.summary for one in self.found if one.env == env]


def load_judgements(run: Path, plan_hash: str) -> Judgements:
    """Read a run's judged files."""
    judgements: list[Judgement] = []
    faults: list[str] = []
    for path in judged_files(run):
        try:
            judgements += _by_env(path, plan_hash)
        except JudgedError as error:
            faults.append(str(error).replace(str(path), path.name))
        except (AttributeError, LookupError, TypeError, ValueError):
            # The chain is intact, so this is its writer's content, in a format unknown to us.
            faults.append(f"{path.name} does not have the content of a judged file")
    return Judgements(tuple(judgements), tuple(faults))


def _by_env(path: Path, plan_hash: str) -> Iterator[Judgement]:
    judged = read_judged(path)
    if judged.header["plan_hash"] != plan_hash:
        raise JudgedError(f"{path.name} judges another run")
    envs = dict.fromkeys(str(line["key"]["env"]) for line in last_of_trials(judged.lines))
    for env in envs:
        own = _only(judged, env)
        summary = summarise_judged(own)
        left_out = unjudged_trials(own, path.parents[1])
        if left_out:
            remark = f"{left_out} of {left_out + summary.trials} trials not judged"
            summary = summary._replace(remarks=(*summary.remarks, remark))
        yield Judgement(env, summary)


def _only(whole: JudgedFile, env: str) -> JudgedFile:
    """Drop the trials of other environments; controls and usage are those of the whole file."""

    def belongs(line: dict[str, Any]) -> bool:
        return "key" not in line or line["key"]["env"] == env

    return whole._replace(lines=tuple(filter(belongs, whole.lines)))
