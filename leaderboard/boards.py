"""Boards: grouping of submissions into tables, their order, and its uncertainty.

One board is one version of one environment on one task set. Rows of different versions or task sets
are never ranked against each other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hexathlon.evaluators.judged.results import JudgedSummary
from hexathlon.evaluators.records.canonical import content_hash
from hexathlon.evaluators.statistics import PairTests, pair_tests, pareto_front
from hexathlon.evaluators.tally import level_order
from hexathlon.leaderboard.predicting import Predictability
from hexathlon.leaderboard.qualifying import BoardPlan, Member, board_plan
from hexathlon.leaderboard.resolution import Resolution, resolution
from hexathlon.leaderboard.rows import BoardRow, make_row, row_order
from hexathlon.leaderboard.submission import Submission
from hexathlon.leaderboard.text import slug


@dataclass(frozen=True, slots=True)
class CostPoint:
    """One submission in the plot of score against cost."""

    number: int
    row: BoardRow
    cost: float
    on_front: bool


@dataclass(frozen=True, slots=True)
class Board:
    """A ranking."""

    env: str
    version: str
    tasksets: tuple[str, ...]
    """Name, split, level and hash of each of its task sets."""
    rows: tuple[BoardRow, ...]
    """Ranked rows by rank and score, then unranked ones, then the reference agents."""
    floor: float | None
    """Score of the best trivial agent that was run on this board."""
    floor_name: str | None
    ceiling: float | None
    """Score of the oracle."""
    older: bool
    """Whether a board of a newer version of the same environment exists."""
    resolution: Resolution | None = None
    """What its tasks and trials tell apart; None without ranked rows."""
    predictable: Predictability | None = None
    """Of the endings of the oracle's run that sets the ceiling; None without such a run."""
    plan: str = ""
    """Hash of the plan that the builder of the site named for the board; empty if its rows decided.
    """
    commitments: tuple[str, ...] = ()
    """Hashes of the secrets from which its held-out tasks were drawn; empty for open tasks."""

    @property
    def anchor(self) -> str:
        """HTML anchor of the board, and the name of its page."""
        return board_anchor(self.env, self.version, self.tasksets)

    @property
    def title(self) -> str:
        """Short name of the environment and its task sets; see `board_title`."""
        return board_title(self.env, self.tasksets)

    @property
    def templates(self) -> list[str]:
        """Names of all templates, the hardest (over the ranked rows) last."""
        return self._sorted_groups("templates")

    @property
    def levels(self) -> list[str]:
        """Names of all levels, easiest first."""
        return sorted({name for row in self.rows for name in row.result.levels}, key=level_order)

    @property
    def repeats(self) -> list[int]:
        """The k above 1 for which some row has pass@k and pass^k."""
        return sorted({k for row in self.rows for k in row.score.pass_at if k > 1})

    @property
    def stops(self) -> list[str]:
        """How trials of the competing rows ended, the most frequent first."""
        counts: Counter[str] = Counter()
        for row in self.competitors:
            counts.update(row.result.tally.stops)
        return [name for name, count in counts.most_common(8) if count > 0]

    @property
    def competitors(self) -> list[BoardRow]:
        """Rows that are not reference agents."""
        return [row for row in self.rows if row.submission.reference is None]

    @property
    def ambiguous(self) -> frozenset[str]:
        """Names that several rows have; tables add the team to them."""
        counts = Counter(row.submission.name for row in self.rows)
        return frozenset(name for name, count in counts.items() if count > 1)

    @property
    def judged(self) -> list[tuple[BoardRow, JudgedSummary]]:
        """Judges' summaries of the rows' trials, in the order of the rows."""
        return [(row, one) for row in self.rows for one in row.submission.judged.of(self.env)]

    def _sorted_groups(self, kind: str) -> list[str]:
        means: dict[str, list[float]] = {}
        for row in self.competitors or self.rows:
            for name, score in getattr(row.result, kind).items():
                means.setdefault(name, []).extend([] if score.mean is None else [score.mean])
        return sorted(means, key=lambda n: (-math.fsum(means[n]) / max(1, len(means[n])), n))

    def planes(self) -> list[tuple[str, list[CostPoint]]]:
        """Return each axis of cost and its points: all that are known of every ranked row.

        Money or, if some prices are unknown, tokens; then seconds per model call.
        """
        rows = [row for row in self.competitors if row.best is not None]
        known = [
            name
            for name in ("cost", "tokens", "latency")
            if len(rows) > 1 and all(getattr(row, name) for row in rows)
        ]
        if "cost" in known and "tokens" in known:
            known.remove("tokens")
        return [(name, _points(rows, name)) for name in known]


def _points(rows: Sequence[BoardRow], name: str) -> list[CostPoint]:
    costs = [getattr(row, name) for row in rows]
    front = pareto_front(list(zip(costs, [row.score.mean or 0.0 for row in rows], strict=True)))
    numbered = enumerate(zip(rows, costs, front, strict=True), start=1)
    return [CostPoint(i, row, cost, on) for i, (row, cost, on) in numbered]


def make_boards(submissions: Sequence[Submission], plans: Sequence[str] = ()) -> list[Board]:
    """Return the boards of all submissions: by environment, the newest version first.

    Args:
        submissions: The rows.
        plans: Plan hashes or prefixes of them, each naming the plan of its boards.

    Raises:
        PlanNameError: If plans with different trials or limits are named for one board.
    """
    groups: dict[tuple[str, str, tuple[str, ...]], list[Member]] = {}
    for submission in submissions:
        for result in submission.summary.envs:
            key = (result.env, result.version, tasksets_of(submission.plan, result.env))
            groups.setdefault(key, []).append(Member(submission, result))
    newest: dict[str, list[tuple[int, Any]]] = {}
    for env, version, _ in groups:
        name, order = _epoch(env, version)
        newest[name] = max(newest.get(name, []), order)
    boards = []
    for key, members in groups.items():
        name, order = _epoch(key[0], key[1])
        boards.append(_board(*key, members, plans, older=order < newest[name]))
    boards.sort(key=lambda board: (board.env, board.title, board.tasksets))
    boards.sort(key=lambda board: _version_order(board.version), reverse=True)
    return sorted(boards, key=lambda board: (board.older, board.env))


def _epoch(env: str, version: str) -> tuple[str, list[tuple[int, Any]]]:
    """Return an environment's name without `-vN`, and a sorting key: by N, then by version."""
    name, _, number = env.rpartition("-v")
    return name or env, [*_version_order(number), *_version_order(version)]


def _version_order(version: str) -> list[tuple[int, Any]]:
    """Return a sorting key that orders versions numerically: 10 after 9."""
    return [(1, int(p)) if p.isdecimal() else (0, p) for p in version.replace("-", ".").split(".")]


def board_anchor(env: str, version: str, tasksets: Sequence[str]) -> str:
    """Return the name of a board's page."""
    return slug(f"{env}-{version}-{content_hash(tasksets)[:6]}", 80)


def board_title(env: str, tasksets: Sequence[str]) -> str:
    """Return the short name of an environment, with its task sets if they differ from the default.

    >>> board_title("hexathlon/SQL-v1", ["sql:test 0b284b2aa756"])
    'SQL'
    >>> board_title("hexathlon/SQL-v1", ["chinook:dev:hard 3f35ac0ddf37"])
    'SQL · chinook dev hard'
    """
    name = env.rpartition("/")[2].partition("-v")[0]
    words = [word for line in tasksets for word in line.partition(" ")[0].split(":")]
    others = [word for word in dict.fromkeys(words) if word not in (name.casefold(), "test")]
    return f"{name} · {' '.join(others)}" if others else name


def tasksets_of(plan: dict[str, Any], env: str) -> tuple[str, ...]:
    """Return one line per task set from which a plan draws this environment's tasks."""
    lines = []
    for entry in plan["envs"]:
        if entry.get("id") == env:
            parts = [str(entry[n]) for n in ("taskset", "split", "level") if entry.get(n)]
            lines.append(f"{':'.join(parts)} {str(entry.get('taskset_hash') or '')[:12]}".strip())
    return tuple(sorted(lines))


def _board(
    env: str,
    version: str,
    tasksets: tuple[str, ...],
    members: list[Member],
    plans: Sequence[str],
    *,
    older: bool,
) -> Board:
    plan = board_plan(members, plans)
    anchors = _anchors(members, plan)
    floors = [(m.result.score.mean, m.submission.name) for m in anchors["floor"]]
    known = [(mean, name) for mean, name in floors if mean is not None]
    floor, floor_name = max(known) if known else (None, None)
    tops = [m.result.score.mean for m in anchors["ceiling"]]
    ceiling = max((top for top in tops if top is not None), default=None)
    predictable = [m.submission.predictable.get((env, version)) for m in anchors["ceiling"]]
    reasons = [_why_unranked(member, plan) for member in members]
    ranked = [index for index, reason in enumerate(reasons) if reason is None]
    tests = pair_tests([members[index].units for index in ranked])
    places = dict(zip(ranked, tests.rank_ranges(), strict=True))
    made = [
        make_row(member, plan, places.get(index), reasons[index], floor, ceiling)
        for index, member in enumerate(members)
    ]
    order = sorted(range(len(made)), key=lambda index: row_order(made[index]))
    return Board(
        env=env,
        version=version,
        tasksets=tasksets,
        rows=tuple(made[index] for index in order),
        floor=floor,
        floor_name=floor_name,
        ceiling=ceiling,
        older=older,
        resolution=_resolution(
            [made[index] for index in order if index in places],
            tests.of([ranked.index(index) for index in order if index in places]),
        ),
        predictable=next(filter(None, predictable), None),
        plan=plan.hash,
        commitments=_commitments(members, env),
    )


def _commitments(members: Sequence[Member], env: str) -> tuple[str, ...]:
    rows = [row for m in members for row in m.submission.plan["envs"] if row.get("id") == env]
    return tuple(
        sorted({str(row["salt_commitment"]) for row in rows if row.get("salt_commitment")})
    )


def _resolution(rows: Sequence[BoardRow], tests: PairTests) -> Resolution | None:
    keys = [(row.result.env, row.result.version) for row in rows]
    return resolution(
        [row.submission.units[key] for row, key in zip(rows, keys, strict=True)],
        [row.best or 0 for row in rows],
        [row.submission.noise[key] for row, key in zip(rows, keys, strict=True)],
        [(row.submission.name, row.submission.identity) for row in rows],
        tests,
    )


def _anchors(members: Sequence[Member], plan: BoardPlan) -> dict[str, list[Member]]:
    """Return the reference runs that count: of the board's plan, replay-verified if any is.

    A run stopped by a limit shows what its agent reached by then, not what it can reach.
    """
    found: dict[str, list[Member]] = {"floor": [], "ceiling": []}
    for member in members:
        kind = member.submission.reference
        if kind is not None and plan.disqualifies(member) is None and not _limited(member):
            found[kind].append(member)
    return {
        kind: [one for one in anchors if one.submission.verified] or anchors
        for kind, anchors in found.items()
    }


def _why_unranked(member: Member, plan: BoardPlan) -> str | None:
    reason, kind = plan.disqualifies(member), member.submission.reference
    if kind is not None and reason is None:
        stopped = _limited(member)
        trials = "1 trial" if stopped == 1 else f"{stopped} trials"
        sets = f"sets no {kind}, a limit stopped {trials}" if stopped else f"sets the {kind}"
        return f"reference agent: {sets}"
    return reason or member.result.score.unrankable


def _limited(member: Member) -> int:
    """Return how many trials a limit of the run ended."""
    flags = member.result.tally.flags
    return sum(count for flag, count in flags.items() if flag.startswith("limit:"))
