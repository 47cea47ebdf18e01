"""A small expression language."""

from hexathlon.tasks.terminal.draft import TerminalDraft, put, template

_CALC = """#!/usr/bin/env python3
import re, sys
LEVELS = {levels}
UNARY = "{unary}"
WIDTH = {width}
def wrapped(value):
    return (value + WIDTH) % (2 * WIDTH) - WIDTH
def apply(op, a, b):
    if a is None or b is None or op == "div" and b == 0:
        return None
    if op == "div":
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
        value = atom(tokens)
        return value if value is None else wrapped(-value)
    return wrapped(int(token))
for line in sys.stdin:
    tokens = re.findall(r"\\d+|\\S", line)
    try:
        value = parse(tokens, 0)
        value = "zero" if value is None else value
        print(value if not tokens else "syntax")
    except (IndexError, ValueError):
        print("syntax")
"""


@template("calc_language", ("easy", "medium"))
def calc_language(draft: TerminalDraft) -> None:
    """Write an evaluator for expressions with task-specific operator precedence."""
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
    # Both associativities occur where they matter.
    for names, _ in levels:
        if "sub" in names.values():
            levels[levels.index((names, _))] = (names, True)
            break
    down = dice.chance(0.5)
    shown = {
        "add": "a plus b",
        "sub": "a minus b",
        "mul": "a times b",
        "max": "the larger",
        "xor": "bits in one of a and b alone (two's complement)",
        "min": "the smaller",
        "div": f"a divided by b, rounded {'down' if down else 'towards zero'}",
    }
    table = "\n".join(
        f"{place + 1}. "
        + "; ".join(f"`a {mark} b` is {shown[op]}" for mark, op in names.items())
        + f" (groups from the {'right' if right else 'left'})"
        for place, (names, right) in enumerate(levels)
    )
    draft.file("LANGUAGE.md", f"Loosest first:\n\n{table}\n")
    draft.file("examples.txt", "1 + 2 * 3\n")
    draft.say(
        "Write an executable /app/calc that reads expressions, one a line, and prints the value of "
        f"each. LANGUAGE.md lists the operators, those that bind loosest first; `{unary}a` is the "
        "negative of a and binds tightest, also before brackets and itself. There are whole "
        "numbers, brackets ( ) and blanks, which mean nothing between parts. Every number and "
        f"every result is brought into the range from {-width} to {width - 1} by adding or "
        f"subtracting multiples of {2 * width}. Print `zero` for an expression that divides by "
        "zero, `syntax` for a line that is no expression: an empty or blank one, and one of which "
        "only a part could be read, even if that part divides by zero."
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
        div = next(mark for names, _ in levels for mark, op in names.items() if op == "div")
        if number == 3:
            lines = [
                dice.pick(("{0}(", "{0} 1 2", "){0}", "{0}$", "()", "{0}{1}")).format(x, marks[0])
                for x in lines[:12]
                if evaluate(x) != "zero"
            ]
            lines = [line for line in lines if evaluate(line) == "syntax"] + [grown(2)]
            lines += [line.format(div) for line in ("", "  ", "5 {0} 0)", "(5 {0} 0", "5 {0} 0 0")]
            lines += [f"({unary}(5 {div} 0)) {div} 2", grown(1)]
        if number == 0:
            sub = next(mark for names, _ in levels for mark, op in names.items() if op == "sub")
            lines += [
                f"9 {sub} 5 {sub} 3",
                f"{unary}7 {div} 2",
                f"7 {div} {unary}2",
                f"5 {div} 0",
                f"{3 * width} {sub} 1",
                f"{unary}{unary}3",
            ]
            flat = [m for names, _ in levels for m in names]
            lines += [f"7 {x} 5 {y} 3 {z} 2" for x in flat for y in flat for z in flat][:40]
        draft.probe(
            f"lines_{number}",
            "./calc",
            stdin="\n".join(lines) + "\n",
            text="\n".join(evaluate(line) for line in lines),
        )
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
    draft.program(
        "calc",
        right,
        {
            "other_grouping": (repr(levels), repr(flipped)),
            "other_order": (repr(levels), repr(levels[::-1])),
            "other_rounding": (divided, other_way),
            "no_wrapping": ("return (value + WIDTH) % (2 * WIDTH) - WIDTH", "return value"),
            "rest_ignored": ('value if not tokens else "syntax"', "value"),
        },
    )
    raising = right.replace("        return None\n", "        raise ZeroDivisionError\n")
    raising = raising.replace(
        "    except (Index",
        '    except ZeroDivisionError:\n        print("zero")\n    except (Index',
    )
    draft.mutant("zero_before_syntax", put("calc", raising, "755"))
    climbing = (
        right[: right.index("def parse")]
        + (
            "BINDS = {m: (n, r, op) for n, (names, r) in "
            "enumerate(LEVELS) for m, op in names.items()}\n"
            "def parse(tokens, least):\n    value = atom(tokens)\n"
            "    while tokens and tokens[0] in BINDS and BINDS[tokens[0]][0] >= least:\n"
            "        level, right, op = BINDS[tokens.pop(0)]\n"
            "        value = apply(op, value, parse(tokens, "
            "level + (not right)))\n    return value\n"
        )
        + right[right.index("def atom") :]
    )
    draft.alternative("climbing", put("calc", climbing, "755"))


class _Evaluator:
    """Reference semantics, by splitting at the loosest operator instead of recursive descent."""

    def __init__(
        self, levels: list[tuple[dict[str, str], bool]], unary: str, width: int, down: bool
    ) -> None:
        self.levels, self.unary, self.width, self.down = levels, unary, width, down

    def __call__(self, line: str) -> str:
        import re

        try:
            value = self._value(re.findall(r"\d+|\S", line))
            return "zero" if value is None else str(value)
        except (ValueError, IndexError):
            return "syntax"

    def _wrap(self, value: int) -> int:
        return (value + self.width) % (2 * self.width) - self.width

    def _value(self, tokens: list[str]) -> int | None:
        """Return the value of an expression, None if a part of it divides by zero."""
        for names, right in self.levels:
            places = [
                i
                for i in self._outer(tokens)
                if tokens[i] in names and i and tokens[i - 1] not in self._heads()
            ]
            if places:
                at = places[0] if right else places[-1]
                a, b = self._value(tokens[:at]), self._value(tokens[at + 1 :])
                return self._apply(names[tokens[at]], a, b)
        if tokens[0] == self.unary:
            value = self._value(tokens[1:])
            return None if value is None else self._wrap(-value)
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

    def _apply(self, op: str, a: int | None, b: int | None) -> int | None:
        if a is None or b is None or (op == "div" and b == 0):
            return None
        if op == "div":
            if self.down:
                return self._wrap(a // b)
            return self._wrap(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))
        results = {
            "add": a + b,
            "sub": a - b,
            "mul": a * b,
            "max": max(a, b),
            "min": min(a, b),
            "xor": a ^ b,
        }
        return self._wrap(results[op])
