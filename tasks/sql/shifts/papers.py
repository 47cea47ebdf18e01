"""The documents of a day: rules of the desk, handbook, decisions, procedures and a dictionary."""

from hexathlon.tasks.sql.draws import ValueDraw, shifted
from hexathlon.tasks.sql.english import with_article
from hexathlon.tasks.sql.shifts.ground import Ground
from hexathlon.tasks.sql.shifts.preparing import HOLD_DAYS
from hexathlon.tasks.sql.supplement import AddedDocument

__all__ = ["papers_of"]


def papers_of(ground: Ground, draw: ValueDraw) -> tuple[AddedDocument, ...]:
    """Return the documents, in the order in which they are listed."""
    today, accounts = ground.today, ground.theme.account[1]
    numbers = draw.sample(range(210, 990), 5)
    papers = [
        ("rules_of_the_desk", "Rules of the desk", shifted(today, -40), _rules(ground)),
        ("handbook_counted_value", "Handbook: counted value", shifted(today, -460),
         _handbook(ground)),
        *_decisions(ground, draw, numbers),
        ("procedure_deliveries", "Procedure for deliveries", shifted(today, -150),
         _deliveries(ground)),
        ("procedure_price_lists", "Procedure for price lists and settings", shifted(today, -170),
         _price_lists(ground)),
        ("procedure_" + accounts.replace(" ", "_"), f"Procedure for {accounts} and holds",
         shifted(today, -120), _accounts(ground)),
        ("billing_dictionary", "Tables of the desk", shifted(today, -30), _dictionary(ground)),
        ("system_changes", "Changes of the systems", shifted(today, -20), _changes(ground, draw)),
    ]  # fmt: skip
    return tuple(
        AddedDocument(name, title, dated, ground.names(text)) for name, title, dated, text in papers
    )


def _rules(ground: Ground) -> str:
    reported = ""
    if "reported" in ground.rows:
        reported = (
            "\n\n11. @reported lists the counted values that tickets have asked for: one row for "
            "each such ticket, with the day (@reported.day), the number of the ticket "
            "(@reported.ticket) and the counted value (@reported.value, to the cent). Whenever a "
            "ticket is handed in, including the one that asks, today's rows show what would be "
            "reported if it were asked at that moment; rows of earlier days stay unchanged."
        )
    return f"""1. Tickets arrive one at a time. Close each one with submit, together with the values that it asks for, if any, in the order in which it asks for them; or with submit_impossible, if a document says that it must be refused. Then the next ticket arrives. What was handed in cannot be taken back, but a later ticket may change what an earlier one asked for.

2. What a ticket asks for must hold when it is handed in, and whenever a later ticket is handed in, until a ticket changes it. It does not matter who or what has changed the rows in the meantime. Which rows a ticket concerns, and which choice is best, depends on the database at the time when that ticket is handed in: later changes do not add or remove rows, and no choice is made again.

3. Whenever a ticket is handed in, the database must be as it was in the morning, except for what the tickets so far have asked for, what these rules and the procedures require for that, and the rows that colleagues have entered on their own. Undo anything else that the desk's statements have caused.

4. Colleagues work in the same database. Rows that they enter stay and count like any others, unless they conflict with what a ticket has asked for.

5. A table of results is a table, not a view. Whenever a ticket is handed in, it must show what it would show if it were built at that moment.

6. Tables are made only if a ticket asks for them, without keys and indexes. A helper table is dropped before the ticket is handed in.

7. Documents: a decision prevails over the handbook and over procedures, and a later decision over an earlier one. Drafts have no effect. Views and notes in the dictionary are only aids; where they differ from a decision or the handbook, they are wrong.

8. Amounts are reported with two decimals and without a unit. Values of single rows, discounts and quantities are not rounded. Months are written as 2024-05, days as 2024-05-31. Today is {ground.today}.

9. Two {ground.theme.account[0]} numbers are the same if they differ only in upper and lower case or in spaces before or after them.

10. "Withdrawn" and "put back" mean that the rows concerned are again as they were before the ticket.{reported}"""  # noqa: E501


def _handbook(ground: Ground) -> str:
    theme, spec = ground.theme, ground.spec
    item, items, account = theme.item[0], theme.item[1], theme.account[0]
    first = {"booked": "booking date", "done": theme.done}[spec.day_first]
    an_item = with_article(item)
    late = ""
    if spec.late:
        late = (
            f" If {an_item} was entered after the closing date of that month "
            f"(@period.closed in @period), it counts in the month in which it was entered instead; "
            "its day, and with it the price, the discount and the minimum charge, do not change."
        )
    return (
        f"1. What counts. {an_item.capitalize()} counts if its state is final and it was "
        f"not replaced. {an_item.capitalize()} was replaced if @item.by names another one, "
        "which takes its place. The view @view lists what counts.\n\n"
        f"2. The day. Every {item} belongs to one day: its {first}.\n\n"
        f"3. The value. The value of {an_item} is its quantity times the price of its kind "
        f"in the {theme.region[0]} of its {account}, less the discount, and at least the minimum "
        f"charge. All three are those of its day: the price is in @price; the discount is the "
        f"percentage of the setting discount_ followed by the {theme.class_word} that the "
        f"{account} had on that day according to @history; the minimum charge is the setting "
        "minimum_charge. Prices, settings and history are valid from their first to their last "
        "day, both included, or until further notice if there is no last day. Quantities are "
        f"measured in {theme.unit[0]}.\n\n"
        f"4. The month. {an_item.capitalize()} counts in the month of its day.{late}\n\n"
        f"5. The counted value of a set of {items} is the sum of the values of those that count. "
        f"The {theme.class_word} of {an_item} is that of its {account} on the day of the {item}; "
        f"the {theme.region[0]} is that of its {account} today."
    )


def _decisions(
    ground: Ground, draw: ValueDraw, numbers: list[int]
) -> list[tuple[str, str, str, str]]:
    theme, spec, today = ground.theme, ground.spec, ground.today
    item, items = theme.item
    words = {"booked": "booking date", "done": theme.done}
    then = words["done" if spec.day_first == "booked" else "booked"]
    dated = shifted(spec.day_switch, -draw.between(9, 30))
    made = [
        (
            f"decision_{numbers[0]}", f"Decision D-{numbers[0]}: the day of {with_article(item)}",
            dated,
            f"The finance board decides: {items} that are entered on {spec.day_switch} or later "
            f"belong to their {then}. For {items} entered before, nothing changes.",
        )
    ]  # fmt: skip
    if spec.states != spec.old_states:
        made.append(
            (
                f"decision_{numbers[1]}", f"Decision D-{numbers[1]}: states that count",
                shifted(today, -draw.between(45, 80)),
                f"The finance board decides: {items} in the state approved count like those in the "
                "state final, whatever their day. This applies to all figures and tables from now "
                "on, including those about earlier months.",
            )
        )  # fmt: skip
    if spec.kept_kind:
        made.append(
            (
                f"decision_{numbers[3]}", f"Decision D-{numbers[3]}: the day of some {items}",
                shifted(today, -draw.between(44, 70)),
                f"The finance board decides: {items} of kind {spec.kept_kind} belong to their "
                f"{words[spec.day_first]}, whenever they were entered. Decision D-{numbers[0]} "
                f"still applies to all other {items}.",
            )
        )  # fmt: skip
    made.append(
        (
            f"draft_{numbers[2]}", f"Draft D-{numbers[2]}: minimum charge (not decided)",
            shifted(today, -draw.between(5, 25)),
            f"Proposal for the next meeting of the board: drop the minimum charge, and let "
            f"all {items} belong to their booking date. Status: to be discussed.",
        )
    )  # fmt: skip
    return sorted(made, key=lambda each: each[2])


def _deliveries(ground: Ground) -> str:
    theme = ground.theme
    account = theme.account[0]
    unit, small, factor, one = theme.unit
    totals = ""
    if "tally" in ground.rows:
        totals = (
            f"\n\n7. @tally holds, for each {account}, the number of its rows in @item, whatever "
            "their state. It must be correct whenever a ticket is handed in, even after others "
            "have entered rows."
        )
    return (
        f"A delivery is a table of lines that become rows of @item. Its number is given in the "
        "ticket.\n\n"
        f"1. Write {theme.account[0]} numbers as in @account, kinds in lower case, days as in "
        "@item (31.05.2024 becomes 2024-05-31), and quantities in "
        f"{unit} ({factor} {small} to the {one}).\n\n"
        f"2. No work is done before it is booked. If a line says otherwise, its two days were "
        "swapped; swap them back.\n\n"
        f"3. If several lines are equal after that, apart from the line number, enter only the one "
        "with the lowest line number.\n\n"
        f"4. Do not enter lines whose {account} does not exist or is closed.\n\n"
        f"5. The row gets the number of the delivery times 1000 plus the line number as "
        f"@item.id, today as entry date, the state final and the source import. It does not "
        f"replace another row and is not replaced.\n\n"
        "6. Each line that is entered is in @item only once, under its number by rule 5. A row "
        f"with the same {account}, kind, days, quantity and entry date under another number is a "
        f"repetition; delete it.{totals}"
    )


def _price_lists(ground: Ground) -> str:
    return (
        "A price list is a table of lines, each with a kind, a "
        f"{ground.theme.region[0]}, a first day and a new price.\n\n"
        "1. If a kind and a "
        f"{ground.theme.region[0]} occur in several lines, only the line with the highest number "
        "applies.\n\n"
        "2. If a version in @price begins on the very day of the line, replace its price.\n\n"
        "3. Otherwise the version that is valid on that day ends on the day before, and a new "
        "version with the new price begins, valid until the day on which the former one was to "
        "end, or until further notice. If the price is the same, change nothing.\n\n"
        "4. Enter the prices exactly as in the list.\n\n"
        "5. A setting that gets a new value from a certain day is handled in the same way: the "
        "version in @setting that is valid on that day ends on the day before, and a new version "
        "begins, valid until further notice, with the number of its decision. Enter percentages "
        "as in the other rows.\n\n"
        "@nightly is a copy of @price as it was this morning."
    )


def _accounts(ground: Ground) -> str:
    theme = ground.theme
    accounts, account = theme.account[1], theme.account[0]
    changes = ""
    if "log" in ground.rows:
        changes = (
            f"\n\n5. Enter each change of the status or the {theme.class_word} of "
            f"{with_article(account)} that a ticket asks for in @log: the {account}, the former "
            "value, the new value, and today. Do not enter what is only put back. If the change "
            "is withdrawn, remove its entry."
        )
    return (
        f"1. The present {theme.class_word} of {with_article(account)} is in @account, and its "
        "history in @history. If it changes from a day on, the version in @history valid that day "
        "ends on the day before, and a new version begins on that day, valid until further "
        f"notice. The {theme.class_word} in @account is that of today.\n\n"
        f"2. A lock (@account.locked = 1) protects a row of @account from changes by mistake. "
        "If a ticket asks for a change, the lock is no obstacle, but the row must be locked again "
        "when the ticket is handed in.\n\n"
        f"3. Holds are entered in @register. While a hold is in force, neither the status nor the "
        f"{theme.class_word} of its {account} may be changed. Refuse a ticket about that {account} "
        "alone as not_permitted, with the number of the hold as evidence. In a ticket about many "
        f"{accounts}, leave it out.\n\n"
        f"4. A hold is in force from its entry date up to and including the {HOLD_DAYS}th day "
        "after it, unless it was lifted. It "
        f"counts only if its author was, on the entry date, an officer for the "
        f"{theme.region[0]} of the {account}, or for all (*), according to @officer. An entry of "
        "kind lift ends the hold that it refers to, for good, if its author was such an officer on "
        f"the day of the lift. Entries of kind notice have no effect.{changes}"
    )


def _dictionary(ground: Ground) -> str:
    theme = ground.theme
    item, items = theme.item
    account, accounts = theme.account
    books = {
        "tally": f"\n@tally: numbers of rows by {account}.",
        "log": f"\n@log: changes of {accounts}.",
        "reported": "\n@reported: counted values that were reported.",
    }
    return (
        "The tables of the desk, beside those of other offices, which are described in the data "
        "dictionary.\n\n"
        f"@region: the {theme.region[1]}.\n"
        f"@account: the {accounts}. @account.holder refers to @@HOLDER, the holder: "
        f"{with_article(ground.holder.noun)}. @account.status is active, paused or closed.\n"
        f"@history: the {theme.class_word} of the {accounts} over time.\n"
        f"@item: the {items}. @item.booked: when it was booked; @item.done: {theme.done}; "
        "@item.entered: when the row was entered. @item.state is draft, final, approved or void. "
        f"@item.by: the {item} that replaces it. @item.source: desk, app, feed, import.\n"
        "@price: prices by kind and "
        f"{theme.region[0]} over time. @nightly: a copy of this morning.\n"
        "@setting: percentages and amounts over time, with the decision that set them.\n"
        "@period: the months, and when they were closed.\n"
        "@register: holds, lifts and notices. @officer: who may enter them, where and when.\n"
        f"@offer: {theme.offer[1]} with what they need, {theme.loads[0]} and {theme.loads[1]}, and "
        "their margin. @offer.state is open, accepted or declined.\n"
        "@stage: lines of today's delivery. @list: lines of today's price list.\n"
        "@view: a view of what counts."
        + "".join(line for role, line in books.items() if role in ground.rows)
    ).replace("@@HOLDER", f"{ground.holder.name}.{ground.holder.key}")


def _changes(ground: Ground, draw: ValueDraw) -> str:
    theme, today, spec = ground.theme, ground.today, ground.spec
    unit, small, factor, one = theme.unit
    lines = [
        (shifted(today, -draw.between(600, 800)), "The desk's tables moved to the new server."),
        (shifted(today, -draw.between(420, 580)), "The app can be used without a connection."),
        (shifted(today, -draw.between(300, 410)), "The buttons of the entry form are larger."),
        (shifted(today, -draw.between(100, 250)), "The feed is read every hour."),
        (shifted(today, -draw.between(30, 90)), "Reports are sent by mail at seven."),
    ]
    if spec.unit_switch:
        lines.append(
            (
                spec.unit_switch,
                f"From this day on, quantities of {theme.item[1]} are entered in {unit}. Rows "
                f"entered before have them in {small} ({factor} to the {one}).",
            )
        )
    if spec.app_unit_days[0]:
        start, end = spec.app_unit_days
        lines.append(
            (
                shifted(end, 1),
                f"The app had sent quantities in {small} ({factor} to the {one}) since {start}. "
                f"This has been fixed. {theme.item[1].capitalize()} from the app that were entered "
                f"up to and including {end} were left unchanged.",
            )
        )
    return "\n".join(f"{day}: {text}" for day, text in sorted(lines))
