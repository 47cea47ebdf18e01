"""Builds volumes from a model of their files.

What a volume has to be read as comes from the model, never from reading the image.
"""

import hashlib
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.templates.long.volume.format import VolumeFormat

__all__ = ["CLONE", "MASKED", "UNWRITTEN", "VolumeMaker", "VolumeNode", "VolumeState"]

_WORDS = ("valve", "level", "drain", "pump", "north", "south", "fault", "reset", "gauge", "dry")

UNWRITTEN = 1 << 31
"""Added to the number of a block that is reserved and was never written."""

MASKED, CLONE = 0x10, 0x40
"""Flags of an inode."""


@dataclass
class VolumeNode:
    """An inode and what it stands for."""

    number: int
    kind: int
    mtime: int
    generation: int
    style: str = "plain"
    """`plain`, `inline`, `extents`, `packed` or `tail`."""

    content: bytes = b""
    blocks: list[int] = field(default_factory=list)
    """Block of each part of the content: 0 for a hole, with `UNWRITTEN` for one never written."""

    tables: list[int] = field(default_factory=list)
    offset: int = 0
    links: int = 1
    flags: int = 0
    following: int = 0
    spoiled: bool = False
    slots: list[tuple[int, int, bytes]] = field(default_factory=list)
    """Of a directory: number, mark and name of each entry on the disk."""

    children: dict[bytes, "VolumeNode"] = field(default_factory=dict)
    """Of a directory: what it really contains, by stored name."""


@dataclass(frozen=True)
class VolumeState:
    """All blocks in use, and the manifest that they amount to."""

    blocks: dict[int, bytes]
    manifest: str


class VolumeMaker:
    """A volume under construction."""

    def __init__(self, form: VolumeFormat, revision: int, shift: int, dice: Dice) -> None:
        self.form, self.revision, self.shift, self.dice = form, revision, shift, dice
        self.size = 1 << shift
        self.serial = dice.whole(1, 2**32 - 1)
        self.zone = dice.pick((-330, -120, 60, 345, 540))
        self.table, self.inodes = dice.whole(1, 3), 64
        self.journal = self.table + self.inodes * 64 // self.size + dice.whole(1, 3)
        self.journal_length = dice.whole(150, 166)
        self.next_block = self.journal + self.journal_length + dice.whole(0, 3)
        self.next_inode = dice.whole(3, 6)
        self.nodes: list[VolumeNode] = []
        self.loose: dict[bytes, VolumeNode] = {}
        """Nodes listed in lost+found, by path."""

        self.orphan = 0
        self.tails: dict[int, bytearray] = {}
        self.root = self.directory()

    # -- parts -----------------------------------------------------------------------------

    def pack(self, form: str, *values: int | bytes) -> bytes:
        """Pack values in the format's byte order."""
        return struct.pack(self.form.endian + form, *values)

    def crc(self, data: bytes) -> int:
        """The checksum that this revision uses."""
        return zlib.crc32(data, self.serial if self.revision >= 3 else 0)

    def block(self) -> int:
        """Allocate a block."""
        self.next_block += 1 + (self.dice.whole(0, 9) == 0)
        return self.next_block - 1

    def inode(self, kind: int) -> VolumeNode:
        """Allocate an inode."""
        dice = self.dice
        node = VolumeNode(
            self.next_inode, kind, dice.whole(2 * 10**8, 9 * 10**8), dice.whole(1, 65_535)
        )
        self.next_inode += 1
        self.nodes.append(node)
        return node  # fmt: skip

    def text(self, length: int) -> bytes:
        """Return content of some length that no other file has."""
        dice = self.dice
        words = b" ".join(dice.pick(_WORDS).encode() for _ in range(6))
        line = words + b" " + dice.hexa(6).encode() + b"\n"
        return (line * (length // len(line) + 1))[:length]

    def runs(self, length: int) -> bytes:
        """Return content with long runs, as packed files have it."""
        made, escape = b"", bytes([self.form.run_escape])
        while len(made) < length:
            made += self.dice.word(5).encode() + escape
            made += bytes([self.dice.whole(32, 126)]) * self.dice.whole(24, 90)
        return made[:length]

    def file(self, content: bytes, style: str = "plain", holes: Iterable[int] = ()) -> VolumeNode:
        """Add a file; parts in `holes` have no block and must be zeros."""
        node = self.inode(1)
        node.style = style
        self.store(node, content, holes)
        return node

    def store(self, node: VolumeNode, content: bytes, holes: Iterable[int] = ()) -> None:
        """Give a file its content, in new blocks."""
        node.content, size, absent = content, self.size, set(holes)
        count = 0 if node.style == "inline" else -(-len(content) // size)
        node.blocks = [0 if place in absent else self.block() for place in range(count)]
        if node.style in ("plain", "packed", "tail"):
            per = size // 4
            middles = -(-(count - 8 - per) // per) if count > 8 + per else 0
            node.tables = [
                self.block() for _ in range((count > 8) + (1 + middles if middles else 0))
            ]
        if node.style == "extents" and count:
            step = max(1, -(-count // 4))
            for start in range(0, count, step):
                self.next_block += 2
                for place in range(start, min(count, start + step)):
                    if place not in absent:
                        node.blocks[place] = self.next_block
                    self.next_block += 1

    def tail(self, node: VolumeNode, block: int, offset: int) -> None:
        """Move the last part of a file into a shared block."""
        rest = node.content[len(node.content) // self.size * self.size :]
        kept = self.tails.setdefault(block, bytearray(self.text(self.size)))
        kept[offset : offset + len(rest)] = self.masked(node, len(node.content) // self.size, rest)
        node.blocks[-1], node.offset = block, offset // self.form.tail_unit

    def masked(self, node: VolumeNode, place: int, data: bytes) -> bytes:
        """Return what is stored for a part of a file, which may be masked."""
        if not node.flags & MASKED:
            return data
        key = ((node.generation if self.revision >= 3 else node.number) + place) & 0xFF
        return bytes(byte ^ key for byte in data)

    def clone(self, base: VolumeNode, content: bytes, own: Iterable[int]) -> VolumeNode:
        """Add a file that shares what it does not have itself with another one.

        The parts in `own` have blocks; the others have to be as they are in `base`.
        """
        places = set(range(-(-len(content) // self.size))) - set(own)
        node = self.file(content, holes=places)
        node.flags, node.offset = node.flags | CLONE, base.number
        return node

    def directory(self) -> VolumeNode:
        """Add a directory."""
        node = self.inode(2)
        node.blocks = [self.block()]
        return node

    def enter(self, parent: VolumeNode, name: bytes, child: VolumeNode) -> None:
        """Add an entry."""
        parent.slots.append((child.number, child.generation & 0xFF, name))
        parent.children[name] = child

    def remove(self, parent: VolumeNode, name: bytes) -> None:
        """Remove an entry and, if it is the last one of its node, the node."""
        node = parent.children.pop(name)
        place = next(n for n, slot in enumerate(parent.slots) if slot[2] == name)
        parent.slots[place] = (0, *parent.slots[place][1:])
        node.links -= 1
        if not node.links:
            self.nodes.remove(node)

    # -- states ----------------------------------------------------------------------------

    def state(self) -> VolumeState:
        """Return the blocks and the manifest as they are now."""
        blocks: dict[int, bytes] = {}
        per = self.size // 64
        rows = bytearray(self.inodes * 64)
        for node in self.nodes:
            raw = self._node(node, blocks)
            at = (node.number - self.form.inode_base) * 64
            rows[at : at + 64] = raw
        for place in range(self.inodes // per):
            blocks[self.table + place] = bytes(rows[place * self.size : (place + 1) * self.size])
        for number, data in self.tails.items():
            blocks[number] = bytes(data)
        return VolumeState(blocks, self.manifest())

    def _node(self, node: VolumeNode, blocks: dict[int, bytes]) -> bytes:
        content, size = node.content, self.size
        if node.kind == 2:
            content = self._directory(node)
        flags = node.flags | {"inline": 1, "extents": 2, "tail": 4, "packed": 8}.get(node.style, 0)
        for place, number in enumerate(node.blocks):
            part = content[place * size : (place + 1) * size]
            if number == 0 or number in self.tails:
                continue
            if number & UNWRITTEN:
                blocks[number ^ UNWRITTEN] = (b"left over " * size)[:size]
                continue
            data = self._packed(part) if node.style == "packed" else part
            data = self.masked(node, place, data)
            blocks[number] = data + bytes(size - len(data))
        made = self.pack(
            "BBHIIHH", node.kind, flags, node.links, len(content), node.mtime,
            node.generation, node.offset,
        ) + self._map(node, content, blocks) + self.pack("I", node.following)  # fmt: skip
        total = self.crc(self.pack("I", node.number) + made) ^ (0x5A if node.spoiled else 0)
        sums = self.revision >= 3 and "inode_sum" in self.form.features
        return made + self.pack("I", total if sums else total ^ 0x2545F491)

    def _map(self, node: VolumeNode, content: bytes, blocks: dict[int, bytes]) -> bytes:
        if node.style == "inline":
            return self.masked(node, 0, content) + bytes(40 - len(content))
        if node.style == "extents":
            return self._extents(node.blocks)
        per = self.size // 4
        direct = (node.blocks[:8] + [0] * 8)[:8]
        rest = [node.blocks[8 + n * per : 8 + (n + 1) * per] for n in range(len(node.tables) + 1)]
        tables = list(node.tables)
        single = double = 0
        if len(node.blocks) > 8:
            single = tables.pop(0)
            blocks[single] = self._table(rest[0])
        if len(node.blocks) > 8 + per:
            double = tables.pop(0)
            blocks[double] = self._table(tables)
            for number, part in zip(tables, rest[1:], strict=False):
                blocks[number] = self._table(part)
        return self.pack("10I", *direct, single, double)

    def _table(self, pointers: list[int]) -> bytes:
        per = self.size // 4
        return self.pack(f"{per}I", *pointers, *[0] * (per - len(pointers)))

    def _extents(self, blocks: list[int]) -> bytes:
        runs: list[list[int]] = []
        for place, number in enumerate(blocks):
            if number == 0:
                continue
            mark, start = 0x8000 if number & UNWRITTEN else 0, number & ~UNWRITTEN
            last = runs[-1] if runs else [0, 0, -1, -1]
            if place == last[0] + last[1] and mark == last[2] and start == last[3] + last[1]:
                last[1] += 1
            else:
                runs.append([place, 1, mark, start])
        made = b""
        form = "".join("I" if name == "start" else "H" for name in self.form.extent_order)
        for logical, length, mark, start in reversed(runs):
            values = {"logical": logical, "length": length | mark, "start": start}
            made += self.pack(form, *(values[name] for name in self.form.extent_order))
        if len(made) > 40:
            raise ValueError("more extents than an inode holds")
        return made + bytes(40 - len(made))

    def _packed(self, part: bytes) -> bytes:
        escape, bias, made, place = self.form.run_escape, self.form.run_bias, bytearray(), 0
        while place < len(part):
            run = 1
            while run < 255 and part[place : place + run + 1] == part[place : place + 1] * (
                run + 1
            ):
                run += 1
            if run > 3 or part[place] == escape:
                made += bytes([escape, run - bias, part[place]])
            else:
                made += part[place : place + run]
            place += run
        if len(made) + 2 > self.size:
            raise ValueError("a block that does not get shorter")
        return self.pack("H", len(made)) + bytes(made)

    def _directory(self, node: VolumeNode) -> bytes:
        blocks, block = [], b""
        for number, mark, name in node.slots:
            length = 8 + -(-len(name) // 4) * 4
            if len(block) + length > self.size:
                blocks.append(block)
                block = b""
            block += self.pack("IHBB", number, length, len(name), mark) + name
            block += bytes(-len(name) % 4)
        blocks.append(block)
        while len(node.blocks) < len(blocks):
            node.blocks.append(self.block())
        return b"".join(each + bytes(self.size - len(each)) for each in blocks)

    # -- the manifest ----------------------------------------------------------------------

    def manifest(self) -> str:
        """Return the manifest of what the model contains."""
        paths: list[tuple[bytes, VolumeNode]] = []
        self._walk(self.root, b"", paths)
        for path, node in self.loose.items():
            paths.append((path, node))
            self._walk(node, path, paths)
        counts: dict[int, int] = {}
        for _, node in paths:
            counts[node.number] = counts.get(node.number, 0) + 1
        return "".join(self._line(*pair, counts) for pair in sorted(paths, key=lambda p: p[0]))

    def _walk(self, node: VolumeNode, path: bytes, paths: list[tuple[bytes, VolumeNode]]) -> None:
        for name, child in node.children.items():
            shown = name if self.revision >= 3 else name.decode("latin-1").encode()
            paths.append((path + b"/" + shown, child))
            self._walk(child, path + b"/" + shown, paths)

    def _line(self, path: bytes, node: VolumeNode, counts: dict[int, int]) -> str:
        shown = "".join(chr(c) if 33 <= c < 127 and c != 37 else f"%{c:02X}" for c in path)
        digest = hashlib.sha256(node.content).hexdigest()[:16]
        if node.kind == 2:
            return f"d {shown}\n"
        if node.kind == 3:
            return f"l {shown} {digest}\n"
        if self.revision >= 3:
            when = datetime(1970, 1, 1) + timedelta(seconds=node.mtime)
        else:
            local = datetime(self.form.epoch, 1, 1) + timedelta(seconds=node.mtime)
            when = local - timedelta(minutes=self.zone)
        links = counts[node.number]
        return f"f {shown} {len(node.content)} {digest} {links} {when.isoformat()}Z\n"
