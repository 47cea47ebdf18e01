"""A Python ledger: rounding, fees, limits."""

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

from hexathlon.tasks.terminal.draft import TerminalDraft, faulty, put, template

_LEDGER = """from decimal import ROUND_HALF_UP, ROUND_HALF_EVEN, Decimal

RATES = {rates}


def convert(amount, currency):
    return (amount * Decimal(RATES[currency])).quantize(Decimal("0.01"), rounding={rounding})


def run(lines):
    accounts, log = {{}}, []
    for line in lines:
        words = line.split()
        if words[0] == "open":
            accounts[words[1]] = Decimal("0.00")
        elif words[0] == "in":
            accounts[words[1]] += convert(Decimal(words[2]), words[3])
        elif words[0] == "move":
            source, target, amount = words[1], words[2], Decimal(words[3])
            fee = (amount * Decimal("{fee}")).quantize(Decimal("0.01"), rounding={rounding})
            if accounts[source] < amount + fee:
                log.append(f"refused {{source}} {{target}} {{amount}}")
                continue
            accounts[source] -= amount + fee
            accounts[target] += amount
        elif words[0] == "interest":
            for name in accounts:
                if accounts[name] >= Decimal("{floor}"):
                    gain = (accounts[name] * Decimal(words[1]) / 100).quantize(
                        Decimal("0.01"), rounding={rounding})
                    accounts[name] += gain
    return log + [f"{{name}} {{accounts[name]}}" for name in sorted(accounts)]
"""


@template("py_ledger", ("easy", "medium"))
def py_ledger(draft: TerminalDraft) -> None:
    """Fix sums of money: rounding, fees, limits."""
    dice = draft.dice
    rates = {
        name: f"{dice.whole(20, 300) / 100:.2f}{dice.whole(1, 9)}"
        for name in dice.some(("eur", "usd", "chf", "sek", "pln", "jpy"), 3)
    }
    half_up = dice.chance(0.5)
    rounding = "ROUND_HALF_UP" if half_up else "ROUND_HALF_EVEN"
    fee, floor = f"0.0{dice.whole(1, 4)}5", f"{dice.whole(2, 20)}0.00"
    right = _LEDGER.format(rates=repr(rates), rounding=rounding, fee=fee, floor=floor)
    other = "ROUND_HALF_EVEN" if half_up else "ROUND_HALF_UP"
    faults = {
        "rounding": (f"rounding={rounding})\n            if", f"rounding={other})\n            if"),
        "no_fee": ("accounts[source] -= amount + fee", "accounts[source] -= amount"),
        "covers_amount": ("accounts[source] < amount + fee", "accounts[source] < amount"),
        "strict_floor": (f'>= Decimal("{floor}")', f'> Decimal("{floor}")'),
        "binary": ("Decimal(RATES[currency])", "Decimal(float(RATES[currency]))"),
        "converted": (
            f'"0.01"), rounding={rounding})\n\n\ndef',
            f'"0.01"), rounding={other})\n\n\ndef',
        ),
    }
    names = [n for n in faults if n != "binary"]
    chosen = dice.some(names, 3 + draft.scale // 3)
    draft.file("ledger.py", faulty(right, faults, chosen))
    draft.file(
        "main.py", "import sys\nfrom ledger import run\n\nprint(*run(sys.stdin), sep='\\n')\n"
    )
    people = draft.cast.names("person", 4)
    how = "half cents away from zero" if half_up else "half cents to the even cent"
    listed = ", ".join(f"{name} {rate}" for name, rate in rates.items())
    draft.say(
        "`python3 main.py` reads what happens to accounts and prints refused moves, then the "
        "accounts in alphabetical order:\n"
        "* `open NAME`: an account with nothing on it\n"
        f"* `in NAME AMOUNT CURRENCY`: adds the amount times the rate in ledger.py ({listed})\n"
        f"* `move FROM TO AMOUNT`: costs a fee of {fee} of the amount on top, which FROM pays; "
        "refused if FROM has less than both together\n"
        f"* `interest PERCENT`: adds that share of it to every account that has at least {floor}\n"
        f"Every product is rounded to cents at once, {how}. The results are off by cents, and "
        "sometimes by more. Mend ledger.py, and that alone; its rates are right."
    )
    draft.keep("main.py")

    def case(name: str, lines: list[str]) -> None:
        result = "\n".join(_ledger(lines, rates, half_up, fee, floor))
        draft.probe(name, "python3 main.py", stdin="\n".join(lines) + "\n", text=result)

    opened = [f"open {person}" for person in people]
    a, b = people[:2]
    unit = next(iter(rates))
    ties = _tie_amounts(Decimal(rates[unit]))
    case("ties_in", [*opened, *[f"in {a} {amount} {unit}" for amount in ties]])
    rate = Decimal(rates[unit])
    rich = [*opened, f"in {a} 900.00 {unit}"]
    fees = _tie_amounts(Decimal(fee))
    case("ties_fee", [*rich, *[f"move {a} {b} {amount}" for amount in fees]])
    total = _round(Decimal("900.00") * rate, half_up)
    least = total / (1 + Decimal(fee))
    edge = least.quantize(Decimal("0.01")) + Decimal("0.02")
    case("covered", [*rich, f"move {a} {b} {edge}", f"move {a} {b} 1.00"])
    exact = [
        *opened,
        f"in {a} 900.00 {unit}",
        f"in {a} 900.00 {unit}",
        f"move {a} {b} {floor}",
        "interest 3",
    ]
    case("floor", exact)
    for number in range(2):
        lines = list(opened)
        for _ in range(40):
            kind = dice.whole(0, 5)
            amount = f"{dice.whole(1, 40_000) / 100:.2f}"
            one, two = dice.some(people, 2)
            lines.append(
                f"in {one} {amount} {dice.pick(list(rates))}"
                if kind < 2
                else f"interest {dice.whole(1, 9)}.5"
                if kind == 2
                else f"move {one} {two} {amount}"
            )
        case(f"random_{number}", lines)
    draft.part("ledger", put("ledger.py", right))
    for name in chosen:
        draft.mutant(f"left_{name}", put("ledger.py", faulty(right, faults, [name])))
    context = right.replace(".quantize(", ".quantize(exp=")
    draft.alternative("named_argument", put("ledger.py", context))


def _round(value: Decimal, half_up: bool) -> Decimal:
    return value.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP if half_up else ROUND_HALF_EVEN)


def _tie_amounts(factor: Decimal) -> list[str]:
    """Return amounts whose product with the factor ends in half a cent, if any exist."""
    found = [
        Decimal(cents) / 100
        for cents in range(1, 20_000)
        if (Decimal(cents) / 100 * factor * 1000) % 10 == 5
    ]
    even = [x for x in found if int(x * factor * 100) % 2 == 0]
    return [f"{x:.2f}" for x in [*even[:3], *found[:2]]] or ["1.00"]


def _ledger(
    lines: list[str], rates: dict[str, str], half_up: bool, fee: str, floor: str
) -> list[str]:
    """Compute the ledger independently, in integer thousandths of cents."""
    cents: dict[str, int] = {}
    log: list[str] = []

    def rounded(numerator: int, denominator: int) -> int:
        whole, rest = divmod(numerator, denominator)
        if 2 * rest > denominator or (2 * rest == denominator and (half_up or whole % 2)):
            whole += 1
        return whole

    def number(text: str) -> tuple[int, int]:
        digits = text.partition(".")[2]
        return int(text.replace(".", "")), 10 ** len(digits)

    for line in lines:
        word, *rest = line.split()
        if word == "open":
            cents[rest[0]] = 0
        elif word == "in":
            amount, rate = number(rest[1]), number(rates[rest[2]])
            cents[rest[0]] += rounded(100 * amount[0] * rate[0], amount[1] * rate[1])
        elif word == "move":
            amount, share = number(rest[2]), number(fee)
            whole = 100 * amount[0] // amount[1]
            cost = rounded(whole * share[0], share[1])
            if cents[rest[0]] < whole + cost:
                log.append(f"refused {' '.join(rest)}")
            else:
                cents[rest[0]] -= whole + cost
                cents[rest[1]] += whole
        else:
            percent, least = number(rest[0]), number(floor)
            for name, has in cents.items():
                if has * least[1] >= 100 * least[0]:
                    cents[name] += rounded(has * percent[0], 100 * percent[1])
    return log + [f"{name} {cents[name] // 100}.{cents[name] % 100:02d}" for name in sorted(cents)]
