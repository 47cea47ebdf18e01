"""Learner ranks as actors: the ranks of a run on a cluster, and the driver that starts them.

Each rank runs the same function as a rank on a single machine. They rendezvous at a store on the
node of rank 0 and exchange gradients over torch.distributed; the driver only relays what rank 0
reports. If the process of a rank is lost, the driver restarts all ranks, which resume from the last
state.
"""

import os
import queue
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError

from hexathlon.baselines import interrupts
from hexathlon.baselines.cluster.addresses import node_address, use_interface
from hexathlon.baselines.cluster.backend import ClusterBackend
from hexathlon.baselines.cluster.connect import ClusterError, RayCluster
from hexathlon.baselines.cluster.handles import reason_of
from hexathlon.baselines.cluster.log import note
from hexathlon.baselines.cluster.pools import reserve
from hexathlon.baselines.distributed.devices import backend_with
from hexathlon.baselines.distributed.launch import RankFailed, join_by, leave, peer_is_gone
from hexathlon.baselines.learner.ranks import ALONE, Ranks
from hexathlon.baselines.training.folder import RECIPE_FILE
from hexathlon.baselines.training.loggers import Logger
from hexathlon.baselines.training.metrics import ProgressCallback
from hexathlon.baselines.training.recipe import Recipe, recipe_of
from hexathlon.baselines.training.run import Launch, train_rank
from hexathlon.baselines.training.samples import TrialSample
from hexathlon.evaluators.statistics import ScoreInterval

__all__ = ["LearnerRank", "Rendezvous", "launch_on"]

_POLL_S = 1.0
"""Interval between the driver's checks for an interruption."""

_CAUSE_S = 20.0
"""Time to wait for other ranks to exit after one failed, to find the root cause, and for the last
reports."""

_CALLS = 4
"""Maximum number of concurrent calls to a rank: its work, and queries of the driver."""

_Results = dict[str, ScoreInterval]


class Rendezvous(NamedTuple):
    """Address of the store at which the ranks of a run rendezvous."""

    host: str
    port: int


class LearnerRank:
    """One rank in its own process; an actor.

    Args:
        number: Number of the rank, from 0.
        count: Number of ranks.
        gpus: GPUs reserved for it.
    """

    def __init__(self, number: int, count: int, gpus: float) -> None:
        self._number, self._count = number, count
        self._backend = backend_with(gpus)
        self._events: queue.Queue[tuple[Any, ...]] = queue.Queue()
        self._store: Any = None
        if not gpus:
            os.environ["CUDA_VISIBLE_DEVICES"] = ""

    def process(self) -> int:
        """Return the id of the rank's process."""
        return os.getpid()

    def rendezvous(self) -> Rendezvous:
        """Open the store for the rendezvous and return its address; called on rank 0."""
        host = node_address()
        self._store = _store(host, 0, first=True)
        return Rendezvous(host, self._store.port)

    def run(
        self, table: Mapping[str, Any], out: str, rendezvous: Rendezvous, relays: bool
    ) -> _Results:
        """Run the rank's part of a recipe; return the results on rank 0, {} on others.

        Args:
            table: The recipe's table, with `scale` applied.
            out: The run's folder.
            rendezvous: Address of the store.
            relays: Whether the driver has loggers.
        """
        folder = Path(out)
        if not (folder / RECIPE_FILE).is_file():
            raise ClusterError(
                f"rank {self._number} on {socket.gethostname()} cannot access {folder}: the run's "
                "folder must be on a file system that all learner ranks share"
            )
        recipe = recipe_of(dict(table))
        ranks = self._joined(rendezvous)
        loggers = [_RelayedLogger(self._events)] if relays and self._number == 0 else []
        backend = ClusterBackend(RayCluster.current(), recipe.cluster)
        try:
            return train_rank(recipe, folder, self._report, ranks, loggers, backend)
        finally:
            backend.close()
            if self._count > 1:
                leave()

    def events(self, within: float) -> list[tuple[Any, ...]]:
        """Wait for reports of rank 0, and return all of them."""
        try:
            events = [self._events.get(timeout=within)]
        except queue.Empty:
            return []
        while not self._events.empty():
            events.append(self._events.get())
        return events

    def _joined(self, rendezvous: Rendezvous) -> Ranks:
        if self._count == 1:
            return ALONE
        use_interface()
        store = self._store or _store(rendezvous.host, rendezvous.port, first=False)
        return join_by(store, self._number, self._count, self._backend)

    def _report(self, phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        if self._number == 0:
            self._events.put(("report", phase, step, steps, metrics))


class _RelayedLogger:
    """Sends a run's metrics and samples to the driver's loggers."""

    def __init__(self, events: "queue.Queue[tuple[Any, ...]]") -> None:
        self._events = events

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        self._events.put(("log", step, dict(metrics)))

    def show(self, step: int, samples: Sequence[TrialSample]) -> None:
        self._events.put(("show", step, list(samples)))

    def close(self) -> None:
        """Do nothing: the driver closes its loggers."""


def launch_on(cluster: RayCluster) -> Launch:
    """Return a function that starts the ranks of a run on a cluster.

    Args:
        cluster: The cluster, to which this process is connected.
    """
    return partial(_launch, cluster)


class _RankLost(Exception):
    """The process of a rank was lost."""


def _launch(
    cluster: RayCluster,
    recipe: Recipe,
    out: Path,
    report: ProgressCallback,
    loggers: Sequence[Logger],
) -> _Results:
    lost = 0
    while True:
        try:
            return _run(cluster, recipe, out, report, loggers)
        except _RankLost as error:
            lost += 1
            if lost > recipe.cluster.restarts:
                raise RankFailed(
                    f"{error}; no restarts are left (cluster.restarts = {lost - 1}). Run the "
                    "recipe again to resume from the last state"
                ) from error
            note(out, f"{error}; all ranks restart from the last state")


def _run(
    cluster: RayCluster,
    recipe: Recipe,
    out: Path,
    report: ProgressCallback,
    loggers: Sequence[Logger],
) -> _Results:
    """Start the ranks, relay what rank 0 reports, and return its results."""
    place, count, within = recipe.cluster.rank, recipe.ranks, recipe.cluster.start_within
    wanted = [place.bundle()] * count
    bundles = reserve(cluster, wanted, name="learner ranks", within=within)
    actor: Any = ray.remote(LearnerRank)
    ranks: list[Any] = []
    try:
        for number in range(count):
            options = bundles.options(number)
            ranks.append(
                actor.options(**options, max_concurrency=_CALLS).remote(number, count, place.gpus)
            )
        rendezvous = _answer(ranks[0].rendezvous.remote(), "rank 0 to start", within)
        pids = _answer([rank.process.remote() for rank in ranks], "all ranks to start", within)
        note(out, f"{count} ranks started: processes {', '.join(map(str, pids))}")
        table = recipe.model_dump(mode="json")
        work = [
            rank.run.remote(table, str(out.resolve()), rendezvous, bool(loggers)) for rank in ranks
        ]
        return _relayed(ranks[0], work, partial(_apply, report, loggers))
    finally:
        for rank in ranks:
            ray.kill(rank)
        bundles.release()


def _relayed(
    first: Any, work: list[Any], apply: Callable[[Sequence[tuple[Any, ...]]], None]
) -> _Results:
    """Wait for all ranks, passing on what rank 0 reports."""
    running = dict(zip(work, range(len(work)), strict=True))
    events = first.events.remote(_POLL_S)
    results: _Results = {}
    while running:
        done, _ = ray.wait([*running, events], num_returns=1, timeout=_POLL_S)
        interrupts.check()
        for reference in done:
            if reference == events:
                apply(_outcome(0, events, running))
                events = first.events.remote(_POLL_S)
            else:
                outcome = _outcome(running[reference], reference, running)
                if running.pop(reference) == 0:
                    results = outcome
    with suppress(RayError):  # the results do not depend on the last reports
        apply(ray.get(first.events.remote(0.0), timeout=_CAUSE_S))
    return results


def _outcome(number: int, reference: Any, running: dict[Any, int]) -> Any:
    """Return the result of a rank's call; raise the root cause if it failed."""
    try:
        return ray.get(reference)
    except RayError as error:
        failures = {number: error}
        others = [other for other in running if other != reference]
        ended = ray.wait(others, num_returns=len(others), timeout=_CAUSE_S)[0] if others else []
        for other in ended:
            try:
                ray.get(other)
            except RayError as further:
                failures.setdefault(running[other], further)
        raise _cause(failures) from error


def _cause(failures: Mapping[int, RayError]) -> Exception:
    """Return the root cause among failures by rank, rather than a failure caused by a peer's."""
    for number, error in failures.items():
        if isinstance(error, RayActorError):
            return _RankLost(f"rank {number} was lost: {reason_of(error)}")
    for number, error in sorted(failures.items()):
        cause = error.cause if isinstance(error, RayTaskError) else error
        if isinstance(cause, Exception) and not peer_is_gone(cause):
            if number == 0:
                return cause  # unwrapped, as in a run without a cluster
            text = str(cause).strip().splitlines()
            return RankFailed(
                f"rank {number} failed: {text[0] if text else type(cause).__name__}; fix this and "
                "run the recipe again to resume from the last state"
            )
    return _RankLost(f"rank {min(failures)} lost a peer: {reason_of(failures[min(failures)])}")


def _answer(call: Any, what: str, within: float) -> Any:
    """Wait for a call, checking for interruptions."""
    until = time.monotonic() + within
    while True:
        interrupts.check()
        try:
            return ray.get(call, timeout=min(_POLL_S, max(until - time.monotonic(), 0.0)))
        except GetTimeoutError:
            if time.monotonic() >= until:
                raise ClusterError(
                    f"waited {within:.0f} s for {what}: raise cluster.start_within if the nodes "
                    "are slow, otherwise see Ray's logs"
                ) from None
        except RayActorError as error:
            raise ClusterError(f"a learner rank could not start: {reason_of(error)}") from error


def _apply(
    report: ProgressCallback, loggers: Sequence[Logger], events: Sequence[tuple[Any, ...]]
) -> None:
    for kind, *content in events:
        if kind == "report":
            report(*content)
        else:
            for logger in loggers:
                getattr(logger, kind)(*content)


def _store(host: str, port: int, *, first: bool) -> Any:
    import torch.distributed as dist

    return dist.TCPStore(  # type: ignore[attr-defined]
        host, port, is_master=first, wait_for_workers=False
    )
