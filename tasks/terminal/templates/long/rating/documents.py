"""The papers beside the records: lists, contracts, memos and notes of operations.

Figures stand in the papers. What the engine chose among several readings (`CHOICES`) is left open
there or stated wrongly, and the records decide.
"""

import re
import textwrap
from typing import Any

from hexathlon.tasks.terminal.dice import Dice

__all__ = ["rating_documents"]


def rating_documents(
    rates: dict[str, Any], figures: dict[str, int], wrong: list[str], dice: Dice, people: list[str]
) -> dict[str, str]:
    """Return the papers by path.

    Args:
        rates: What the engine does.
        figures: Figures that the handbook gives wrongly.
        wrong: Choices that the handbook states wrongly.
        dice: Where the rest is drawn.
        people: Authors of memos.
    """
    papers = {"README.md": _README, "handbook.md": _handbook(rates | figures, wrong)}
    for service, lists in rates["lists"].items():
        for since, table in lists:
            papers[f"lists/{service}-{since[:7]}.csv"] = _list_text(table)
    papers["lists/X-2023-04.csv"] = _list_text(
        {
            **rates["lists"]["X"][0][1],
            "per_kg": {zone: fee + 10 for zone, fee in rates["lists"]["X"][0][1]["per_kg"].items()},
        }
    )
    papers["data/index.csv"] = "month,index\n" + "".join(
        f"{month},{value}\n" for month, value in rates["index"].items()
    )
    for customer, changes in rates["contracts"].items():
        papers[f"contracts/{customer}.md"] = _contract(
            customer, changes, customer in rates["remote_free"]
        )
    free = next(name for name in rates["remote_free"] if name not in rates["contracts"])
    papers[f"contracts/{free}.md"] = _contract(free, [], True)
    memos = sorted(_memos(rates))
    for number, (day, text) in enumerate(memos):
        who = dice.pick(people)
        papers[f"memos/{number + 41:03d}.md"] = f"Memo {number + 41}, {day}, {who}\n\n{text}\n"
    return papers  # fmt: skip


def _euro(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def _percent(per_mille: int) -> str:
    return f"{per_mille / 10:g} %"


_README = """# Rating

`records/` has what the old engine charged, a file for each month, in the order in which it rated:
`net` and `gross` are its answer, the other columns its input. The engine is lost.

* `handbook.md` was written when the engine was introduced, at the beginning of 2022
* `lists/`: price lists, named after the service and the month from whose first day they hold
* `contracts/`, `memos/`: what came later. `data/index.csv` is agreed until the end of 2024
* `operations/`: what went wrong

The records show what the engine did, the papers what people wanted it to do. Where records show
that it did something else, it is the records that count, and the engine would have kept doing so.
In everything else the papers decide, a later one before an earlier one. Days and consignments
that `operations/` names were not priced by the engine.
"""


def _handbook(rates: dict[str, Any], wrong: list[str]) -> str:
    def stated(choice: str, texts: dict[Any, str], open_text: str) -> str:
        if choice not in wrong:
            return open_text
        return texts[not rates[choice] if isinstance(rates[choice], bool) else
                     next(key for key in texts if key != rates[choice])]  # fmt: skip

    limit = stated(
        "limit_included",
        {True: "A limit belongs to the step that it ends.", False: "A limit opens the next step."},
        "The step is found by the limits.",
    )
    lag = stated(
        "lag",
        {1: "of the month before", 2: "of the month before the last one"},
        "published last when the month begins",
    )
    side = stated(
        "side_included",
        {True: f"from {rates['side_limit']} cm on", False: f"above {rates['side_limit']} cm"},
        f"with a limit of {rates['side_limit']} cm",
    )
    fuel = stated(
        "fuel_after_discount",
        {True: "of what is left after the discount", False: "of the base, before any discount"},
        "of the transport price",
    )
    least = stated(
        "least_first",
        {
            True: "It is applied before the reduction for further consignments.",
            False: "It is applied after the reduction for further consignments.",
        },
        "No base is below it.",
    )
    discounts = stated(
        "discounts",
        {"larger": "The larger of the two is given.", "added": "The two are added."},
        "Customers may have both.",
    )
    full = stated(
        "full_price",
        {"heaviest": "the heaviest of them", "first": "the first of them"},
        "one of them",
    )
    return _wrapped(f"""# Handbook of the engine

Services: P (parcel), X (express), R (return). Amounts are rounded to cents wherever a rule gives a
share of something, half a cent away from zero unless it is a discount.

1. **Weight.** The actual weight or, if it is larger, the volume weight: cubic centimetres divided
   by 5000, in kilograms. This is about bulky parcels; the records show whether other services
   use it. The weight is rounded up to half kilograms if it is not above 10 kg, otherwise to
   kilograms.
2. **Base.** From the list for service, zone and weight. {limit} Beyond the last limit the last
   price applies, plus the list's amount for each kilogram begun beyond.
3. **Further consignments.** Of several consignments of a customer on the same date to the same
   postcode, {full} costs the full base and every other one half of it. If that is a choice between
   equals, the earlier one in the file costs the full base; weight, should it matter here, is the
   actual weight. Returns are not part of this.
4. **Least price.** The base is at least {_euro(rates["least"][0][1])}. {least}
5. **Discount.** A share of the base by contract, and {_percent(rates["volume_share"])} from the
   {rates["volume_from"]}th consignment of a customer in a calendar month on (that one included; in
   the order of the file; the records show which services count). {discounts} The discount is at
   most {_euro(rates["discount_most"][0][1])}.
6. **Fuel.** {_percent(rates["fuel_share"])} for every full {rates["index_step"]} points
   of the index above {rates["index_from"]}, {fuel}; at most
   {_percent(rates["fuel_most"][0][1])}. The index is
   that {lag}.
7. **Oversize.** {_euro(rates["side_fee"])} by the longest side, {side}.
8. **Remote places.** {_euro(rates["remote_fee"])} for postcodes that begin with
   {", ".join(rates["remote"])}; not for {", ".join(rates["not_remote"])}, and not for customers
   whose contract says so.
9. **Cap.** Oversize and remote fees together are at most {_percent(rates["fees_most"])} of the base
   (the base before discount, after 3 and 4).
10. **Insurance.** For the declared value above {rates["insured_free"]} (full euros):
    {_percent(rates["insurance_share"])} of what is above, rounded up to five cents, at least
    {_euro(rates["insurance_least"])}.
11. **Options.** SAT {_euro(rates["saturday"])}, twice that on a holiday (by the date of the
    consignment:
    1 January, 1 May, 3 October, 24 and 31 December); SIG {_euro(rates["signature"])}.
12. **Net** is base less discount, plus fuel, fees, insurance and options. **Gross** is net plus
    VAT,
    which is 19 %; there is none in zone C.
13. **Returns.** A return refers (`ref`) to the consignment it returns. Its net is
    {_percent(rates["return_share"])} of the list price that consignment had on its own day (rule 2
    alone), plus fuel by rule 6 at the return's date, and nothing else; there is VAT in every
    zone. If
    the consignment is not in the same file, or is void, the return is rated like a parcel, with the
    parcel's list, but it does not count for the volume discount, nor get it.
14. **Void** consignments cost 0.00. They count nowhere: not in 3, not in 5.
""")


def _wrapped(text: str) -> str:
    """Fill the numbered paragraphs of a text."""
    head, *items = re.split(r"\n(?=\d+\. )", text)
    filled = [textwrap.fill(" ".join(item.split()), 98, subsequent_indent="    ") for item in items]
    return "\n".join([head, *filled]) + "\n"


def _list_text(table: dict[str, Any]) -> str:
    rows = "up to grams,A,B,C\n"
    for place, limit in enumerate(table["limits"]):
        rows += f"{limit}," + ",".join(_euro(table["prices"][zone][place]) for zone in "ABC") + "\n"
    return (
        rows + "each kg beyond," + ",".join(_euro(table["per_kg"][zone]) for zone in "ABC") + "\n"
    )


def _contract(customer: str, changes: list[tuple[str, int]], free: bool) -> str:
    text = f"# {customer}\n\n"
    for since, share in changes:
        text += (
            f"* from {since}: discount {_percent(share)}\n"
            if share
            else (
                f"* from {since}: the discount ends. The volume discount of the handbook stays.\n"
            )
        )
    return text + ("* no fee for remote places\n" if free else "")  # fmt: skip


def _memos(rates: dict[str, Any]) -> list[tuple[str, str]]:
    """Return date of writing and text; the date from which it holds stands in the text."""
    divisors, vats = rates["divisors"], rates["vat"]
    made = [
        (
            f"{divisors[1][0][:7]}-02",
            f"The divisor of the volume weight is {divisors[1][1]} from {divisors[1][0]} on "
            "(already in the engine when this was written).",
        ),
        (
            "2023-06-19",
            f"From {divisors[2][0]} on the volume weight of parcels is calculated with "
            f"{divisors[2][1]}. "
            "The same holds wherever the engine uses volume weight.",
        ),
        (
            "2022-12-12",
            f"Least price {_euro(rates['least'][1][1])} from {rates['least'][1][0]} on, and "
            f"{_euro(rates['least'][2][1])} from {rates['least'][2][0]} on.",
        ),
        (
            vats[1][0],
            f"VAT is {vats[1][1] // 10} % for dates from {vats[1][0]} to 2022-12-31, then "
            "19 % again.",
        ),
        (
            "2023-06-21",
            f"VAT will be {vats[3][1] // 10} % from {vats[3][0]} on. Fuel: the maximum "
            f"falls to {_percent(rates['fuel_most'][1][1])} on {rates['fuel_most'][1][0]}.",
        ),
        (
            "2023-06-26",
            f"No discount above {_euro(rates['discount_most'][1][1])} per consignment from "
            f"{rates['discount_most'][1][0]} on, whatever it consists of.",
        ),
        (
            "2023-02-20",
            "The express list of April 2023 has been withdrawn before its first day. The one from "
            "October stays until a newer one holds.",
        ),
        (
            min("2023-06-27", rates["insurance_by_hundreds_from"]),
            f"Insurance from {rates['insurance_by_hundreds_from']} on: "
            f"{_euro(rates['insurance_hundred'])} for every hundred euros begun above "
            f"{rates['insured_free']}. The share and its least amount no longer apply.",
        ),
        (
            min("2023-06-27", rates["signature_free_from"]),
            f"SIG is free for express from {rates['signature_free_from']} on.",
        ),
    ]
    if rates["islands"]:
        made.append(
            (
                "2022-01-20",
                f"Postcodes beginning with {' and '.join(rates['islands'])} are islands. They have "
                "always cost twice the fee for remote places, and contracts that waive that "
                "fee do not "
                "cover islands.",
            )
        )
    if rates["girth_from"] < "9999":
        made.append(
            (
                rates["girth_from"],
                f"From {rates['girth_from']} on: {_euro(rates['girth_fee'])} if the girth "
                f"(longest side "
                f"plus twice the two others) is above {rates['girth_limit']} cm. A "
                f"consignment pays "
                "for its side or for its girth, whichever costs more.",
            )
        )
    return made
