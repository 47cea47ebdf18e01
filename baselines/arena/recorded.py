"""Performances from the records of evaluations, so that an arena needs no records of its own."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines.arena.simulation import Performance
from hexathlon.baselines.harness.errors import UsageError
from hexathlon.evaluators.records import RecordError, check_chain, read_records, record_key
from hexathlon.evaluators.records.plan import PlanError, TrialKey, read_plan

__all__ = ["ArenaPlayer", "performances_of"]

_SHARED = ("version", "split", "taskset_hash")


class ArenaPlayer(NamedTuple):
    """One agent of an arena and the run that holds its trials."""

    name: str
    run: Path
    plan: Mapping[str, Any]
    head: str
    """Hash of the run's last record."""

    trials: int

    def as_json(self) -> dict[str, Any]:
        """Return what identifies the player and its run, without the path."""
        model = self.plan["model"]
        return {
            "name": self.name,
            "model": {"kind": model["kind"], "name": model["name"]},
            "team": self.plan.get("team", ""),
            "run_id": self.plan["run_id"],
            "plan_hash": self.plan["plan_hash"],
            "head": self.head,
            "trials": self.trials,
        }


def performances_of(
    runs: Mapping[str, Path],
) -> tuple[list[ArenaPlayer], list[Performance]]:
    """Return the players and their performances, ordered by player.

    A scene is a task played in one environment with one seed and trial number. Of several attempts
    at a trial, the last one counts.

    Args:
        runs: Run directories by the players' names.

    Raises:
        UsageError: If a run cannot be read or was changed, the runs are of different tasks, or no
            scene was played by two players.
    """
    players: list[ArenaPlayer] = []
    performances: list[Performance] = []
    for name, run in runs.items():
        player, own = _read(name, run)
        players.append(player)
        performances += own
    _check_tasks(players)
    times = Counter(performance.scene for performance in performances)
    if max(times.values(), default=0) < 2:
        raise UsageError(
            f"no scene was played by two of the players {', '.join(runs)}: expected runs of the "
            "same tasks and seeds"
        )
    return players, performances


def _read(name: str, run: Path) -> tuple[ArenaPlayer, list[Performance]]:
    try:
        plan = read_plan(run)
        faults = check_chain(run, plan["plan_hash"])
        if faults:
            raise UsageError(f"{run}: {faults[0]}; a run with a broken chain cannot take part")
        last: dict[TrialKey, dict[str, Any]] = {}
        head = str(plan["plan_hash"])
        for record in read_records(run):
            last[record_key(record)] = record
            head = str(record["hash"])
    except (PlanError, RecordError, OSError) as error:
        raise UsageError(str(error)) from None
    own = [Performance(name, scene, last[key]) for key, scene in _scenes(last)]
    return ArenaPlayer(name, run, plan, head, len(own)), own


def _scenes(keys: Iterable[TrialKey]) -> Iterator[tuple[TrialKey, str]]:
    """Name each trial's scene: environment and task, seed and trial number unless both are 0."""
    for key in keys:
        env, task, seed, trial = key
        place = f"{env} {task}"
        yield key, place if seed == trial == 0 else f"{place} seed {seed} trial {trial}"


def _check_tasks(players: list[ArenaPlayer]) -> None:
    """Refuse runs whose tasks of one event differ in version, split or content."""
    first: dict[tuple[str, str], tuple[ArenaPlayer, Mapping[str, Any]]] = {}
    for player in players:
        for row in player.plan["envs"]:
            before, known = first.setdefault((row["id"], row["taskset"]), (player, row))
            differing = [field for field in _SHARED if row[field] != known[field]]
            if differing:
                field = differing[0]
                raise UsageError(
                    f"{before.name} and {player.name} played other tasks of {row['id']}: {field} "
                    f"is {known[field]!r} and {row[field]!r}; play them again on the same ones"
                )
