"""The work buffer of asynchronous training: decides which groups to play and to train on next.

Admission bounds staleness: with batches of B groups, policy version v and staleness eta, at most
(eta + v + 1) B groups are accepted or running, and at most as many rollouts run as there are slots
(AReaL, section 5.1). Batches are taken in the order of submission within a window, not in the order
of completion, which would favour short episodes. Finished groups wait here, failed members are
absent, and a group below its minimum size is lost.

The buffer has no clock, no event loop and no environment: callers report events and their times.
The asynchronous source drives it with real rollouts, `hexathlon.baselines.pipeline.simulation` with
simulated ones.
"""

from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

__all__ = ["AdmissionRules", "BufferedGroup", "ExpiredGroup", "WorkBuffer"]

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class AdmissionRules:
    """Sizes that determine which groups are submitted and which are taken.

    Raises:
        ValueError: If a value is out of range.
    """

    groups: int
    """Groups per update, B."""

    slots: int
    """Maximum number of concurrent rollouts, C_max."""

    staleness: int = 0
    """Maximum number of updates between a group's submission and its update, eta."""

    surplus: int = 0
    """Groups submitted beyond the bound; whichever finish first are trained on (APRIL)."""

    window: int = 0
    """Number of groups, in the order of submission, from which a batch is chosen; at least
    `groups`, which takes them strictly in that order."""

    least: int = 1
    """Minimum number of scored rollouts in a group."""

    pacing: bool = True
    """Whether an update waits for a group that would be older than `staleness` at the next one."""

    def __post_init__(self) -> None:
        if min(self.groups, self.slots, self.least) < 1 or min(self.staleness, self.surplus) < 0:
            raise ValueError(
                "expected groups, slots and least >= 1, staleness and surplus >= 0, got "
                f"{self.groups}, {self.slots}, {self.least}, {self.staleness}, {self.surplus}"
            )


@dataclass(slots=True, eq=False)
class BufferedGroup(Generic[Item, Result]):
    """A submitted group."""

    number: int
    """Index in the order of submission, from 0."""

    item: Item
    """The caller's description of the group."""

    version: int
    """Policy version at its submission."""

    since: float
    """Time of its submission, in seconds."""

    running: set[int]
    """Numbers of the members that have no result yet."""

    results: dict[int, list[Result]] = field(default_factory=dict)
    """Results by member; a rollout that forks has several, a failed one none."""

    scored: int = 0
    """Number of scored rollouts."""

    cut: int = 0
    """Number of members that were ended: by a deadline, or because they were not needed."""

    enough: int = 0
    """Number of scored rollouts that finish the group; 0 waits for all members."""

    @property
    def finished(self) -> bool:
        """Whether no member is running."""
        return not self.running

    def all_results(self) -> list[Result]:
        """Return the results of all members, in the order of their numbers."""
        return [result for _, results in sorted(self.results.items()) for result in results]


class ExpiredGroup(NamedTuple, Generic[Item, Result]):
    """A group ended by a deadline."""

    group: BufferedGroup[Item, Result]
    members: list[int]
    """Members that were running."""

    lost: bool
    """Whether it has too few scored rollouts to be trained on."""


class WorkBuffer(Generic[Item, Result]):
    """Submitted groups, from their submission until they are taken or lost.

    Args:
        rules: The sizes.
        version: Version of the policy that samples.
    """

    def __init__(self, rules: AdmissionRules, version: int = 0) -> None:
        self.rules = rules
        self.version = version
        self.lost_in_a_row = 0
        """Number of consecutive lost groups."""

        self._groups: dict[int, BufferedGroup[Item, Result]] = {}
        self._submitted = 0
        self._taken = 0
        self.running = 0
        """Number of rollouts that are running or wait for a slot."""

    @property
    def open(self) -> list[BufferedGroup[Item, Result]]:
        """The groups that are neither taken nor lost, in the order of submission."""
        return list(self._groups.values())

    def admits(self) -> bool:
        """Return whether one more group may be submitted.

        The last group admitted may have more rollouts than there are free slots; they wait.
        """
        # AReaL counts groups since the first update, of which earlier updates took exactly v B.
        # Here an update may take fewer or more groups, so v B is subtracted on both sides.
        bound = (self.rules.staleness + 1) * self.rules.groups + self.rules.surplus
        return self.running < self.rules.slots and len(self._groups) + self._taken < bound

    def submit(
        self, item: Item, members: int, now: float = 0.0, enough: int = 0
    ) -> BufferedGroup[Item, Result]:
        """Add a group that starts now.

        Args:
            item: The caller's description of the group.
            members: Number of members.
            now: The time, in seconds.
            enough: Number of scored rollouts that finish the group; 0 waits for all members.
        """
        number, self._submitted = self._submitted, self._submitted + 1
        group: BufferedGroup[Item, Result] = BufferedGroup(
            number, item, self.version, now, set(range(members)), enough=enough
        )
        self._groups[number] = group
        self.running += members
        return group

    def report(self, number: int, member: int, results: list[Result], scored: int) -> bool:
        """Add the result of a member; return whether the group is now lost.

        Args:
            number: The group.
            member: The member.
            results: Its rollouts, including failed ones.
            scored: Number of these that have a score.
        """
        group = self._groups.get(number)
        if group is None or member not in group.running:  # ended by a deadline before
            return False
        group.running.discard(member)
        self.running -= 1
        group.results[member] = results
        group.scored += scored
        return group.finished and self._settled(group)

    def surplus(self, number: int) -> list[int]:
        """End and return the running members of a group that has enough scored rollouts."""
        group = self._groups.get(number)
        if group is None or not group.running or not 0 < group.enough <= group.scored:
            return []
        members = self._cut(group)
        self._settled(group)
        return members

    def _cut(self, group: BufferedGroup[Item, Result]) -> list[int]:
        """End the running members of a group and return them."""
        members = sorted(group.running)
        group.running.clear()
        self.running -= len(members)
        group.cut += len(members)
        return members

    def _settled(self, group: BufferedGroup[Item, Result]) -> bool:
        """Return whether a group without running members is lost; remove a lost one."""
        if group.scored >= self.rules.least:
            self.lost_in_a_row = 0
            return False
        self.lost_in_a_row += 1
        del self._groups[group.number]
        return True

    def ready(self, wanted: int, *, closing: bool = False) -> bool:
        """Return whether a batch is available.

        Args:
            wanted: Number of groups.
            closing: Whether the deadline has passed, so that any finished group is enough.
        """
        if closing:
            return any(group.finished for group in self._groups.values())
        return len(self._choice(wanted)) >= wanted

    def take(self, wanted: int, *, closing: bool = False) -> list[BufferedGroup[Item, Result]]:
        """Remove and return the next batch, in the order of submission; see `ready`.

        Returns:
            `wanted` groups; possibly fewer when closing.
        """
        if closing:
            chosen = [group for group in self._groups.values() if group.finished][:wanted]
        else:
            chosen = self._choice(wanted)
        for group in chosen:
            del self._groups[group.number]
        self._taken += len(chosen)
        return chosen

    def _choice(self, wanted: int) -> list[BufferedGroup[Item, Result]]:
        """Return the finished groups to take; fewer than wanted if the batch must wait."""
        rules = self.rules
        candidates = islice(self._groups.values(), max(wanted, rules.window))
        chosen = list(islice((group for group in candidates if group.finished), wanted))
        return chosen if not rules.pacing or self._in_time(chosen, wanted) else []

    def _in_time(self, chosen: list[BufferedGroup[Item, Result]], wanted: int) -> bool:
        """Return whether later updates can take all other groups before these get too old.

        Of the groups that must be taken by the k-th next update, this batch must contain those for
        which the next k updates have no capacity. Versions increase in the order of submission, so
        the earliest finished groups are the best choice.
        """
        rules = self.rules
        for later in range(rules.staleness + 1):
            latest = self.version - rules.staleness + later
            due = sum(group.version <= latest for group in self._groups.values())
            needed = min(wanted, due - later * rules.groups)
            if sum(group.version <= latest for group in chosen) < needed:
                return False
        return True

    def give_back(self, count: int) -> None:
        """Admit as many more groups, in place of taken ones that the update does not use."""
        self._taken = max(0, self._taken - count)

    def expire(self, before: float) -> list[ExpiredGroup[Item, Result]]:
        """End the running members of groups submitted at or before a time.

        Groups with enough scored rollouts are finished; the others are lost.
        """
        ended: list[ExpiredGroup[Item, Result]] = []
        for group in self.open:
            if group.finished or group.since > before:
                continue
            members = self._cut(group)
            ended.append(ExpiredGroup(group, members, self._settled(group)))
        return ended

    def advance(self, version: int) -> None:
        """Set the policy version from which rollouts are now sampled."""
        self.version = version
        self._taken = 0
