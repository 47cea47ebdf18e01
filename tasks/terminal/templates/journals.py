"""Binary journals: variable-length integers, checksums, a truncated end."""

import zlib

from hexathlon.tasks.terminal.draft import TerminalDraft, put, template

_JOURNAL = """#!/usr/bin/env python3
import sys, zlib
data = open(sys.argv[1], "rb").read()
at = len({magic!r})
if data[:at] != {magic!r}:
    sys.exit(3)
def varint(at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        shift += 7
        at += 1
        if byte < 128:
            return value, at
state = {{}}
while at < len(data):
    try:
        start = at
        kind = data[at]
        key_length, at = varint(at + 1)
        key = data[at:at + key_length].decode()
        at += key_length
        raw, at = varint(at)
        value = (raw >> 1) ^ -(raw & 1)
        check = int.from_bytes(data[at:at + 4], "{order}")
        body, at = data[start:at], at + 4
        if at > len(data):
            break
    except (IndexError, UnicodeDecodeError):
        break
    if zlib.crc32(body) != check:
        continue
    if kind == {set_}:
        state[key] = value
    elif kind == {add}:
        state[key] = state.get(key, 0) + value
    elif kind == {drop}:
        state.pop(key, None)
for key in sorted(state):
    print(key, state[key])
"""


@template("binary_journal", ("medium",))
def binary_journal(draft: TerminalDraft) -> None:
    """Parse a binary journal: variable-length integers, checksums, a truncated end."""
    dice = draft.dice
    magic = dice.word(4).upper().encode()
    order = dice.pick(("little", "big"))
    kinds = dict(zip(("set_", "add", "drop"), dice.some(range(1, 20), 3), strict=True))
    names = draft.cast.names("thing", 6)

    def varint(value: int) -> bytes:
        out = bytearray()
        while value >= 128:
            out.append(value & 127 | 128)
            value >>= 7
        return bytes([*out, value])

    def case(count: int, torn: bool) -> tuple[bytes, str]:
        data, state = bytearray(magic), dict[str, int]()
        for number in range(count):
            kind = dice.pick(("set_", "add", "add", "drop", "other"))
            key = (
                dice.pick(names) + ("é" if dice.chance(0.1) else "") + "k" * dice.pick((0, 0, 140))
            )
            value = dice.whole(-5, 5) if dice.chance(0.5) else dice.whole(-(10**9), 10**9)
            raw = (value << 1) if value >= 0 else (-value << 1) - 1
            code = kinds.get(kind, 99)
            body = bytes([code]) + varint(len(key.encode())) + key.encode() + varint(raw)
            check = zlib.crc32(body)
            damaged = dice.chance(0.15)
            data += body + (check ^ (1 if damaged else 0)).to_bytes(4, order)  # type: ignore[arg-type]
            if torn and number == count - 1:
                del data[-dice.whole(1, 6) :]
            elif not damaged and kind == "set_":
                state[key] = value
            elif not damaged and kind == "add":
                state[key] = state.get(key, 0) + value
            elif not damaged and kind == "drop":
                state.pop(key, None)
        return bytes(data), "".join(f"{key} {state[key]}\n" for key in sorted(state))

    draft.file("sample.bin", case(12, torn=False)[0])
    draft.file(
        "FORMAT",
        f"""A journal begins with the bytes {magic.decode()}; then come records:

  1 byte    kind: {kinds["set_"]} sets, {kinds["add"]} adds to what is there (0 if nothing is),
            {kinds["drop"]} removes
  varint    length of the key in bytes
  bytes     key, UTF-8
  varint    value, also where it is not needed, in zigzag form (0, -1, 1, -2 … are 0, 1, 2, 3 …)
  4 bytes   CRC-32 (that of zlib) of all bytes of the record before it, {order}-endian

A varint has seven bits in each byte, lowest first; all bytes but the last have their top bit set.
Records of other kinds, and those whose check fails, do not count. A record that is cut off by the
end of the file does not count either.
""",
    )
    draft.say(
        "Write an executable /app/replay that takes the path of a journal (FORMAT says how it is "
        "laid out, sample.bin is one) and prints the keys that are set in the end, sorted by their "
        "UTF-8 bytes, each with a blank and its value. A file that does not begin as a journal "
        "must make it exit with 3."
    )
    to_bin = (
        "python3 -c 'import sys; "
        "sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))' > held.bin; "
    )
    for number in range(3):
        data, text = case(40, torn=number == 2)
        draft.probe(f"journal_{number}", to_bin + "./replay held.bin", stdin=data.hex(), text=text)
    draft.probe("no_journal", to_bin + "./replay held.bin", stdin=b"none".hex(), exit=3, text="")
    right = _JOURNAL.format(magic=magic, order=order, **kinds)
    draft.program(
        "replay",
        right,
        {
            "no_check": ("if zlib.crc32(body) != check:", "if False:"),
            "no_zigzag": ("(raw >> 1) ^ -(raw & 1)", "raw"),
            "other_order": (f'"{order}"', '"little"' if order == "big" else '"big"'),
            "one_byte_length": (
                "key_length, at = varint(at + 1)",
                "key_length, at = data[at + 1], at + 2",
            ),
            "any_file": ("sys.exit(3)", "pass"),
        },
    )
    other = right.replace(
        "(raw >> 1) ^ -(raw & 1)", "raw // 2 if raw % 2 == 0 else -(raw + 1) // 2"
    )
    draft.alternative("arithmetic", put("replay", other, "755"))
