"""A lost rating engine: thousands of its decisions, and papers that it did not always follow.

The papers have the figures, and rules that begin after the last record; the records show how the
engine read them. Expected amounts come from the engine that made the records; the reference program
is written apart from it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.draft import TerminalDraft, put, template
from hexathlon.tasks.terminal.templates.long.rating.documents import rating_documents
from hexathlon.tasks.terminal.templates.long.rating.engine import RateRow, rated
from hexathlon.tasks.terminal.templates.long.rating.program import REMOVALS, by_engine, program
from hexathlon.tasks.terminal.templates.long.rating.rates import (
    CHOICES,
    COLUMNS,
    FIGURES,
    HOLIDAYS,
    Consignor,
    drawn_rates,
)

__all__ = ["held_out_months", "long_rating", "recorded_months", "wrong_rates"]

_PROGRAM = "rate.py"
_PLAYED = 14
_RECORDED = [f"{n // 12:04d}-{n % 12 + 1:02d}" for n in range(2022 * 12, 2023 * 12 + 6)]
_AHEAD = [f"{n // 12:04d}-{n % 12 + 1:02d}" for n in range(2023 * 12 + 6, 2025 * 12)]


def _csv(rows: Sequence[RateRow], amounts: Sequence[tuple[int, int]] | None = None) -> str:
    head = ",".join(COLUMNS) + (",net,gross" if amounts else "")
    lines = [",".join(row[name] for name in COLUMNS) for row in rows]
    if amounts:
        lines = [
            f"{line},{_euro(a)},{_euro(b)}" for line, (a, b) in zip(lines, amounts, strict=True)
        ]
    return "\n".join([head, *lines]) + "\n"


def _euro(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def expected(rows: Sequence[RateRow], rates: dict[str, Any]) -> str:
    """Return what the program has to print."""
    made = zip(rows, rated(rows, rates), strict=True)
    return "id,net,gross\n" + "".join(f"{r['id']},{_euro(a)},{_euro(b)}\n" for r, (a, b) in made)


def recorded_months(consignor: Consignor) -> dict[str, list[RateRow]]:
    """Return the recorded consignments by month."""
    return {month: consignor.months([month], 150) for month in _RECORDED}


def held_out_months(consignor: Consignor, dice: Dice) -> Iterator[tuple[str, list[RateRow]]]:
    """Yield the held-out inputs by name: past months, every month ahead, and odd files."""
    for month in [*dice.some(_RECORDED[:6], 3), *dice.some(_RECORDED[6:], 3)]:
        yield f"past_{month}", consignor.months([month], 70)
    for month in _AHEAD:
        yield f"ahead_{month}", consignor.months([month], 70)
    for first, second in (("2022-09", "10"), ("2023-01", "02"), ("2024-03", "04")):
        yield f"from_{first}", consignor.months([first, f"{first[:4]}-{second}"], 60)
    yield "over_new_year", consignor.months(["2023-12", "2024-01"], 60)
    yield "empty", []


def wrong_rates(rates: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return rates with one figure or choice that a reader may get wrong."""
    made = {
        f"other_{name}": rates | {name: next(v for v in values if v != rates[name])}
        for name, values in CHOICES.items()
    }
    made["parcels_bulky_alone"] = rates | {"bulky_services": ["P"]}
    if rates["bulky_services"] == ["P"]:
        made["parcels_bulky_alone"] = rates | {"bulky_services": ["P", "X"]}
    for name in ("divisors", "fuel_most", "discount_most", "least", "vat"):
        made[f"without_last_{name}"] = rates | {name: rates[name][:-1]}
    for name in ("P", "X"):
        lists = rates["lists"] | {name: rates["lists"][name][:-1]}
        made[f"without_last_list_{name}"] = rates | {"lists": lists}
    second = [name for name, what in rates["contracts"].items() if len(what) == 3]
    contracts = {k: v[:-1] if k in second else v for k, v in rates["contracts"].items()}
    made["contract_goes_on"] = rates | {"contracts": contracts}
    for name in rates["habits"]:
        habits = {key: value for key, value in rates["habits"].items() if key != name}
        made[f"without_habit_{name}"] = rates | {"habits": habits}
    for name, more in FIGURES.items():
        made[f"handbook_{name}"] = rates | {name: rates[name] + more}
    made["all_holidays"] = rates | {"holidays": list(HOLIDAYS)}
    made["signature_always"] = rates | {"signature_free_from": "9999"}
    made["insurance_as_before"] = rates | {"insurance_by_hundreds_from": "9999"}
    if rates["islands"]:
        made["no_islands"] = rates | {"islands": []}
    if rates["girth_from"] < "9999":
        made["no_girth"] = rates | {"girth_from": "9999"}
        made["girth_at_its_limit"] = rates | {"girth_limit": rates["girth_limit"] - 1}
    return made


def near_misses(rates: dict[str, Any]) -> dict[str, str]:
    """Return programs with one error each."""
    made = {name: program(wrong) for name, wrong in wrong_rates(rates).items()}
    island = {"islands_waived"} if not rates["islands"] else set()
    girth = {"fees_add_up"} if rates["girth_from"] == "9999-12-31" else set()
    left = sorted(REMOVALS.keys() - island - girth)
    return made | {name: program(rates, name) for name in left}


@template("long_rating", ("hard",))
def long_rating(draft: TerminalDraft) -> None:
    """Rebuild a rating engine from its decisions and from papers about it."""
    dice = draft.dice
    customers = draft.cast.names("thing", 5)
    people = [name.capitalize() for name in draft.cast.names("person", 4)]
    rates = drawn_rates(dice, draft.split, customers)
    stated = [name for name in CHOICES if name != "counted_services"]
    wrong = dice.some(stated, 4)
    figures = {name: rates[name] + FIGURES[name] for name in dice.some(sorted(FIGURES), 4)}
    for path, text in rating_documents(rates, figures, wrong, dice, people).items():
        draft.file(path, text)
    consignor = Consignor(rates, customers, dice)
    _records(draft, consignor, rates)
    draft.turns = 45
    draft.say(
        "Our rating engine is gone; records/ shows what it charged, and the other folders have the "
        f"papers about it. Write its successor /app/{_PROGRAM}: `python3 {_PROGRAM}` reads a file "
        "like those in records/ on standard input, without the columns net and gross, and prints "
        "CSV with the columns id, net and gross, a line for each consignment in the order of the "
        "input. It has to be right to the cent for any month from January 2022 to December 2024, "
        "as if the engine had lived on, and may use Python's standard library alone. "
        f"You have {draft.turns} actions."
    )
    for name, rows in held_out_months(consignor, dice):
        run = f"python3 {_PROGRAM} < held.csv"
        draft.probe(name, run, files={"held.csv": _csv(rows)}, text=expected(rows, rates))
    draft.part(_PROGRAM, put(_PROGRAM, program(rates)))
    draft.alternative("in_cents", put(_PROGRAM, by_engine(rates)))
    misses = near_misses(rates)
    for name in sorted(dice.some(sorted(misses), _PLAYED)):
        draft.mutant(name, put(_PROGRAM, misses[name]))


def _records(draft: TerminalDraft, consignor: Consignor, rates: dict[str, Any]) -> None:
    """Add the records, with two days priced by hand and some amounts that clerks changed."""
    dice = draft.dice
    by_hand = [f"{month}-{dice.whole(3, 26):02d}" for month in dice.some(_RECORDED[3:], 2)]
    changed: list[str] = []
    for month, rows in recorded_months(consignor).items():
        amounts = rated(rows, rates)
        for place, row in enumerate(rows):
            net, gross = amounts[place]
            if row["date"] in by_hand and net:
                rough = (net // 50 + 1) * 50
                amounts[place] = (rough, rough * 119 // 100)
        for place in dice.some([n for n, row in enumerate(rows) if row["status"] == "ok"], 1):
            net, gross = amounts[place]
            amounts[place] = (net - net // 7, gross - gross // 7)
            changed.append(f"{rows[place]['id']},{month}")
        draft.file(f"records/{month}.csv", _csv(rows, amounts))
    draft.file("operations/changed-by-clerks.csv", "id,month\n" + "\n".join(changed) + "\n")
    days = " and ".join(sorted(by_hand))
    draft.file(
        "operations/outages.md",
        f"# Outages\n\nThe engine was down on {days}. What was shipped on these days (by "
        f"the date of the "
        "consignment) was priced by hand later and put into the records; the engine's counting of "
        "consignments was brought up to date.\n",
    )  # fmt: skip
