"""Documents and shared tables of an estate: rules, systems, dates, and what contradicts them."""

from collections.abc import Sequence
from datetime import date

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.draws import ValueDraw, shifted
from hexathlon.tasks.sql.estates.clauses import (
    BASIS,
    METRIC_NAMES,
    TOPICS,
    ruling,
    signatories,
)
from hexathlon.tasks.sql.estates.layout import FIELDS, EstateLayout
from hexathlon.tasks.sql.estates.spec import SEGMENTS, UNIT, EstateSpec
from hexathlon.tasks.sql.schema import Row
from hexathlon.tasks.sql.supplement import AddedDocument

__all__ = ["papers_of", "shared_rows"]


def shared_rows(spec: EstateSpec, layout: EstateLayout) -> dict[str, list[Row]]:
    """Return the rows of tables that all populations of a task share, by role."""
    settings: list[Row] = []
    for key, values in ((layout.settings[0], spec.tolerance), (layout.settings[1], spec.renewal)):
        settings += [(key, value, first, last) for value, first, last in values]
    settings += [("DUN_LEVELS", 3, "2016-01-01", None), ("RND_DIGITS", 2, "2016-01-01", None),
                 ("PRT_COPIES", 1, "2019-05-01", None)]  # fmt: skip
    return {
        "map": list(spec.districts), "region": list(spec.regions), "rate": list(spec.rates),
        "cal": list(spec.periods),
        "conf": settings, "vat": list(spec.vat), "sign": signatories(spec),
        "look": _lookups(layout),
    }  # fmt: skip


def _lookups(layout: EstateLayout) -> list[Row]:
    codes = layout.codes
    rows: list[Row] = [("SEG", code, text) for code, text in SEGMENTS.items()]
    new, old, bought = (layout.systems[each].upper() for each in "NLA")
    rows += [
        (f"{new}.ST", code, text)
        for code, text in zip(
            (*codes["Nok"], *codes["Nbad"]),
            ("posted", "posted and archived", "draft", "on hold", "cancelled"),
            strict=True,
        )
    ]
    rows += [
        (f"{old}.TY", code, text)
        for code, text in zip(
            (*codes["Ltyp"], *codes["Lcred"], *codes["Lbad"]),
            ("standard document", "collective document", "credit note", "pro forma", "statistical"),
            strict=True,
        )
    ]
    rows += [
        (f"{bought}.ST", code, text)
        for code, text in zip(
            (*codes["Aok"], *codes["Abad"], *codes["Adel"]),
            ("posted", "posted, by import", "parked", "query raised", "void", "deleted"),
            strict=True,
        )
    ]
    rows += [("BATCH", "REL", "released"), ("BATCH", "DRF", "draft"), ("BATCH", "REJ", "rejected"),
             ("RATE", "A", "average of the month"), ("RATE", "E", "end of the month"),
             ("RATE", "P", "planning rate of the year")]  # fmt: skip
    return rows


# -- documents -----------------------------------------------------------------------------------


def papers_of(spec: EstateSpec, layout: EstateLayout) -> tuple[AddedDocument, ...]:
    """Return the documents of a task in random order."""
    draw = ValueDraw(generator_for("sql-estate-papers", spec.company, spec.metric, spec.first))
    made = [
        *_governance(spec, layout), *_dictionaries(spec, layout), *_facts(spec, layout),
        *_moved(spec, layout),
        *_wiki(spec, layout), *_others(spec, layout, draw),
    ]  # fmt: skip
    numbers = draw.sample(range(1_000, 9_900), len(made))
    named = [
        AddedDocument(f"{kind}_{number}", title, dated, text)
        for (kind, title, dated, text), number in zip(made, numbers, strict=True)
    ]
    return tuple(draw.sample(named, len(named)))


Paper = tuple[str, str, str, str]
"""Kind, title, date and text."""


def _governance(spec: EstateSpec, layout: EstateLayout) -> list[Paper]:
    return [
        (
            "policy", "Which source holds for a reported figure", shifted(spec.first, -250),
            layout(
                "1. The metric register (@reg) defines what a metric means, topic by topic. An "
                "entry is binding if the person who signed it held a mandate of Group Controlling "
                "on the day of signing; mandates are in @sign. Entries of other bodies are only "
                "proposals.\n"
                "2. An entry applies from @reg.first on. Of several binding entries on one metric "
                "and topic, the one with the latest @reg.first that is not after today "
                f"({spec.today}) applies to every period that is reported now, including past "
                "ones.\n"
                "3. Where wiki pages differ from the register, they are out of date. Where the "
                "register says nothing, they apply, a later page before an earlier one.\n"
                "4. For how a system stores its data, that system's own pages apply. For dates of "
                "events (go-lives, closings, releases), the report on the event applies, not what "
                "was planned or announced.\n"
                "5. Never use views and tables of module bi, or copies with endings such as _old, "
                "_bak2, _snap or _stg, as a source.\n"
                "6. If the register leaves a choice to the person who asks, ask that person. Do "
                "not ask about anything that is on file."
            ),
        ),
        (
            "policy", "Periods, closing and the reporting day", shifted(spec.first, -320),
            layout(
                "A year has twelve periods, and a quarter three of them (1 to 3, 4 to 6, and so "
                "on). In requests to this desk, quarters are those of @cal, and the year is "
                "@cal.year; @cal.first is a period's first day and @cal.end the first day of the "
                "next one. @cal.closed is the day on which a period was closed; what is entered "
                "on that day is still in time.\n\n"
                "A figure at the end of a day (the reporting day) includes everything dated up "
                "to that day, whenever it was entered."
            ),
        ),
    ]  # fmt: skip


_MEANS = {
    "no": "document number", "cust": "customer", "ent": "day of entry", "del": "deletion",
    "typ": "document type", "itm": "product group", "ref": "document that it refers to",
    "stat": "state", "org": "how it got here", "ext": "number in another system, if any",
    "ccy": "currency", "vat": "tax key",
}  # fmt: skip
_FLOW_MEANS = {
    "sale": {"day": "invoice date", "alt": "service date", "day2": "due date",
             "bil": "extended due date, if one was agreed", "val": "amount"},
    "ctr": {"day": "start of the contract", "bil": "start of billing",
            "alt": "day of notice", "day2": "end date, empty while open", "val": "fee",
            "ent": "day of entry; once there is an end date, the day on which that was entered"},
    "dlv": {"day": "first promised date", "alt": "last confirmed date",
            "day2": "day of delivery", "bil": "day of printing", "val": "quantity"},
    "cred": {"day": "date of the credit note", "val": "amount"},
    "pay": {"day": "day of payment", "val": "amount"},
}  # fmt: skip
_EVIDENT = frozenset({"no", "typ", "stat", "itm"})
"""Columns that pages leave out, since their values show what they hold."""
_TITLES = {
    "sale": "sales invoices", "ctr": "service contracts", "dlv": "deliveries",
    "cred": "credit notes to sales invoices", "pay": "incoming payments",
}  # fmt: skip


def _entry(layout: EstateLayout, role: str) -> str:
    means = {**_MEANS, **_FLOW_MEANS[role[1:]]}
    table = layout.tables[role]
    if table.startswith(layout.dead[role][0]):
        table = layout.dead[role][0]  # the page has not followed the table
    title = _TITLES[role[1:]]
    if role == "Lsale":
        title = "sales invoices, and credit notes to them"
    named = [field for field in FIELDS[role] if field not in _EVIDENT]
    lines = [f"  {layout.columns[role][field]}: {means[field]}" for field in named]
    return "\n".join((f"{table}: {title}", *lines))


def _dictionaries(spec: EstateSpec, layout: EstateLayout) -> list[Paper]:
    systems, t = layout.systems, layout
    early = shifted(spec.first, -900)
    old = (
        f"{systems['L']} names tables by module and number. Those ending in 5 are work tables, "
        "those with a further letter are unloads for tests.\n\n"
        + "\n\n".join(_entry(layout, role) for role in ("Lsale", "Lpay", "Lctr", "Ldlv"))
        + "\n\nDates are numbers of eight digits, YYYYMMDD. Customers are those of the group, with "
        f"leading zeros. {t('@Lsale.del')} is X where a row was deleted; deleted rows never "
        f"count. Document types are in {t('@look')} under {systems['L'].upper()}.TY; standard "
        "and collective documents count, pro forma and statistical ones do not. Amounts are in "
        "euros, without tax; those of credit notes are positive. Quantities are pieces, fees are "
        "per month. An end date is the last day on which a contract runs."
    )
    new = (
        f"{systems['N']} has one table for each kind of document; names begin with the module.\n\n"
        + "\n\n".join(_entry(layout, role) for role in ("Nsale", "Ncred", "Npay", "Nctr", "Ndlv"))
        + f"\n\n{t('@Nsale.del')} is filled in where a row was deleted; deleted rows never "
        f"count. States are in {t('@look')} under {systems['N'].upper()}.ST; documents count in "
        "the two posted states only. Amounts are in euros, without tax; those of credit notes and "
        f"payments are positive. Quantities are pieces, fees are per month. {t('@Nsale.org')} is "
        "MIG for rows that were copied here by the migration, STD or WEB for what was entered "
        "here. An end date is the last day on which a contract runs."
    )
    return [
        ("wiki", f"{systems['L']}: tables and columns", early, old),
        ("wiki", f"{systems['N']}: tables and columns", shifted(early, 220), new),
        ("wiki", f"{systems['A']} ({layout.bought}): tables and columns", shifted(early, 410),
         _bought(spec, layout)),
        ("wiki", "Master data and settings", shifted(early, 300), _master(layout)),
    ]  # fmt: skip


def _bought(spec: EstateSpec, layout: EstateLayout) -> str:
    systems, t = layout.systems, layout
    dates = "DD.MM.YYYY, as text" if layout.dotted else "time stamps; the time means nothing"
    ends = (
        "An end date is the first day on which a contract no longer runs."
        if "ends" in spec.twists
        else "An end date is the last day on which a contract runs."
    )
    tax = (
        "Amounts of vouchers and credits include tax; the rate is that of the tax key in "
        f"{t('@vat')} on the date of the voucher or credit itself ({t('@vat.end')} is the first "
        "day on which a rate no longer applies)."
        if "vat" in spec.twists
        else "Amounts do not include tax."
    )
    roles = ("Asale", "Acred", "Apay", "Actr", "Adlv")
    return (
        f"{systems['A']} is the system of {layout.bought}. It has not been migrated.\n\n"
        + "\n\n".join(_entry(layout, role) for role in roles)
        + f"\n\nDates: {dates}. States are in {t('@look')} under {systems['A'].upper()}.ST; what "
        "is posted (also by import) counts. Deletion is a state here; a deleted row never counts."
        f" Amounts of credit notes are negative. {tax} Amounts are in the currency of the row; "
        f"receipts are in the currency of their voucher. {ends} On units of amounts, fees and "
        f"quantities see the notes on releases of {systems['A']}.\n\nAccounts are those of "
        f"{layout.bought}; {t('@xref')} leads from an account (with {systems['A'].upper()} as "
        f"{t('@xref.sys')}) to the customer of the group."
    )


def _master(layout: EstateLayout) -> str:
    return layout(
        "@cust: customers of the group. @cust.id is the number, @cust.district the district, "
        "@cust.seg the segment (texts in @look under SEG), @cust.into the customer into which it "
        "was merged, if it was.\n"
        "@map: which region a district belongs to. @map.first is the first day; @map.end is the "
        "first day on which it no longer belongs to it, or empty if it still does.\n"
        "@region: names of regions.\n"
        "@excl: lists of customers. @excl.list names the list, @excl.cust the customer, and "
        "@excl.last is the last day on the list. A list covers only the numbers that are on it.\n"
        f"Lists in use: {layout.lists[0]} for reporting, {layout.lists[1]} for other purposes.\n"
        "@conf: settings; @conf.last is the last day on which a value applies.\n"
        "@rate: rates of exchange by @rate.kind (texts in @look under RATE), currency and month, "
        "in units of the currency per euro.\n"
        "@batch and @corr: batches of corrections, by document number. @corr.val is the full new "
        "amount of the document, as it is reported: in euros without tax, in euros per month, or "
        "in pieces. @batch.state is the state (texts in @look under BATCH) and @batch.on the day "
        "of that state.\n"
        "@look: texts of codes."
    )


def _facts(spec: EstateSpec, layout: EstateLayout) -> list[Paper]:
    systems, t = layout.systems, layout
    kind = {"sale": "invoice date", "ctr": "start of the contract", "dlv": "first promised date"}
    own = {"sale": "invoice date", "ctr": "end date", "dlv": "day of delivery"}
    flow = spec.flow
    factor = UNIT[flow]
    units = {
        "sale": ("amounts in hundredths of the currency", "amounts in whole units of the currency",
                 "rows keyed"),
        "ctr": ("fees per year", "fees per month", "contracts starting"),
        "dlv": (f"quantities in cartons of {factor} pieces", "quantities in pieces",
                "rows keyed"),
    }[flow]  # fmt: skip
    month = date.fromisoformat(spec.release).strftime("%B %Y")
    return [
        (
            "plan", f"{systems['N']}: plan of the go-live", shifted(spec.cutover_plan, -60),
            f"{systems['N']} takes over from {systems['L']} on {spec.cutover_plan}. Documents "
            f"dated from that day on are kept in {systems['N']}. {systems['L']} is switched off "
            "the same evening. All open documents are migrated.",
        ),
        (
            "report", f"{systems['N']}: report on the go-live", shifted(spec.cutover, 66),
            f"After two postponements {systems['N']} took over on {spec.cutover}. Documents dated "
            f"before that day ({kind[flow]} for {_TITLES[flow]}) are kept in {systems['L']} for "
            f"good, those dated on it or later in {systems['N']}. For seven weeks documents were "
            f"entered in both systems; what {systems['L']} holds from {spec.cutover} on was a "
            f"safety net and does not count. Rows that the migration copied to {systems['N']} (so "
            "that the service desk can see them) do not count, either. Credit notes and "
            "payments were not copied: each is in the system in which it was entered, whatever "
            "document it refers to.",
        ),
        (
            "news", f"Welcome, {layout.bought}!", spec.signing,
            f"Today {layout.group} and {layout.bought} signed the contract. From {spec.signing} on "
            f"we are one company, and the figures of {layout.bought} are ours as well.",
        ),
        (
            "memo", f"Closing of the purchase of {layout.bought}", shifted(spec.consolidation, 12),
            f"The purchase of {layout.bought} was closed, and the firm is consolidated from "
            f"{spec.consolidation} on. Documents in {systems['A']} with an earlier date of their "
            f"own ({own[flow]} for {_TITLES[flow]}) belong to the former owners and do not count "
            "in figures about a period. Figures at the end of a day include them.",
        ),
        (
            "release", f"{systems['A']}: planned release", shifted(spec.release_plan, -45),
            f"With the release planned for {spec.release_plan}, {systems['A']} will store "
            f"{units[1]} ({_TITLES[flow]}); so far it stores {units[0]}. Existing rows will be "
            "converted.",
        ),
        (
            "ticket", f"{systems['A']}: what the release of {month} changed",
            shifted(spec.release, 21),
            f"The release was moved. It went live on {spec.release}: {units[2]} from that day on "
            f"have {units[1]}, earlier ones {units[0]}. They were not converted, and they will not "
            f"be. This applies to {_TITLES[flow]}"
            + (
                " and to credit notes and receipts, each by its own day of entry."
                if flow == "sale" else "."
            )
        ),
        (
            "ticket", f"Rows of {systems['N']} that turn up in {systems['A']}",
            shifted(spec.first, -70),
            f"The depots of {layout.bought} key some of our documents a second time, to print "
            f"paperwork. The copy has our document's number in {t('@A' + flow + '.ext')}; it is "
            "not a document of its own and does not count. The column is also used for order "
            "numbers of customers; such rows are ordinary.",
        ),
    ]  # fmt: skip


def _moved(spec: EstateSpec, layout: EstateLayout) -> list[Paper]:
    """Return the ticket on tables that were replaced by others, if any were."""
    moved = [
        f"{layout.dead[role][0]} was frozen; its rows, and all new ones, are in "
        f"{layout.tables[role]}"
        for role in ("Nsale", "Ncred", "Npay", "Nctr", "Ndlv")
        if layout.tables[role].startswith(layout.dead[role][0])
    ]
    if not moved:
        return []
    return [(
        "ticket", f"Full tablespace on {layout.systems['N']}", shifted(spec.first, -45),
        "Writes failed on Tuesday because the tablespace was full. What we did: "
        f"{'; '.join(moved)}. The columns are the same. The pages were not updated.",
    )]  # fmt: skip


def _wiki(spec: EstateSpec, layout: EstateLayout) -> list[Paper]:
    """Return pages on metrics, parts of which are out of date."""
    pages = [
        ("revenue", (
            "Net revenue is what we invoice, without tax, less credit notes. A credit note "
            "counts only if its invoice does. The period is decided by the reference date.")),
        ("overdue", (
            "An invoice is overdue on a day if it is dated no later than that day, its due date "
            "is before it, and at least one cent is open: its amount without tax less the "
            "payments and credit notes dated up to that day. 'Overdue by more than 60 days' goes "
            "by the same due date. Payments that were reversed are deleted.")),
        ("churn", (
            "Churn is the number of contracts that end, with the monthly fees that go with them. "
            "The period is decided by the reference date. Contracts without an end date do not "
            "churn.")),
        ("recurring", (
            "A contract is running on a day if it has begun by then and has not ended before. "
            "Recurring fees are the monthly fees of the contracts running on the reporting day. "
            "Customers are counted once in their segment.")),
        ("punctual", (
            "Punctuality is the share of the delivered quantity that arrived on time. The "
            "reference date is the day of delivery; what has not arrived counts neither way.")),
    ]  # fmt: skip
    made: list[Paper] = []
    draw = ValueDraw(generator_for("sql-estate-wiki", spec.company, spec.metric, spec.first))
    for metric, text in pages:
        title = METRIC_NAMES[metric].capitalize()
        added = ""
        if METRIC_NAMES[metric] == METRIC_NAMES[spec.metric]:
            doubtful = ("region", "currency", "late", "credits", "tolerance", "renewals")
            topics = [topic for topic in doubtful if topic in TOPICS[spec.metric]]
            for topic in draw.sample(topics, 2):
                added += "\n" + ruling(spec, layout, topic, right=False)
            own = BASIS[spec.metric]
            added += f"\nUsually we go by the {own[0] if spec.basis == 'alt' else own[1]}."
        made.append(("wiki", title, shifted(spec.first, -draw.between(400, 700)), text + added))
    return made


def _others(spec: EstateSpec, layout: EstateLayout, draw: ValueDraw) -> list[Paper]:
    systems = layout.systems
    texts: Sequence[tuple[str, str, str]] = (
        ("wiki", "Dunning: levels and letters",
         "There are three levels. Letters go out on Tuesdays. A customer on the dunning list "
         f"{layout.lists[1]} gets none; this has nothing to do with reporting."),
        ("mail", "Quarterly numbers: please by calendar quarter",
         "Hi all, the regions think in calendar quarters, and so should the reports. I will raise "
         "it with Controlling again. Until then nothing changes, I am told. Regards, Sales"),
        ("ticket", "Planning rates on the dashboard",
         "The dashboard converts at the planning rate. This is intended, since it compares with "
         "the budget. Closed: works as designed."),
        ("wiki", f"Access to {systems['A']}", "Ask the depot for an account. Clerks may read all "
         "branches. Passwords expire after ninety days."),
        ("minutes", "Data quality round",
         "Open: towns missing; double customers. Merged customers keep their number, so that old "
         f"documents can still be found. In {systems['A']} clerks type account numbers by "
         "hand: lower-case letters and stray spaces occur, but the account is the same. Next "
         "meeting in a month."),
        ("wiki", "Nightly jobs", "The unloads run at two. If one fails, it is repeated at four. "
         "Tables of module sys show what ran."),
        ("mail", "Old copies in the database",
         "I wanted to drop the copies with endings like _old, but three reports still read "
         "them. They are not kept up to date. Please do not add more readers."),
        ("wiki", "Warehouse: counting", "Counts are taken at the end of June and December. "
         "Differences are booked on the day of the count."),
        ("minutes", "Steering group: districts",
         "Some districts will move to another region; the first day is recorded with the "
         "assignment. Whether reports on the past follow is decided for each metric, not here."),
        ("wiki", "Travel expenses", "Receipts are handed in within thirty days. Per diems follow "
         "the table of the tax office."),
    )  # fmt: skip
    return [
        (kind, title, shifted(spec.first, -draw.between(20, 500)), text)
        for kind, title, text in texts
    ]
