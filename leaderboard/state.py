"""State of a packed submission: what boards and pages need of it, as JSON.

It is written once, after the records were checked, and read by every later build. It holds no
scores of tasks: those are in the packed files, and paired tests need only sums over units.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import operator
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hexathlon.evaluators.statistics import Denominators, ScoreInterval, UnitSums
from hexathlon.evaluators.summary import EnvSummary, Score, Summary
from hexathlon.evaluators.tally import EnvTally, LookCounts, RoleUsage, Spread
from hexathlon.leaderboard.judged import load_judgements
from hexathlon.leaderboard.predicting import Predictability
from hexathlon.leaderboard.submission import PlannedTrials, Submission

__all__ = ["restored", "state_of"]

_COUNTERS = ("stops", "flags", "faults", "unmet", "sandboxes", "checks")
_NUMBERS = ("turns", "tool_errors", "cut_chars", "records")


def state_of(submission: Submission) -> dict[str, Any]:
    """Return the state of a submission as JSON."""
    summary = submission.summary
    return {
        "plan": submission.plan,
        "overall": None if summary.overall is None else _score(summary.overall),
        "records": summary.records,
        "envs": [_env(env) for env in summary.envs],
        "planned": {env: [one.digest, one.number] for env, one in submission.planned.items()},
        "units": [[*key, *units] for key, units in submission.units.items()],
        "noise": [[*key, noise] for key, noise in submission.noise.items()],
        "work": submission.work,
        "head": submission.head,
        "slug": submission.slug,
        "torn": submission.torn,
        "contradiction": submission.contradiction,
        "predictable": [[*key, *found] for key, found in submission.predictable.items()],
    }


def restored(
    state: Mapping[str, Any], folder: Path, run: Path, verified: bool, obstacle: str
) -> Submission:
    """Return the submission of a state.

    Args:
        state: From `state_of`.
        folder: Directory of its packed files.
        run: Its run directory.
        verified: Whether the caller has replayed it.
        obstacle: Why the caller could not.
    """
    envs = tuple(_env_summary(env) for env in state["envs"])
    overall = None if state["overall"] is None else _score_from(state["overall"])
    return Submission(
        path=run,
        plan=state["plan"],
        summary=Summary(envs, overall, state["records"]),
        planned={
            env: PlannedTrials(digest, number, run, env)
            for env, (digest, number) in state["planned"].items()
        },
        units={
            (env, version): UnitSums(*map(tuple, sums)) for env, version, *sums in state["units"]
        },
        noise={(env, version): noise for env, version, noise in state["noise"]},
        work=state["work"],
        head=state["head"],
        slug=state["slug"],
        verified=verified,
        obstacle=obstacle,
        torn=state["torn"],
        judged=load_judgements(run, state["plan"]["plan_hash"]),
        contradiction=state["contradiction"],
        predictable={
            (env, version): Predictability(*found) for env, version, *found in state["predictable"]
        },
        begun=functools.partial(_begun, folder),
    )


def _begun(folder: Path) -> frozenset[str]:
    return frozenset(json.loads((folder / "starts.json").read_bytes()))


def _fields(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    """Return a getter of a data class's fields; `astuple` copies each of them."""
    return operator.attrgetter(*(field.name for field in dataclasses.fields(kind)))


_INTERVAL = _fields(ScoreInterval)
_BOUNDS = _fields(Denominators)


def _score(score: Score) -> list[Any]:
    """Return a score as a list of its fields, shorter than an object by half."""
    return [
        score.tasks,
        score.trials,
        score.scored,
        score.unscored,
        score.infra,
        None if score.interval is None else [*_INTERVAL(score.interval)],
        [*_BOUNDS(score.bounds)],
        list(score.pass_at.items()),
        list(score.pass_hat.items()),
        score.consistency,
        score.partial,
    ]


def _score_from(fields: list[Any]) -> Score:
    tasks, trials, scored, unscored, infra, interval, bounds, at, hat, consistency, partial = fields
    return Score(
        tasks=tasks,
        trials=trials,
        scored=scored,
        unscored=unscored,
        infra=infra,
        interval=None if interval is None else ScoreInterval(*interval),
        bounds=Denominators(*bounds),
        pass_at=dict(map(tuple, at)),
        pass_hat=dict(map(tuple, hat)),
        consistency=consistency,
        partial=partial,
    )


def _env(env: EnvSummary) -> dict[str, Any]:
    tally = env.tally
    return {
        "env": env.env,
        "version": env.version,
        "planned": env.planned,
        "score": _score(env.score),
        "templates": {name: _score(score) for name, score in env.templates.items()},
        "levels": {name: _score(score) for name, score in env.levels.items()},
        "causes": [[*cause, count] for cause, count in tally.causes.items()],
        "looks": {name: [look.scored, look.reward] for name, look in tally.looks.items()},
        "usage": {role: dataclasses.astuple(use) for role, use in tally.usage.items()},
        "seconds": tally.seconds.as_json(),
        "latencies": tally.latencies.as_json(),
        **{name: dict(getattr(tally, name)) for name in _COUNTERS},
        **{name: getattr(tally, name) for name in _NUMBERS},
    }


def _env_summary(state: Mapping[str, Any]) -> EnvSummary:
    tally = EnvTally(
        state["env"],
        state["version"],
        causes=Counter({(kind, cause): count for kind, cause, count in state["causes"]}),
        looks={name: LookCounts(*look) for name, look in state["looks"].items()},
        usage={role: RoleUsage(*use) for role, use in state["usage"].items()},
        seconds=Spread.from_json(state["seconds"]),
        latencies=Spread.from_json(state["latencies"]),
    )
    for name in _COUNTERS:
        setattr(tally, name, Counter(state[name]))
    for name in _NUMBERS:
        setattr(tally, name, state[name])
    return EnvSummary(
        env=state["env"],
        version=state["version"],
        planned=state["planned"],
        score=_score_from(state["score"]),
        templates={name: _score_from(score) for name, score in state["templates"].items()},
        levels={name: _score_from(score) for name, score in state["levels"].items()},
        tally=tally,
    )
