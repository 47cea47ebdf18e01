"""Whole images: superblocks, a journal with transactions of every kind, the expected manifest."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.templates.long.volume.format import VolumeFormat
from hexathlon.tasks.terminal.templates.long.volume.maker import (
    VolumeMaker,
    VolumeNode,
    VolumeState,
)
from hexathlon.tasks.terminal.templates.long.volume.trees import TREES, populate

__all__ = ["VolumeCase", "volume_image"]


@dataclass(frozen=True)
class VolumeCase:
    """The situations that an image contains."""

    revision: int = 3
    shift: int = 8
    trees: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    """Trees that come with the first transaction."""

    journal: tuple[str, ...] = ()
    """`edits`, `ring`, `wrap`, `escape`, `revoke`, `rewritten`, `own`, `zero`, `cancel`,
    `checkpoint`, `super`,
    and how it ends: `torn_commit`, `torn_data`, `torn_first`, `unfinished`, `clean`."""

    superblocks: str = ""
    """`mirror`, `newer_mirror`, `newer_first`, `generation` or `none`."""


@dataclass
class VolumeTransaction:
    """A transaction: blocks with their new contents, and the numbers in its records."""

    writes: dict[int, bytes]
    revoked: list[int] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)
    settled: list[int] = field(default_factory=list)
    root: tuple[int, int, int] | None = None
    """What a journalled superblock has for root, orphans and zone."""


class _Story:
    """The states that a volume goes through."""

    def __init__(self, maker: VolumeMaker) -> None:
        self.maker = maker
        self.home = dict(maker.state().blocks)
        self.now = maker.state()
        self.done: list[VolumeTransaction] = []
        self.shown: list[VolumeState] = [self.now]
        self.root = maker.root.number, maker.orphan, maker.zone

    def commit(self, omit: Sequence[int] = ()) -> VolumeTransaction:
        """Journal what changed since the last state, but for some blocks written at home."""
        before, self.now = self.now.blocks, self.maker.state()
        changed = {n: b for n, b in self.now.blocks.items() if before.get(n) != b}
        for number in omit:
            self.home[number] = changed.pop(number)
        self.done.append(VolumeTransaction(changed))
        self.shown.append(self.now)
        return self.done[-1]

    def add(self, transaction: VolumeTransaction) -> None:
        """Add a transaction that leads to no new state."""
        self.done.append(transaction)
        self.shown.append(self.now)


def volume_image(form: VolumeFormat, case: VolumeCase, dice: Dice) -> tuple[bytes, str]:
    """Return an image and its manifest; an empty manifest if no superblock is valid."""
    maker = VolumeMaker(form, case.revision, case.shift, dice)
    populate(maker)
    for name in case.trees:
        TREES[name](maker)
    story = _Story(maker)
    first = 0xFFFFFFFE if "wrap" in case.journal else dice.whole(5, 2**31)
    if case.journal:
        _written(story, case, first)
    end = len(story.done)
    broken = -1
    if "torn_first" in case.journal:
        broken = 0
    elif {"torn_commit", "torn_data", "unfinished"} & set(case.journal):
        broken = end - 2
    counted = broken if broken >= 0 else end
    if "clean" in case.journal:
        counted = 0
    expected = story.shown[counted].manifest
    image = _Image(maker, story, case, first, broken)
    return image.whole(), "" if case.superblocks == "none" else expected


def _edit(maker: VolumeMaker, kept: list[VolumeNode], number: int) -> None:
    """Change a file, add one, and remove one of the earlier edits."""
    dice = maker.dice
    made = maker.file(maker.text(dice.whole(40, maker.size * 2)))
    maker.enter(maker.root, b"edit.%d" % number, made)
    kept.append(made)
    maker.store(kept[0], maker.text(dice.whole(50, maker.size * 2)))
    kept[0].mtime += 61
    if number == 3:
        maker.remove(maker.root, b"edit.1")


def _written(story: _Story, case: VolumeCase, first: int) -> None:
    maker, kinds = story.maker, case.journal
    kept: list[VolumeNode] = []
    for name in case.late:
        TREES[name](maker)
    _edit(maker, kept, 0)
    if "escape" in kinds:
        mark = struct.pack(maker.form.endian + "I", maker.form.journal_magic)
        maker.enter(maker.root, b"magic", maker.file(mark + maker.text(maker.size)[4:] + mark))
    zeroed = maker.file(maker.text(maker.size * 2))
    maker.enter(maker.root, b"wiped", zeroed)
    old = maker.directory()
    maker.enter(old, b"inside", maker.file(maker.text(21)))
    maker.enter(maker.root, b"old", old)
    story.commit()
    if "zero" in kinds:
        zeroed.content = zeroed.content[: maker.size] + bytes(maker.size)
    if {"revoke", "rewritten", "own"} & set(kinds):
        _reused(story, old, kinds)
    if "checkpoint" in kinds:
        _settled(story)
    _edit(maker, kept, 1)
    calling = story.commit()
    if "checkpoint" in kinds:
        calling.settled = [_number(maker.form, first, len(story.done) - 2)]
    if "cancel" in kinds:
        _cancelled(story, first)
        _edit(maker, kept, 2)
        calling = story.commit()
        calling.cancelled = [_number(maker.form, first, len(story.done) - 2)]
    _edit(maker, kept, 3)
    story.commit()
    maker.store(kept[0], maker.text(90))
    if "super" in kinds:
        _moved_root(story)
    else:
        story.commit()


def _settled(story: _Story) -> None:
    """Journal a file, bring everything home, and then write the file again, in its place."""
    maker = story.maker
    placed = maker.file(maker.text(maker.size * 2))
    maker.enter(maker.root, b"placed", placed)
    story.commit()
    placed.content = maker.text(maker.size) + placed.content[maker.size :]
    story.now = maker.state()
    story.shown[-1] = story.now
    story.home.update(story.now.blocks)


def _moved_root(story: _Story) -> None:
    """Put the root directory into a new one, set the clock to another zone, and free an orphan."""
    maker = story.maker
    top, gone = maker.directory(), maker.file(maker.text(45))
    maker.enter(top, b"was", maker.root)
    maker.enter(top, b"beside", maker.file(maker.text(52)))
    top.slots.append((gone.number, gone.generation & 0xFF, b"gone"))
    gone.links, gone.following = 0, maker.orphan
    if "orphan" not in maker.form.features:
        top.slots.pop()
    maker.root, maker.zone = top, -maker.zone
    maker.orphan = gone.number if "orphan" in maker.form.features else maker.orphan
    made = story.commit()
    made.root = maker.root.number, maker.orphan, maker.zone


def _reused(story: _Story, old: VolumeNode, kinds: Sequence[str]) -> None:
    """Give the journalled block of a removed directory to a file, whose data go home directly."""
    maker = story.maker
    maker.remove(old, b"inside")
    maker.remove(maker.root, b"old")
    block = old.blocks[0]
    heir = maker.file(maker.text(maker.size))
    heir.blocks = [block]
    maker.enter(maker.root, b"heir", heir)
    if "own" not in kinds:
        story.commit(omit=[block]).revoked = [block]
    elif maker.form.revokes_own:
        made = story.commit(omit=[block])
        made.writes[block], made.revoked = maker.text(maker.size), [block]
    else:
        made = story.commit()
        made.revoked, story.home[block] = [block], maker.text(maker.size)
    if "rewritten" in kinds:
        heir.content = maker.text(maker.size)
        story.commit()


def _cancelled(story: _Story, first: int) -> None:
    """Add a transaction that a later one cancels: wrong contents, and a wrong revocation."""
    maker = story.maker
    made = story.done[0].writes
    data = [n for n in made if n >= maker.journal + maker.journal_length]
    table = [n for n in made if n < maker.journal]
    wrong = {number: maker.text(maker.size) for number in [*data[:2], *table[:1]]}
    story.add(VolumeTransaction(wrong, revoked=data[2:4]))


def _number(form: VolumeFormat, first: int, place: int) -> int:
    """The sequence number of a transaction."""
    number = first + place
    return number if number <= 0xFFFFFFFF else number - 2**32 + form.first_sequence


class _Image:
    """Lays a story out as bytes."""

    def __init__(
        self, maker: VolumeMaker, story: _Story, case: VolumeCase, first: int, broken: int
    ) -> None:
        self.maker, self.story, self.case = maker, story, case
        self.first, self.broken = first, broken
        self.total = maker.next_block + maker.dice.whole(2, 9)
        self.volume = dict(story.home)
        """The blocks as replay leaves them so far."""

    def whole(self) -> bytes:
        """The image."""
        maker, case = self.maker, self.case
        blocks = [bytes(maker.size)] * self.total
        for number, data in self.story.home.items():
            blocks[number] = data
        head = self._journal(blocks)
        flags = 1 if "clean" in case.journal or not case.journal else 0
        gen = {"newer_mirror": 7, "newer_first": 8, "generation": 0xFFFFFFFD}.get(
            case.superblocks, 40
        )
        stale = {"newer_mirror", "newer_first", "generation"} & {case.superblocks}
        root = self.story.root
        right = self._superblock(gen + 5 & 0xFFFFFFFF, flags, head, root)
        other = self._superblock(gen, 1 - flags, head, root) if stale else right
        blocks[0], blocks[-1] = (right, other)
        if case.superblocks == "newer_mirror" or (
            case.superblocks == "generation" and maker.serial % 2
        ):
            blocks[0], blocks[-1] = other, right
        if case.superblocks == "mirror":
            blocks[0] = bytes(maker.size)
        if case.superblocks == "none":
            for place in (0, -1):
                blocks[place] = blocks[place][:20] + b"\x01\x02" + blocks[place][22:]
        return b"".join(blocks)

    def _superblock(self, gen: int, flags: int, head: int, root: tuple[int, int, int]) -> bytes:
        maker, first = self.maker, self.first
        if maker.form.head_absolute:
            head += maker.journal
        made = maker.pack(
            "4sHBBIIIIIIIIIIIhH16s", maker.form.magic.encode(), maker.revision, maker.shift,
            flags, gen, maker.serial, self.total, maker.table, maker.inodes, maker.journal,
            maker.journal_length, head, first, *root,
            0, b"unit %04d" % (maker.serial % 10_000),
        )  # fmt: skip
        rest = bytes(maker.size - len(made) - 4)
        return made + maker.pack("I", maker.crc(made + bytes(4) + rest)) + rest

    def _journal(self, blocks: list[bytes]) -> int:
        """Write the journal; returns where it begins."""
        maker, length = self.maker, self.maker.journal_length
        ring: list[bytes] = []
        for place, transaction in enumerate(self.story.done):
            ring += self._encoded(transaction, place)
        if len(ring) > length:
            raise ValueError("the transactions do not fit into the journal")
        head = length - 3 if "ring" in self.case.journal else maker.dice.whole(0, length - 1)
        if "ring" not in self.case.journal and self.case.journal:
            head = maker.dice.whole(0, length - len(ring))
        older = _number(maker.form, self.first, -9)
        lap = self._lap(older)
        for place in range(length):
            at = maker.journal + (head + place) % length
            blocks[at] = ring[place] if place < len(ring) else lap[(place - len(ring)) % len(lap)]
        return head

    def _lap(self, older: int) -> list[bytes]:
        """An earlier transaction, complete, that no longer counts."""
        maker = self.maker
        made = VolumeTransaction({maker.table: bytes(maker.size)})
        return self._sealed(made, older, {})

    def _encoded(self, transaction: VolumeTransaction, place: int) -> list[bytes]:
        if transaction.root is not None:
            transaction.writes[0] = self._superblock(3, 1, 0, transaction.root)[:-4] + b"none"
        changes = {n: self._patch(n, block, place) for n, block in transaction.writes.items()}
        patches = {n: patch for n, patch in changes.items() if patch}
        number = _number(self.maker.form, self.first, place)
        made = self._sealed(transaction, number, patches)
        self._replayed(transaction, place)
        if place == self.broken:
            kinds = self.case.journal
            if "torn_commit" in kinds:
                made[-1] = made[-1][:12] + bytes(4) + made[-1][16:]
            elif "torn_data" in kinds or "torn_first" in kinds:
                at = next(n for n, data in enumerate(made) if n and data[:4] != self._mark())
                half = self.maker.size // 2
                made[at] = made[at][:half] + bytes(b ^ 0x55 for b in made[at][half:])
            else:
                del made[-1]
        return made

    def _held_back(self, place: int) -> tuple[bool, set[int]]:
        """Whether nothing of a transaction is replayed; if not so, the blocks that are not."""
        numbers = [_number(self.maker.form, self.first, n) for n in range(len(self.story.done))]
        done = self.story.done[: self.broken] if self.broken >= 0 else self.story.done
        gone = {number for each in done for number in each.cancelled}
        floor, shut = -1, set()
        for n, each in enumerate(done):
            if numbers[n] in gone:
                continue
            floor = max([floor, *(numbers.index(number) for number in each.settled)])
            if n > place or (n == place and self.maker.form.revokes_own):
                shut |= {*each.revoked}
        return place >= len(done) or place <= floor or numbers[place] in gone, shut

    def _replayed(self, transaction: VolumeTransaction, place: int) -> None:
        nothing, shut = self._held_back(place)
        if not nothing:
            kept = {n: block for n, block in transaction.writes.items() if n not in shut}
            self.volume.update(kept)

    def _patch(self, target: int, block: bytes, place: int) -> bytes:
        """Return the patches that turn a block into its new content; empty to write all of it."""
        maker, before = self.maker, self._before(target, place)
        if "patch" not in maker.form.features or not before or maker.dice.whole(0, 3) == 0:
            return b""
        unlike = [n for n in range(maker.size) if block[n] != before[n]]
        made, at = b"", 0
        while at < len(unlike):
            end = at
            while end + 1 < len(unlike) and unlike[end + 1] - unlike[end] < 6:
                end += 1
            low, high = unlike[at], unlike[end] + 1
            made += maker.pack("HH", low, high - low) + block[low:high]
            at = end + 1
        return made + bytes(maker.size - len(made)) if 0 < len(made) <= maker.size - 4 else b""

    def _before(self, target: int, place: int) -> bytes:
        """Return what a block is when a transaction is replayed; empty if that does not matter."""
        nothing, shut = self._held_back(place)
        matters = not nothing and target not in shut and target != 0
        return self.volume.get(target, b"") if matters else b""

    def _mark(self) -> bytes:
        return self.maker.pack("I", self.maker.form.journal_magic)

    def _head(self, kind: int, count: int, number: int, payload: bytes) -> bytes:
        made = self._mark() + self.maker.pack("HHI", kind, count, number) + payload
        return made + bytes(self.maker.size - len(made))

    def _sealed(
        self, transaction: VolumeTransaction, number: int, patches: dict[int, bytes]
    ) -> list[bytes]:
        maker, made, summed = self.maker, [], b""
        writes = sorted(transaction.writes.items())
        most = maker.dice.whole(4, 7)
        zero = "zero" in maker.form.features
        records = ((3, transaction.revoked), (4, transaction.cancelled), (5, transaction.settled))
        for kind, numbers in records:
            if numbers:
                payload = maker.pack(f"{len(numbers)}I", *numbers)
                made.append(self._head(kind, len(numbers), number, payload))
        if made and maker.form.revokes_own and maker.serial % 2:
            leading, made = made, []
        else:
            leading = []
        summed = b"".join(made)
        for start in range(0, len(writes), most):
            tags, data, covered = b"", [], []
            for target, block in writes[start : start + most]:
                if zero and not any(block):
                    tags += maker.pack("IHH", target, 2, 0)
                    continue
                flag, block = (4, patches[target]) if target in patches else (0, block)
                escaped = block[:4] == self._mark()
                stored = bytes(4) + block[4:] if escaped else block
                counted = block if maker.form.sum_of_plain else stored
                check = maker.crc(counted) & 0xFFFF if maker.revision >= 3 else 0
                tags += maker.pack("IHH", target, int(escaped) | flag, check)
                data.append(stored)
                covered.append(counted)
            count = len(tags) // 8
            head = self._head(1, count, number, tags)
            made += [head, *data]
            summed += head + (b"".join(covered) if maker.revision < 3 else b"")
        made += leading
        summed += b"".join(leading)
        total = maker.crc(summed)
        return [*made, self._head(2, len(writes), number, maker.pack("I", total))]
