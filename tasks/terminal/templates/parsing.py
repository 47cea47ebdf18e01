"""Patterns and parsers: what to redact, a language of expressions, a binary journal."""

import zlib

from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.draft import Draft, put, template

_REDACT = """#!/usr/bin/env python3
# redact PATTERNS < in > out: every match of any pattern (one a line, Python syntax) becomes MARK.
# A pattern that takes more than a moment on a line is an error.
import re, sys
patterns = [line.rstrip("\\n") for line in open(sys.argv[1]) if line.strip() and line[0] != "#"]
whole = re.compile("|".join(f"(?:{p})" for p in patterns))
for line in sys.stdin:
    sys.stdout.write(whole.sub("MARK", line.rstrip("\\n")) + "\\n")
"""


class _Shape:
    """A made-up kind of identifier: parts of digits or letters with marks between."""

    def __init__(self, dice: Dice, start: str) -> None:
        self.start, self.gap = start, dice.pick("-.:/")
        self.lengths = [dice.whole(2, 5) for _ in range(dice.whole(2, 3))]
        self.kinds = [dice.pick(("digit", "hex", "letter")) for _ in self.lengths]
        self.optional = dice.chance(0.5)

    _CLASSES = {"digit": "0-9", "hex": "0-9a-f", "letter": "A-Z"}
    _LETTERS = {"digit": "0123456789", "hex": "0123456789abcdef", "letter": "ABCDEFGHIJKLMNOP"}

    def text(self, dice: Dice, wrong: str = "") -> str:
        lengths = list(self.lengths)
        if wrong == "longer":
            lengths[-1] += 1
        if wrong == "shorter":
            lengths[0] -= 1
        parts = [dice.word(n, self._LETTERS[kind])
                 for n, kind in zip(lengths, self.kinds, strict=True)]  # fmt: skip
        if wrong == "kind":
            parts[0] = "_" + parts[0][1:]
        gap = {"gap": "+"}.get(wrong, self.gap)
        body = gap.join(parts)
        start = "" if self.optional and dice.chance(0.5) and not wrong else self.start
        return start + body

    def pattern(self, *, bounds: bool = True, exact: bool = True, escaped: bool = True) -> str:
        gap = f"\\{self.gap}" if escaped else "."
        parts = [f"[{self._CLASSES[kind]}]{{{n}}}" if exact else f"[{self._CLASSES[kind]}]+"
                 for n, kind in zip(self.lengths, self.kinds, strict=True)]  # fmt: skip
        start = f"(?:{self.start})?" if self.optional else self.start
        body = start + gap.join(parts)
        edge = "0-9A-Za-z_" + "".join(f"\\{ch}" for ch in "-.:/+#=@")
        return f"(?<![{edge}]){body}(?![{edge}])" if bounds else body

    def words(self) -> str:
        shown = {"digit": "digits", "hex": "digits or letters a to f", "letter": "capital letters"}
        parts = [f"{n} {shown[kind]}" for n, kind in zip(self.lengths, self.kinds, strict=True)]
        may = "may stand before it" if self.optional else "stands before it"
        return f"{', then '.join(parts)}, parted by {self.gap!r}; {self.start!r} {may}"


@template("redact_patterns", ("tiny", "easy", "medium"))
def redact_patterns(draft: Draft) -> None:
    """Write patterns that take out identifiers and nothing that merely looks like them."""
    dice = draft.dice
    mark = dice.pick(("[X]", "###", "<gone>", "[cut]"))
    starts = [f"{dice.word(2).upper()}{ch}" for ch in dice.some("#=@", 3)][: 1 + draft.scale]
    shapes = [_Shape(dice, start) for start in starts]
    for shape in shapes[1:]:
        shape.optional = False
    words = draft.cast.names("thing", 8)
    draft.file("redact", _REDACT.replace("MARK", mark), 0o755)
    draft.file("patterns.txt", f"# one pattern a line\n{shapes[0].start}.*\n")
    listed = "\n".join(f"* {shape.words()}" for shape in shapes)
    draft.say(
        "./redact replaces what fits one of the patterns in a file (see the program). Write "
        "/app/patterns.txt so that `./redact patterns.txt` takes out exactly the identifiers of "
        f"these kinds:\n{listed}\nAn identifier stands alone: what comes right before or after it "
        "is the line's beginning or end, a blank, or one of `( ) , ; ' \"`. Anything else, such as "
        "a longer run of the same characters, is no identifier and stays. The program stays as it "
        "is."
    )
    draft.keep("redact")
    for number in range(3):
        lines, result = [], []
        for _ in range(40):
            line, done = [], []
            for _ in range(dice.whole(1, 5)):
                shape, kind = dice.pick(shapes), dice.whole(0, 7)
                if kind < 3:
                    one = shape.text(dice)
                    left, right = dice.pick((("", ""), ("(", ")"), ("'", "',"), ("", ";")))
                    line.append(left + one + right)
                    done.append(left + mark + right)
                else:
                    wrong = dice.pick(("longer", "shorter", "kind", "gap"))
                    one = dice.pick((
                        dice.pick(words), shape.text(dice, wrong), f"x{shape.text(dice)}",
                        f"{shape.text(dice)}_", f"{shape.text(dice)}{shape.gap}7",
                        f"0.{shape.text(dice)}"))  # fmt: skip
                    line.append(one)
                    done.append(one)
            lines.append(" ".join(line))
            result.append(" ".join(done))
        draft.probe(f"lines_{number}", "./redact patterns.txt", stdin="\n".join(lines) + "\n",
                    text="\n".join(result), seconds=5.0)  # fmt: skip
    right = "\n".join(shape.pattern() for shape in shapes)
    draft.part("patterns", put("patterns.txt", right))
    draft.mutant(
        "no_bounds", put("patterns.txt", "\n".join(s.pattern(bounds=False) for s in shapes))
    )
    draft.mutant(
        "any_length", put("patterns.txt", "\n".join(s.pattern(exact=False) for s in shapes))
    )
    draft.mutant(
        "any_mark", put("patterns.txt", "\n".join(s.pattern(escaped=False) for s in shapes))
    )
    draft.mutant("word_bounds", put("patterns.txt", "\n".join(
        rf"\b{s.pattern(bounds=False)}\b" for s in shapes)))  # fmt: skip
    around = "\n".join(
        rf"(?:^|(?<=[\s(),;'\"])){s.pattern(bounds=False)}(?=$|[\s(),;'\"])" for s in shapes)  # fmt: skip
    draft.alternative("listed_bounds", put("patterns.txt", around))


_CALC = """#!/usr/bin/env python3
import re, sys
LEVELS = {levels}
UNARY = "{unary}"
WIDTH = {width}
def wrapped(value):
    return (value + WIDTH) % (2 * WIDTH) - WIDTH
def apply(op, a, b):
    if op == "div":
        if b == 0:
            raise ZeroDivisionError
        return DIVIDED
    return wrapped({{"add": a + b, "sub": a - b, "mul": a * b, "max": max(a, b),
                    "xor": a ^ b, "min": min(a, b)}}[op])
def parse(tokens, level):
    if level == len(LEVELS):
        return atom(tokens)
    names, right = LEVELS[level]
    value = parse(tokens, level + 1)
    rest = []
    while tokens and tokens[0] in names:
        rest.append((names[tokens.pop(0)], parse(tokens, level + 1)))
    if not right:
        for op, other in rest:
            value = apply(op, value, other)
        return value
    values = [value, *[v for _, v in rest]]
    result = values.pop()
    for op, _ in reversed(rest):
        result = apply(op, values.pop(), result)
    return result
def atom(tokens):
    token = tokens.pop(0)
    if token == "(":
        value = parse(tokens, 0)
        if tokens.pop(0) != ")":
            raise IndexError
        return value
    if token == UNARY:
        return wrapped(-atom(tokens))
    return wrapped(int(token))
for line in sys.stdin:
    tokens = re.findall(r"\\d+|\\S", line)
    try:
        value = parse(tokens, 0)
        print(value if not tokens else "syntax")
    except ZeroDivisionError:
        print("zero")
    except (IndexError, ValueError):
        print("syntax")
"""


@template("calc_language", ("easy", "medium", "hard"))
def calc_language(draft: Draft) -> None:
    """Write an evaluator for expressions whose operators bind as this task says."""
    dice = draft.dice
    marks = dice.shuffled(["+", "*", "&", "|", "^", "%", "@", "!", "?"])
    ops = dice.shuffled(["add", "sub", "mul", "div", "max", "xor", "min"])[: 3 + draft.scale]
    if "sub" not in ops:
        ops[0] = "sub"
    if "div" not in ops:
        ops[1 if ops[0] == "sub" else 0] = "div"
    unary, width = marks.pop(), 1 << dice.pick((15, 20, 31))
    count = max(2, len(ops) - 1)
    levels: list[tuple[dict[str, str], bool]] = [({}, dice.chance(0.5)) for _ in range(count)]
    for place, op in enumerate(ops):
        levels[place % count][0][marks[place]] = op
    # Both ways of grouping occur where they matter.
    for names, _ in levels:
        if "sub" in names.values():
            levels[levels.index((names, _))] = (names, True)
            break
    down = dice.chance(0.5)
    shown = {"add": "a plus b", "sub": "a minus b", "mul": "a times b", "max": "the larger",
             "xor": "bits in one of a and b alone (two's complement)", "min": "the smaller",
             "div": f"a divided by b, rounded {'down' if down else 'towards zero'}"}  # fmt: skip
    table = "\n".join(
        f"{place + 1}. " + "; ".join(f"`a {mark} b` is {shown[op]}" for mark, op in names.items())
        + f" (groups from the {'right' if right else 'left'})"
        for place, (names, right) in enumerate(levels))  # fmt: skip
    draft.file("LANGUAGE.md", f"Loosest first:\n\n{table}\n")
    draft.file("examples.txt", "1 + 2 * 3\n")
    draft.say(
        "Write an executable /app/calc that reads expressions, one a line, and prints the value of "
        f"each. LANGUAGE.md lists the operators, those that bind loosest first; `{unary}a` is the "
        "negative of a and binds tightest, also before brackets and itself. There are whole "
        "numbers, brackets ( ) and blanks, which mean nothing between parts. Every number and "
        f"every result is brought into the range from {-width} to {width - 1} by adding or "
        f"subtracting multiples of {2 * width}. Print `zero` for an expression that divides by "
        "zero, `syntax` for a line that is no expression."
    )

    def grown(depth: int) -> str:
        if depth == 0 or dice.chance(0.2):
            return str(dice.whole(0, 60)) if dice.chance(0.9) else str(dice.whole(0, 3 * width))
        kind = dice.whole(0, 9)
        if kind == 0:
            return f"({grown(depth - 1)})"
        if kind == 1:
            return (
                f"{unary}{grown(depth - 1)}" if dice.chance(0.5) else f"{unary}({grown(depth - 1)})"
            )
        mark = dice.pick([m for names, _ in levels for m in names])
        gap = dice.pick(("", " "))
        return f"{grown(depth - 1)}{gap}{mark}{gap}{grown(depth - 1)}"

    evaluate = _Evaluator(levels, unary, width, down)
    for number in range(4):
        lines = [grown(2 + number) for _ in range(30)]
        if number == 3:
            lines = [dice.pick(("{0}(", "{0} 1 2", "){0}", "{0}$", "()", "{0}{1}")).format(x, marks[0])
                     for x in lines[:12] if evaluate(x) != "zero"]  # fmt: skip
            lines = [line for line in lines if evaluate(line) == "syntax"] + [grown(2)]
        if number == 0:
            sub = next(mark for names, _ in levels for mark, op in names.items() if op == "sub")
            div = next(mark for names, _ in levels for mark, op in names.items() if op == "div")
            lines += [f"9 {sub} 5 {sub} 3", f"{unary}7 {div} 2", f"7 {div} {unary}2", f"5 {div} 0",
                      f"{3 * width} {sub} 1", f"{unary}{unary}3"]  # fmt: skip
            flat = [m for names, _ in levels for m in names]
            lines += [f"7 {x} 5 {y} 3 {z} 2" for x in flat for y in flat for z in flat][:40]
        draft.probe(f"lines_{number}", "./calc", stdin="\n".join(lines) + "\n",
                    text="\n".join(evaluate(line) for line in lines))  # fmt: skip
    divided = (
        "wrapped(a // b)"
        if down
        else "wrapped(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))"
    )
    other_way = (
        "wrapped(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))"
        if down
        else "wrapped(a // b)"
    )
    right = _CALC.format(levels=repr(levels), unary=unary, width=width).replace("DIVIDED", divided)
    flipped = [(names, not way) for names, way in levels]
    draft.program("calc", right, {
        "other_grouping": (repr(levels), repr(flipped)),
        "other_order": (repr(levels), repr(levels[::-1])),
        "other_rounding": (divided, other_way),
        "no_wrapping": ("return (value + WIDTH) % (2 * WIDTH) - WIDTH", "return value"),
        "rest_ignored": ('value if not tokens else "syntax"', "value"),
    })  # fmt: skip
    climbing = right[: right.index("def parse")] + (
        "BINDS = {m: (n, r, op) for n, (names, r) in enumerate(LEVELS) for m, op in names.items()}\n"
        "def parse(tokens, least):\n    value = atom(tokens)\n"
        "    while tokens and tokens[0] in BINDS and BINDS[tokens[0]][0] >= least:\n"
        "        level, right, op = BINDS[tokens.pop(0)]\n"
        "        value = apply(op, value, parse(tokens, level + (not right)))\n    return value\n"
    ) + right[right.index("def atom") :]  # fmt: skip
    draft.alternative("climbing", put("calc", climbing, "755"))


class _Evaluator:
    """The language's meaning, by splitting at the loosest operator instead of descending."""

    def __init__(
        self, levels: list[tuple[dict[str, str], bool]], unary: str, width: int, down: bool
    ) -> None:
        self.levels, self.unary, self.width, self.down = levels, unary, width, down

    def __call__(self, line: str) -> str:
        import re

        try:
            return str(self._value(re.findall(r"\d+|\S", line)))
        except ZeroDivisionError:
            return "zero"
        except (ValueError, IndexError):
            return "syntax"

    def _wrap(self, value: int) -> int:
        return (value + self.width) % (2 * self.width) - self.width

    def _value(self, tokens: list[str]) -> int:
        for names, right in self.levels:
            places = [i for i in self._outer(tokens)
                      if tokens[i] in names and i and tokens[i - 1] not in self._heads()]  # fmt: skip
            if places:
                at = places[0] if right else places[-1]
                a, b = self._value(tokens[:at]), self._value(tokens[at + 1 :])
                return self._apply(names[tokens[at]], a, b)
        if tokens[0] == self.unary:
            return self._wrap(-self._value(tokens[1:]))
        if tokens[0] == "(" and tokens[-1] == ")" and len(tokens) > 2:
            return self._value(tokens[1:-1])
        if len(tokens) != 1 or not tokens[0].isdigit():
            raise ValueError
        return self._wrap(int(tokens[0]))

    def _heads(self) -> set[str]:
        return {mark for names, _ in self.levels for mark in names} | {"(", self.unary}

    def _outer(self, tokens: list[str]) -> list[int]:
        depth, found = 0, []
        for place, token in enumerate(tokens):
            depth += (token == "(") - (token == ")")
            if depth < 0:
                raise ValueError
            if depth == 0:
                found.append(place)
        if depth:
            raise ValueError
        return found

    def _apply(self, op: str, a: int, b: int) -> int:
        if op == "div":
            if b == 0:
                raise ZeroDivisionError
            if self.down:
                return self._wrap(a // b)
            return self._wrap(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))
        results = {"add": a + b, "sub": a - b, "mul": a * b, "max": max(a, b), "min": min(a, b),
                   "xor": a ^ b}  # fmt: skip
        return self._wrap(results[op])


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


@template("binary_journal", ("medium", "hard"))
def binary_journal(draft: Draft) -> None:
    """Read a binary journal: variable-length numbers, checksums, a torn end."""
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

  1 byte    kind: {kinds["set_"]} sets, {kinds["add"]} adds to (0 where there is nothing), {kinds["drop"]} removes
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
    to_bin = "python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))' > held.bin; "
    for number in range(3):
        data, text = case(40, torn=number == 2)
        draft.probe(f"journal_{number}", to_bin + "./replay held.bin", stdin=data.hex(), text=text)
    draft.probe("no_journal", to_bin + "./replay held.bin", stdin=b"none".hex(), exit=3, text="")
    right = _JOURNAL.format(magic=magic, order=order, **kinds)
    draft.program("replay", right, {
        "no_check": ("if zlib.crc32(body) != check:", "if False:"),
        "no_zigzag": ("(raw >> 1) ^ -(raw & 1)", "raw"),
        "other_order": (f'"{order}"', '"little"' if order == "big" else '"big"'),
        "one_byte_length": ("key_length, at = varint(at + 1)", "key_length, at = data[at + 1], at + 2"),
        "any_file": ("sys.exit(3)", "pass"),
    })  # fmt: skip
    other = right.replace(
        "(raw >> 1) ^ -(raw & 1)", "raw // 2 if raw % 2 == 0 else -(raw + 1) // 2"
    )
    draft.alternative("arithmetic", put("replay", other, "755"))
