"""A binary format known by samples alone, to be read and written."""

import base64
import hashlib
import json
from dataclasses import dataclass, replace

from hexathlon.tasks.terminal.templates.shifts.job import Machine, TicketJob, put_file, python_probe

__all__ = ["frames"]


@dataclass(frozen=True)
class _Format:
    """What a day draws about the format."""

    magic: bytes
    check: str
    """`crc` (CRC-16, polynomial 0x1021, from 0xFFFF), `fletcher` or `sum`."""

    table: int
    """Names that are remembered; one more clears the table."""

    scale: int
    """Decimals of values."""

    big: bool
    """Whether the checksum's higher byte comes first."""


_Row = tuple[int, str, int, str]


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _zigzag(value: int) -> bytes:
    return _varint(2 * value if value >= 0 else -2 * value - 1)


def _checksum(kind: str, data: bytes) -> int:
    if kind == "sum":
        return -sum(data) & 0xFFFF
    if kind == "fletcher":
        low = high = 0
        for byte in data:
            low = (low + byte) % 255
            high = (high + low) % 255
        return high << 8 | low
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def _packed(form: _Format, rows: list[_Row]) -> bytes:
    out = bytearray(form.magic + b"\x02" + _varint(len(rows)))
    known: dict[str, list[int]] = {}
    for when, name, value, note in rows:
        if name not in known:
            if len(known) == form.table:
                known.clear()
            known[name] = [len(known), 0, 0]
            head, tail = 0, _varint(len(name.encode())) + name.encode()
        else:
            head, tail = known[name][0] + 1, b""
        state = known[name]
        out += _varint(2 * head + bool(note)) + tail
        out += _zigzag(when - state[1]) + _zigzag(value - state[2])
        out += _varint(len(note.encode())) + note.encode() if note else b""
        state[1:] = [when, value]
    return bytes(out) + _checksum(form.check, bytes(out)).to_bytes(
        2, "big" if form.big else "little"
    )


def _shown(form: _Format, rows: list[_Row]) -> str:
    lines = []
    for when, name, value, note in rows:
        sign, one = "-" if value < 0 else "", 10**form.scale
        text = f"{sign}{abs(value) // one}.{abs(value) % one:0{form.scale}}"
        lines.append(f"{when}\t{name}\t{text}" + (f"\t{note}" if note else ""))
    return "".join(f"{line}\n" for line in lines)


_PROGRAM = '''#!/usr/bin/env python3
"""PROGRAM dump FRAME: print a frame; PROGRAM pack TEXT FRAME: write one."""
import sys

SUMCODE

class Short(Exception):
    pass


def dump(data):
    if data[:4] != MAGIC or data[4:5] != b"\\x02" or len(data) < 8:
        return 4, ""
    body, at = data[:-2], 5
    if check(body).to_bytes(2, "ORDER") != data[-2:]:
        return 3, ""

    def byte():
        nonlocal at
        at += 1
        return body[at - 1]

    def varint():
        value = shift = 0
        while True:
            part = byte()
            value |= (part & 127) << shift
            shift += 7
            if part < 128:
                return value

    def signed():
        value = varint()
        return value >> 1 if value % 2 == 0 else -(value >> 1) - 1

    def text():
        nonlocal at
        size = varint()
        at += size
        return body[at - size:at].decode()

    table, lines = [], []
    for _ in range(varint()):
        head = varint()
        if head < 2:
            if len(table) == LIMIT:
                table.clear()
            table.append([text(), 0, 0])
        state = table[(head >> 1) - 1]
        state[1] += signed()
        state[2] += signed()
        note = "\\t" + text() if head & 1 else ""
        sign = "-" if state[2] < 0 else ""
        whole, part = divmod(abs(state[2]), ONE)
        lines.append(f"{state[1]}\\t{state[0]}\\t{sign}{whole}.{part:0DIGITS}{note}\\n")
    return 0, "".join(lines)


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def signed(value):
    return varint(2 * value if value >= 0 else -2 * value - 1)


def text(word):
    return varint(len(word.encode())) + word.encode()


def pack(lines):
    out = bytearray(MAGIC + b"\\x02" + varint(len(lines)))
    table = {}
    for line in lines:
        when, name, value, *note = line.split("\\t")
        number = int(value.replace(".", ""))
        if name not in table:
            if len(table) == LIMIT:
                table.clear()
            table[name] = [len(table), 0, 0]
            out += varint(len(note)) + text(name)
        else:
            out += varint(2 * table[name][0] + 2 + len(note))
        state = table[name]
        out += signed(int(when) - state[1]) + signed(number - state[2])
        for word in note:
            out += text(word)
        state[1:] = [int(when), number]
    return bytes(out) + check(bytes(out)).to_bytes(2, "ORDER")


if sys.argv[1] == "dump":
    with open(sys.argv[2], "rb") as file:
        code, shown = dump(file.read())
    sys.stdout.buffer.write(shown.encode())
    sys.exit(code)
with open(sys.argv[2], encoding="utf-8", newline="") as file:
    made = pack(file.read().split("\\n")[:-1])
with open(sys.argv[3], "wb") as file:
    file.write(made)
'''

_SUMS = {
    "sum": "def check(data):\n    return -sum(data) & 0xFFFF\n",
    "fletcher": "def check(data):\n    low = high = 0\n    for byte in data:\n        low = (low + "
    "byte) % 255\n        high = (high + low) % 255\n    return high << 8 | low\n",
    "crc": "def check(data):\n    crc = 0xFFFF\n    for byte in data:\n        crc ^= byte << 8\n"
    "        for _ in range(8):\n            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc "
    "<< 1) & 0xFFFF\n    return crc\n",
}
_OTHER_SUMS = {
    "sum": "def check(data):\n    total = 0\n    for byte in data:\n        total = (total - byte) "
    "% 65536\n    return total\n",
    "fletcher": "def check(data):\n    low = sum(data) % 255\n    high = sum((len(data) - n) * "
    "byte for n, byte in enumerate(data)) % 255\n    return high * 256 + low\n",
    "crc": "import binascii\n\n\ndef check(data):\n    return binascii.crc_hqx(data, 0xFFFF)\n",
}

_NOTE = """# Frames of NAME

The device writes frames; its maker is gone, and so is the description. `samples/` holds frames
(.frm) and what the maker's own viewer showed of them (.txt): time, name, value and at times a note,
with tabs between. What {who} found out about version 1, years ago:

* MAGIC, the version, then whole numbers in groups of seven bits, the lowest first, all but the last
  with the high bit set. The first is the number of rows.
* Whole numbers that can be negative are folded: 0, -1, 1, -2, 2 are stored as 0, 1, 2, 3, 4.
* Times are differences to the row before. A name is written out once, later by its number.
* Two bytes at the end guard against damage.
"""


def _rows(machine: Machine, count: int, names: list[str]) -> list[_Row]:
    dice = machine.dice
    when = dice.whole(1_700_000_000, 1_790_000_000)
    rows: list[_Row] = []
    for _ in range(count):
        when += dice.whole(-30, 900)
        note = dice.pick(("", "", "", "", "", dice.word(4), "grün " + dice.word(3), "ok"))
        rows.append((when, dice.pick(names), dice.whole(-90_000, 90_000), note))
    return rows


def frames(machine: Machine) -> TicketJob:
    """Find out a binary format from samples; write its reader and writer."""
    dice, book = machine.dice, machine.book
    name, who = machine.name(), machine.people.pop()
    form = _Format(
        magic=dice.word(4, "ABCDEFGHKLMNPRSTVWXZ").encode(),
        check=dice.pick(("crc", "fletcher", "sum")), table=dice.whole(5, 9),
        scale=dice.whole(1, 3), big=dice.chance(0.5),
    )  # fmt: skip
    pool = [*machine.draft.cast.names("host", 9), "über", "café-2"]
    folder = f"var/frames/{name}"
    sizes = [1, 2, 3, 5, 6, 9, 14, 20, 60]
    for number, size in enumerate(sizes):
        names = dice.some(pool, min(1 + number // 2, form.table) if size < 60 else form.table + 2)
        rows = _rows(machine, size, names)
        machine.draft.file(f"{folder}/samples/{number:02}.frm", _packed(form, rows))
        machine.draft.file(f"{folder}/samples/{number:02}.txt", _shown(form, rows))
    note = _NOTE.replace("NAME", name).replace("{who}", machine.people[0])
    machine.draft.file(f"{folder}/README", note.replace("MAGIC", form.magic.decode()))
    program = f"frame-{name}"
    held = [
        _rows(machine, 70, dice.some(pool, form.table + 2)),
        _rows(machine, 12, dice.some(pool, 2)),
    ]
    whole = [_packed(form, rows) for rows in held]
    bad = bytearray(whole[1])
    bad[9] ^= 0x10
    other = _packed(replace(form, magic=b"????"), held[1])  # only its beginning is wrong
    data = [base64.b64encode(each).decode() for each in (*whole, bytes(bad), other)]
    test = (
        "import base64, hashlib, json, subprocess\n"
        f"for number, data in enumerate(json.loads({json.dumps(data)!r})):\n"
        "    open(f'/tmp/{number}.frm', 'wb').write(base64.b64decode(data))\n"
        f"done = [subprocess.run(['bin/{program}', 'dump', f'/tmp/{{n}}.frm'], "
        "capture_output=True) for n in range(4)]\n"
        "digests = [hashlib.sha256(each.stdout).hexdigest() for each in done]\n"
        "print([each.returncode for each in done], *digests)\n"
        f"open('/tmp/in.txt', 'wb').write(base64.b64decode('{_b64(_shown(form, held[0]))}'))\n"
        f"done = subprocess.run(['bin/{program}', 'pack', '/tmp/in.txt', '/tmp/out.frm'])\n"
        "print(done.returncode, hashlib.sha256(open('/tmp/out.frm', 'rb').read()).hexdigest())\n"
    )
    digests = [hashlib.sha256(_shown(form, rows).encode()).hexdigest() for rows in held]
    digests += [hashlib.sha256(b"").hexdigest()] * 2
    told = f"[0, 0, 3, 4] {' '.join(digests)}\n0 {hashlib.sha256(whole[0]).hexdigest()}"

    def source(sums: str = _SUMS[form.check]) -> str:
        made = _PROGRAM.replace("PROGRAM", program).replace("SUMCODE", sums)
        made = made.replace("MAGIC", repr(form.magic)).replace("LIMIT", str(form.table))
        made = made.replace("ORDER", "big" if form.big else "little")
        return made.replace("ONE", str(10**form.scale)).replace("DIGITS", str(form.scale))

    def solved(text: str, *swaps: tuple[str, str]) -> str:
        for old, new in swaps:
            if old not in text:
                raise ValueError(f"{old!r} is not part of the solution")
            text = text.replace(old, new)
        return put_file(f"bin/{program}", text, book.program_mode)

    return TicketJob(
        component=name,
        text=f"""From {who}: the viewer of {name}'s frames no longer runs anywhere. Please find \
out the format of version 2 from {folder} and write bin/{program}:

    bin/{program} dump FRAME         prints a frame, as the .txt of the samples
    bin/{program} pack TEXT FRAME    writes the frame of such a text, byte for byte as the device

dump prints nothing and ends with 3 if a frame is damaged by its last two bytes, and with 4 if it \
does not begin as a frame of version 2 does.""",
        looks=(
            f"cat {folder}/README; ls -l {folder}/samples",
            f"cd {folder}/samples; for n in 00 01 02 03; do od -An -tx1 $n.frm; cat $n.txt; done",
            f"cd {folder}/samples; od -An -tx1 08.frm; cat 08.txt",
        ),
        solution=solved(source()),
        probes=[python_probe("frames", test, told)],
        alternatives=(solved(source(_OTHER_SUMS[form.check])),),
        misses={
            "table": solved(source(), (f"len(table) == {form.table}", "False")),
            "characters": solved(source(), ("varint(len(word.encode()))", "varint(len(word))")),
            "unchecked": solved(source(), ("return 3, \"\"", "pass")),
            "row_before": solved(source(), ("        state[1] += signed()\n",
                "        last = lines and int(lines[-1].split(chr(9))[0]) or 0\n"
                "        state[1] = last + signed()\n")),
        },
    )  # fmt: skip


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
