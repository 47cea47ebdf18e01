"""A small language for tariffs that has to learn new words, and a cache that does not forget."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from hexathlon.tasks.terminal.draft import Probe
from hexathlon.tasks.terminal.templates.shifts.job import Machine, TicketJob, put_file, python_probe

__all__ = ["tariff"]

_LANGUAGE = """# The language of tariffs

A tariff is a text of lines `NAME = EXPRESSION`; empty lines and what follows a `#` do not count.
Lines are evaluated in order, a name keeps the value that it was given last. `total` is the result.

* Numbers are decimal (`12`, `0.075`) and exact: `0.1 + 0.2` is `0.3`. Divisions have 28 digits.
* `+ - * /` with the usual precedence, the same precedence from left to right: `9 - 4 - 3` is `2`,
  `8 / 4 / 2` is `1`. A minus may stand before any factor. Parentheses group.
* Results are printed with two decimals, halves away from zero: `2.675` is `2.68`, `-0.125` is
  `-0.13`; zero is `0.00`.
* A text that does not follow these rules, an unknown name and a division by zero end with the exit
  status 2.
"""

_NEW = """
## New

* `A < B`, `A <= B`, `A > B`, `A >= B`, `A == B` and `A != B` give 1 or 0. They bind less than
  `+` and `-`. They do not chain: `1 < 2 < 3` is not a tariff.
* `if A then B else C` is the value of B if A is not 0, otherwise that of C. It binds least of all
  and reaches as far to the right as it can: `if a then 1 else 2 + 3` is `1` or `5`. It may stand
  wherever an expression may, in parentheses also inside others. Only the chosen side is evaluated:
  `if n == 0 then 0 else 6 / n` has no division by zero, and no unknown name on the other side
  matters.
EXTRA* The new words (WORDS) are no names any more: `then = 3` is not a tariff.
"""

_LOGIC = """\
* `not A`, `A and B`, `A or B` give 1 or 0, where everything but 0 is true. They bind less than
  comparisons; `not` more than `and`, `and` more than `or`. B is evaluated only if A does not
  decide.
"""
_CALLS = """\
* `min(A, B, ...)` and `max(A, B, ...)` take one value or more, `floor(A)` is the greatest
  whole number that is not above A: `floor(-0.5)` is `-1`.
"""

_ENGINE = '''"""Tariffs: parse and evaluate. The language is described in LANGUAGE."""
import re
from decimal import Decimal, InvalidOperationIMPORT

TOKEN = re.compile(r"\\s*(?:(\\d+(?:\\.\\d+)?)|([a-z_][a-z_0-9]*)|(OPERATORS[-+*/()COMMA]))")
WORDS = (WORDLIST)


class TariffError(Exception):
    pass


def tokens(text):
    found, place = [], 0
    text = text.rstrip()
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            raise TariffError(f"cannot read {text[place:]!r}")
        found.append(match.groups())
        place = match.end()
    return found


class Parser:
    """Trees are lists: ["num", text], ["name", name], [operator, tree...]."""

    def __init__(self, text):
        self.rest = tokens(text)

    def peek(self):
        return (self.rest[0][1] or self.rest[0][2]) if self.rest else None

    def accept(self, *expected):
        word = self.peek()
        if word is not None and word in expected:
            self.rest.pop(0)
            return word
        return None

    def need(self, word):
        if not self.accept(word):
            raise TariffError(f"{word!r} is missing")

    def whole(self):
        tree = self.expression()
        if self.rest:
            raise TariffError("there is something left")
        return tree

EXPRESSION
    def sum(self):
SUM
    def product(self):
        tree = self.factor()
        while operator := self.accept("*", "/"):
            tree = [operator, tree, self.factor()]
        return tree

    def factor(self):
        if self.accept("-"):
            return ["neg", self.factor()]
        if self.accept("("):
            tree = self.expression()
            self.need(")")
            return tree
        if not self.rest:
            raise TariffError("the text ends too early")
        number, name, _ = self.rest[0]
        if number is not None:
            self.rest.pop(0)
            return ["num", number]
CALLS        if name is None or name in WORDS:
            raise TariffError("a value is missing")
        self.rest.pop(0)
        return ["name", name]


def parse(text):
    """Return [[name, tree], ...]."""
    lines = []
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if line:
            name, mark, expression = line.partition("=")
            name = name.strip()
            if not mark or not re.fullmatch(r"[a-z_][a-z_0-9]*", name) or name in WORDS:
                raise TariffError("a line has no name")
            lines.append([name, Parser(expression).whole()])
    return lines


def value(tree, names):
    kind = tree[0]
    if kind == "num":
        return NUMBER
    if kind == "name":
        if tree[1] not in names:
            raise TariffError(f"{tree[1]} is unknown")
        return names[tree[1]]
    if kind == "neg":
        return -value(tree[1], names)
LAZY    left, right = (value(each, names) for each in tree[1:])
    if kind == "+":
        return left + right
    if kind == "-":
        return left - right
    if kind == "*":
        return left * right
COMPARE    try:
        return left / right
    except (ArithmeticError, InvalidOperation):
        raise TariffError("division by zero") from None


def evaluate(lines, names):
    """Return all names with their values, in the order in which they were first given."""
    names, made = dict(names), {}
    for name, tree in lines:
        names[name] = made[name] = value(tree, names)
    return made


def shown(number):
    cents = number.quantize(Decimal("0.01")ROUNDING)
    return str(abs(cents) if cents == 0 else cents)
'''

_QUOTE = '''#!/usr/bin/env python3
"""quote PRODUCT NAME=NUMBER...: the price of a product by its tariff, etc/tariffs/PRODUCT.rule
quote --rule FILE NAME=NUMBER...: by the tariff in a file
With --all first, all names and values instead of the total alone."""
import json, os, sys
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "srv/NAME"))
sys.dont_write_bytecode = True
from decimal import Decimal
import engine


def parsed(product):
    """Parsing takes long for large tariffs, so what was parsed is kept."""
    path = f"{ROOT}/etc/tariffs/{product}.rule"
    kept = f"{ROOT}/var/cache/NAME/{product}.json"
    size = os.path.getsize(path)
    try:
        with open(kept) as file:
            found = json.load(file)
        if found["size"] == size:
            return found["lines"]
    except (OSError, ValueError, KeyError):
        pass
    with open(path) as file:
        lines = engine.parse(file.read())
    os.makedirs(os.path.dirname(kept), exist_ok=True)
    with open(kept, "w") as file:
        json.dump({"size": size, "lines": lines}, file)
    return lines


def main(words):
    everything = words[:1] == ["--all"]
    words = words[everything:]
    if words[:1] == ["--rule"]:
        with open(words[1]) as file:
            lines = engine.parse(file.read())
        words = words[1:]
    else:
        lines = parsed(words[0])
    names = {}
    for word in words[1:]:
        name, _, number = word.partition("=")
        names[name] = Decimal(number)
    made = engine.evaluate(lines, names)
    if everything:
        for name, number in made.items():
            print(name, engine.shown(number))
    else:
        print(engine.shown(made["total"]))


try:
    main(sys.argv[1:])
except (engine.TariffError, OSError, IndexError, KeyError, ArithmeticError) as error:
    print("quote:", error, file=sys.stderr)
    sys.exit(2)
'''

_RIGHT_SUM = """        tree = self.product()
        while operator := self.accept("+", "-"):
            tree = [operator, tree, self.product()]
        return tree
"""
_WRONG_SUM = """        tree = self.product()
        if operator := self.accept("+", "-"):
            return [operator, tree, self.sum()]
        return tree
"""

_PLAIN = "    def expression(self):\n        return self.sum()\n"
_CONDITIONAL = """    def expression(self):
        if self.accept("if"):
            first = self.expression()
            self.need("then")
            second = self.expression()
            self.need("else")
            return ["if", first, second, self.expression()]
        return self.TOPMOST()
LOGIC
    def comparison(self):
        tree = self.sum()
        if operator := self.accept("<", "<=", ">", ">=", "==", "!="):
            tree = [operator, tree, self.sum()]
            CHAIN
        return tree
"""
_LOGIC_CODE = """
    def either(self):
        tree = self.both()
        while self.accept("or"):
            tree = ["or", tree, self.both()]
        return tree

    def both(self):
        tree = self.negated()
        while self.accept("and"):
            tree = ["and", tree, self.negated()]
        return tree

    def negated(self):
        return ["not", self.negated()] if self.accept("not") else self.comparison()
"""
_CALL_CODE = """        if name in ("min", "max", "floor"):
            self.rest.pop(0)
            self.need("(")
            values = [self.expression()]
            while self.accept(","):
                values.append(self.expression())
            self.need(")")
            if name == "floor" and len(values) > 1:
                raise TariffError("floor takes one value")
            return [name, *values]
"""
_LAZY_IF = """    if kind == "if":
        return value(tree[2] if value(tree[1], names) != 0 else tree[3], names)
"""
_EAGER_IF = """    if kind == "if":
        chosen, first, second = (value(each, names) for each in tree[1:])
        return first if chosen != 0 else second
"""
_LAZY_LOGIC = """    if kind == "not":
        return Decimal(int(value(tree[1], names) == 0))
    if kind in ("and", "or"):
        first = value(tree[1], names) != 0
        if first == (kind == "or"):
            return Decimal(int(first))
        return Decimal(int(value(tree[2], names) != 0))
"""
_LAZY_CALLS = """    if kind in ("min", "max"):
        return (min if kind == "min" else max)(value(each, names) for each in tree[1:])
    if kind == "floor":
        return Decimal(math.floor(value(tree[1], names)))
"""
_COMPARED = """    if kind in "< <= > >= == !=".split():
        return Decimal(int({"<": left < right, "<=": left <= right, ">": left > right,
                            ">=": left >= right, "==": left == right, "!=": left != right}[kind]))
"""


def engine(faults: Sequence[str], features: Sequence[str]) -> str:
    """Return the engine's source with some faults and features."""
    new = bool(features)
    words = ["if", "then", "else"] if new else []
    words += ["and", "or", "not"] if "logic" in features else []
    words += ["min", "max", "floor"] if "calls" in features else []
    chain = 'if self.peek() in ("<", "<=", ">", ">=", "==", "!="):\n'
    chain += '                raise TariffError("comparisons do not chain")'
    conditional = _CONDITIONAL.replace("CHAIN", "pass" if "chained" in faults else chain)
    if "chained" in faults:
        compared = 'operator := self.accept("<"'
        conditional = conditional.replace(f"if {compared}", f"while {compared}")
    conditional = conditional.replace("LOGIC", _LOGIC_CODE if "logic" in features else "")
    conditional = conditional.replace("TOPMOST", "either" if "logic" in features else "comparison")
    lazy = (_EAGER_IF if "eager" in faults else _LAZY_IF) if new else ""
    lazy += _LAZY_LOGIC if "logic" in features else ""
    lazy += _LAZY_CALLS if "calls" in features else ""
    rounding = "" if "even" in faults else ', rounding="ROUND_HALF_UP"'
    made = _ENGINE
    for mark, text in {
        "IMPORT": "\nimport math" if "calls" in features else "",
        "OPERATORS": "[<>=!]=|" if new else "",
        "COMMA": "," + ("<>" if new else ""),
        "WORDLIST": "".join(f'"{word}", ' for word in words).strip(),
        "EXPRESSION": conditional if new else _PLAIN,
        "SUM\n": _WRONG_SUM if "right" in faults else _RIGHT_SUM,
        "CALLS": _CALL_CODE if "calls" in features else "",
        "NUMBER": "Decimal(float(tree[1]))" if "float" in faults else "Decimal(tree[1])",
        "LAZY": lazy,
        "COMPARE": _COMPARED if new else "",
        "ROUNDING": rounding,
    }.items():
        made = made.replace(mark, text)
    return made


def _cents(value: Decimal) -> str:
    made = value.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
    return str(abs(made) if made == 0 else made)


def tariff(machine: Machine) -> TicketJob:
    """Extend an interpreter and change a tariff whose parsed form is cached."""
    dice = machine.dice
    name, who = machine.name(), machine.people.pop()
    feature = dice.pick(("logic", "calls"))
    faults = dice.some(("right", "float", "even"), 2)
    products = machine.draft.cast.names("thing", 4)
    changed, other = products[:2]
    old = dice.whole(11, 48)
    new = old + dice.whole(1, 9)
    bulk = dice.whole(20, 90)
    for product in products:
        fee = old if product == changed else dice.whole(10, 80)
        text = (
            f"# {product}\ngross = quantity * price\nfee = {fee}\n"
            f"pack = quantity / {bulk}\ntotal = gross - gross * 0.0{dice.whole(10, 95)} - fee - 1\n"
        )
        machine.file(f"etc/tariffs/{product}.rule", text)
        machine.shared[f"rule {product}"] = text
    source = f"srv/{name}/engine.py"
    extra = {"logic": _LOGIC, "calls": _CALLS}[feature]
    words = ["if", "then", "else"]
    words += ["and", "or", "not"] if feature == "logic" else ["min", "max", "floor"]
    told = _NEW.replace("EXTRA", extra).replace("WORDS", ", ".join(words))
    machine.file(f"srv/{name}/LANGUAGE", _LANGUAGE + told)
    machine.file(source, engine(faults, ()))
    machine.file("bin/quote", _QUOTE.replace("NAME", name))
    warm = "".join(f"bin/quote {product} quantity=1 price=1 >/dev/null\n" for product in products)
    machine.draft.build(warm)

    def by_rule(product: str, quantity: int, price: str) -> str:
        text = machine.shared[f"rule {product}"]
        share, fee = text.split("0.0")[1].split(" ")[0], text.split("fee = ")[1].split("\n")[0]
        gross = Decimal(quantity) * Decimal(price)
        charge = Decimal(new if product == changed else int(fee))
        return _cents(gross - gross * Decimal(f"0.0{share}") - charge - 1)

    calls = [
        (product, dice.whole(2, 400), f"{dice.whole(1, 90)}.{dice.whole(10, 99)}")
        for product in (changed, other, changed)
    ]
    run = "; ".join(f"bin/quote {p} quantity={q} price={c}" for p, q, c in calls)
    quoted = "\n".join(by_rule(*call) for call in calls)
    rule, lines = _held_out(dice.whole(2, 60), dice.whole(61, 200), feature)
    broken = ["total = 1 < 2 < 3", "then = 3\ntotal = 1", "total = 1 / (3 - 3)", "total = nobody",
              "total = if 1 then 2", "total = 1 +", "total = (1 < 2", "total = 1 2"]  # fmt: skip
    refused = (
        "import subprocess\nfor text in %r:\n    done = subprocess.run(['bin/quote', '--rule', "
        "'/dev/stdin'], input=text.encode(), capture_output=True)\n    print(done.returncode)\n"
    )

    def solved(left: Sequence[str], *, after: str = "", cents: int = new) -> str:
        kept = f"keep etc/tariffs/{changed}.rule; keep {source}\n"
        edit = f"sed -i 's/^fee = {old}$/fee = {cents}/' etc/tariffs/{changed}.rule\n"
        return kept + put_file(source, engine(left, (feature,)), 0o644) + edit + after

    forget = f"rm -f var/cache/{name}/*.json\n"
    hashed = (
        "sed -i 's/size = os.path.getsize(path)/size = open(path).read() + open(engine.__file__)"
        ".read()/' bin/quote\n"
    )
    only = f"rm -f var/cache/{name}/{changed}.json\n"
    misses = {f"left_{fault}": solved([fault], after=forget) for fault in faults}
    misses |= {
        "stale": solved([]),
        "eager": solved(["eager"], after=forget),
        "chained": solved(["chained"], after=forget),
        "unchanged": solved([], after=forget, cents=old),
    }
    if "right" in faults:
        misses["stale_others"] = solved([], after=only)
    return TicketJob(
        component=name,
        text=f"""From {who}: two things about tariffs.

1. The language gets what srv/{name}/LANGUAGE describes under "New". Please make \
srv/{name}/engine.py do that; tariffs that were right before keep their meaning, and the rest of \
LANGUAGE holds.
2. The fee for {changed} goes up from {old} to {new}, effective at once.

Prices are asked for with bin/quote.""",
        looks=(
            f"cat srv/{name}/LANGUAGE srv/{name}/engine.py", "cat bin/quote; ls -R var/cache",
            f"cat etc/tariffs/*.rule; bin/quote {changed} quantity=10 price=20",
        ),
        solution=solved([], after=forget),
        probes=[
            Probe("prices", run, {"text": quoted}),
            Probe("language", "bin/quote --all --rule /dev/stdin many=7 none=0",
                  {"text": lines}, stdin=rule),
            python_probe("refusals", refused % broken, "\n".join(["2"] * len(broken))),
        ],
        once=frozenset(("refusals",)),
        alternatives=(solved([], after=hashed), solved([], after=f"rm -r var/cache/{name}\n")),
        misses=misses,
    )  # fmt: skip


def _held_out(low: int, high: int, feature: str) -> tuple[str, str]:
    """Return a tariff and what it prints, with many=7 and none=0."""
    rows: list[tuple[str, str, str]] = [
        ("a", f"{high} - {low} - 3", str(high - low - 3)),
        ("b", "0.1 + 0.2 + 2.375", "2.68"),
        ("c", "-0.125", "-0.13"),
        ("d", "2.665 * 1", "2.67"),
        ("e", f"if many > 5 then {low} else nobody", str(low)),
        ("f", "if none == 0 then 0 else 6 / none", "0"),
        ("g", f"if none then 1 else {low} + {high} < 3", "0"),
        ("h", f"1 + (if many <= 7 then {low} else 1 / 0) * 2", str(1 + 2 * low)),
        ("i", "if none then 1 else if many - 7 then 2 else 3.005", "3.01"),
        ("j", f"({low} < {high}) + ({low} >= {high}) + (3 != 3) + (2 + 2 == 4)", "2"),
        ("k", "--many", "7"),
        ("l", "if if many then none else 1 then 8 else 9 - 2 - 1", "6"),
        ("a", "a == a", "1"),
        ("thenceforth", "none - 0.004", "0"),
    ]
    if feature == "logic":
        rows += [
            ("m", "not none == 0 or many and 1 - 1", "0"),
            ("n", "many or 1 / none", "1"),
            ("o", "none and nobody", "0"),
            ("p", "1 or none and none", "1"),
            ("r", "1 + (2 and 3)", "2"),
            ("s", "not many < 3 and many < 9", "1"),
        ]
    else:
        rows += [
            ("m", f"max(1, {high}, {low}) - min({low}, {high})", str(high - low)),
            ("n", "floor(-0.5) + floor(7.99)", "6"),
            ("o", "min(if none then 1 else 4, 9 - 2 - 1)", "4"),
            ("p", "max(many) * floor(-3)", "-21"),
        ]
    made: dict[str, str] = {}
    for name, _, result in rows:
        made[name] = _cents(Decimal(result))
    text = "".join(f"{name} = {expression}  # {name}\n\n" for name, expression, _ in rows)
    return text, "\n".join(f"{name} {result}" for name, result in made.items())
