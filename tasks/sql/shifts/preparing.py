"""What lies ready in the morning of a shift: imports, price lists, holds, routines and the view.

Triggers and the view are part of the database; an agent finds them in its catalogue.
"""

from hexathlon.tasks.sql.draws import ValueDraw, months_before, shifted
from hexathlon.tasks.sql.programs.phrases import literals
from hexathlon.tasks.sql.schema import Row
from hexathlon.tasks.sql.shifts.ground import OFFICERS, Ground

__all__ = [
    "CLOSED_WITH_OTHERS",
    "HOLD_DAYS",
    "in_force",
    "key_of",
    "prepare",
    "respelt",
    "routines",
]

HOLD_DAYS = 120
CLOSED_WITH_OTHERS = ("grace_days", "late_fee")
"""Settings that a routine ends together with any other one."""
_HOLDS = 42


def prepare(ground: Ground, draw: ValueDraw, traps: frozenset[str]) -> int:
    """Draw the delivery, the price list, the register and the tables that the desk has to keep.

    Returns the number of the delivery.
    """
    _register(ground, draw)
    _delivery(ground, draw)
    _price_list(ground, draw)
    _books(ground, draw, traps)
    return draw.between(301, 799)


def key_of(no: object) -> str:
    """Return an account number in the spelling of its account."""
    return str(no).strip().upper()


def respelt(no: str, draw: ValueDraw) -> str:
    """Return another spelling of an account number that means the same."""
    return draw.pick((no.lower(), no + " ", no.lower() + " "))


def _books(ground: Ground, draw: ValueDraw, traps: frozenset[str]) -> None:
    """Draw the former rows of the tables that the desk has to keep."""
    accounts = [str(row[0]) for row in ground.rows["account"]]
    if "tally" in traps:
        totals = dict.fromkeys(accounts, 0)
        for row in ground.rows["item"]:
            totals[key_of(row[1])] += 1
        ground.rows["tally"] = list(totals.items())
    if "log" in traps:
        rows: list[Row] = []
        for no in draw.sample(accounts, 40):
            values = draw.pick((ground.theme.classes, ("active", "paused")))
            was, became = draw.sample(values, 2)
            rows.append((no, was, became, shifted(ground.today, -draw.between(1, 90))))
        ground.rows["log"] = sorted(rows, key=lambda row: str(row[3]))
    if "reported" in traps:
        ground.rows["reported"] = [
            (shifted(ground.today, -back), ticket, draw.between(20_000, 9_000_000) / 100)
            for back in range(9, 0, -1)
            for ticket in sorted(draw.sample(range(1, 12), draw.between(1, 3)))
        ]


def _register(ground: Ground, draw: ValueDraw) -> None:
    today = ground.today
    officers: list[Row] = []
    scope: dict[str, str] = {}
    codes = [code for code, _ in ground.regions]
    for place, name in enumerate(OFFICERS):
        scope[name] = "*" if place < 2 else draw.pick(codes)
        first = shifted(today, -draw.between(400, 1_500))
        last = shifted(today, -draw.between(60, 100)) if place in (1, 6) else None
        officers.append((name, scope[name], first, last))
        if place == 3:
            officers.append((name, draw.pick(codes), shifted(today, -200), None))
    ground.rows["officer"] = officers
    accounts = [row for row in ground.rows["account"] if row[4] == "active"]
    lines: list[Row] = []
    number = draw.between(2_000, 6_000)
    lifted: list[tuple[str, str, list[str]]] = []
    offering = {row[1] for row in ground.rows["offer"] if row[5] == "open"}
    first_ones = draw.sample([row for row in accounts if row[0] in offering], 10)
    rest = [row for row in accounts if row not in first_ones]
    named = [*first_ones, *draw.sample(rest, _HOLDS - len(first_ones))]
    for row in draw.sample(named, len(named)):
        number += draw.between(2, 30)
        kind = "hold" if draw.chance(0.85) else "notice"
        able = [name for name in OFFICERS if scope[name] in ("*", row[2])]
        author = draw.pick(able if draw.chance(0.7) else OFFICERS)
        day = shifted(today, -draw.pick((draw.between(1, 100), draw.between(100, 260))))
        no = str(row[0])
        if ground.spec.soiled_holds and draw.chance(0.4):
            no = respelt(no, draw)
        lines.append((f"H-{number}", kind, no, day, author, None))
        if kind == "hold" and draw.chance(0.35):
            lifted.append((f"H-{number}", day, able))
    for entry, entered, able in lifted:
        number += draw.between(2, 30)
        author = draw.pick(able if draw.chance(0.6) else OFFICERS)
        day = min(shifted(entered, draw.between(1, 20)), today)
        lines.append((f"H-{number}", "lift", None, day, author, entry))
    ground.rows["register"] = lines


def in_force(ground: Ground) -> dict[str, str]:
    """Return the entry number of the hold in force by account, from the rows."""
    region = {str(row[0]): str(row[2]) for row in ground.rows["account"]}
    officers = ground.rows["officer"]

    def entitled(author: object, code: str, day: str) -> bool:
        return any(
            name == author and where in ("*", code) and str(first) <= day <= str(last or "9999")
            for name, where, first, last in officers
        )

    register = ground.rows["register"]
    holds = {str(row[0]): row for row in register if row[1] == "hold"}
    ended = set()
    for _, what, _, day, author, refers in register:
        if what == "lift" and entitled(author, region[key_of(holds[str(refers)][2])], str(day)):
            ended.add(str(refers))
    oldest = shifted(ground.today, -HOLD_DAYS)
    return {
        key_of(row[2]): number
        for number, row in holds.items()
        if number not in ended and str(row[3]) >= oldest
        and entitled(row[4], region[key_of(row[2])], str(row[3]))
    }  # fmt: skip


def _delivery(ground: Ground, draw: ValueDraw) -> None:
    """Draw the lines of an import, with the faults that the procedure names."""
    theme, today = ground.theme, ground.today
    accounts = ground.rows["account"]
    lines: list[Row] = []
    unit, small, factor, _ = theme.unit

    def dated(day: str, dotted: bool) -> str:
        return f"{day[8:]}.{day[5:7]}.{day[:4]}" if dotted else day

    for _ in range(84):
        row = draw.pick(accounts)
        no = str(row[0])
        if draw.chance(0.06):
            no = f"{theme.prefix}-{draw.between(1_000, 9_999)}"
        if draw.chance(0.18):
            no = draw.pick((no.lower(), no + " ", " " + no))
        kind = draw.pick(theme.kinds)
        booked = draw.between(4, 75)
        done = booked - draw.between(1, 20)
        days = [shifted(today, -booked), shifted(today, -max(done, 0))]
        if draw.chance(0.12):
            days.reverse()
        dotted = draw.chance(0.25)
        qty, spoken = draw.between(1, 24) * 0.5, unit
        if draw.chance(0.2):
            qty, spoken = qty * factor, small
        lines.append(
            (
                0, no, kind.capitalize() if draw.chance(0.15) else kind, dated(days[0], dotted),
                dated(days[1], dotted), qty, spoken,
            )
        )  # fmt: skip
    for line in draw.sample(lines, 9):
        no = str(line[1])
        again = list(line)
        if draw.chance(0.5):
            again[1] = no.strip().lower()
        if draw.chance(0.5) and again[6] == small:
            again[5], again[6] = float(again[5]) / factor, unit  # type: ignore[arg-type]
        lines.insert(draw.below(len(lines)), tuple(again))
    ground.rows["stage"] = [(place + 1, *line[1:]) for place, line in enumerate(lines)]


def _price_list(ground: Ground, draw: ValueDraw) -> None:
    """Draw new prices: new versions, replaced ones, unchanged ones, and repeated lines."""
    today = ground.today
    since = months_before(today, draw.between(1, 2))
    open_versions = {
        (str(row[0]), str(row[1])): row for row in ground.rows["price"] if row[3] is None
    }
    places = draw.sample(sorted(open_versions), 19)
    lines: list[Row] = []
    for order, place in enumerate(places):
        row = open_versions[place]
        cents = round(float(row[4]) * 100)  # type: ignore[arg-type]
        step = draw.pick((-2, 3, 5, 9, 14)) * 40
        first = since
        if order < 6:
            first, step = str(row[2]), draw.pick((12, 16, 20, 26)) * 40
        elif order < 9:
            step = 0
        if order in (9, 10, 11):
            lines.append((0, *place, first, (cents + step + 80) / 100))
        lines.append((0, *place, first, max(cents + step, 400) / 100))
    order_of = [lines[place] for place in draw.sample(range(len(lines)), len(lines))]
    ground.rows["list"] = [(place + 1, *line[1:]) for place, line in enumerate(order_of)]


def routines(ground: Ground, traps: frozenset[str]) -> list[str]:
    """Return the statements that create the view and the triggers of a day."""
    spec = ground.spec
    states = ", ".join(repr(state) for state in spec.old_states)
    made = [
        f"CREATE VIEW @view AS SELECT * FROM @item WHERE @item.state IN ({states}) "
        "AND @item.by IS NULL"
    ]
    if "step_limit" in traps:
        made.append(
            "CREATE TRIGGER @price_chk AFTER UPDATE OF @price.price ON @price "
            "WHEN NEW.@price.price > OLD.@price.price * 1.15 BEGIN "
            "UPDATE @price SET @price.price = ROUND(OLD.@price.price * 1.15, 2) WHERE "
            "@price.kind = NEW.@price.kind AND @price.region = NEW.@price.region "
            "AND @price.first = NEW.@price.first; END"
        )
    if "rounding" in traps:
        made.append(
            "CREATE TRIGGER @price_ins AFTER INSERT ON @price BEGIN "
            "UPDATE @price SET @price.price = ROUND(NEW.@price.price) WHERE "
            "@price.kind = NEW.@price.kind AND @price.region = NEW.@price.region "
            "AND @price.first = NEW.@price.first; END"
        )
    if "fraction" in traps:
        made.append(
            "CREATE TRIGGER @setting_ins AFTER INSERT ON @setting "
            "WHEN NEW.@setting.name LIKE 'discount%' AND NEW.@setting.value > 1 BEGIN "
            "UPDATE @setting SET @setting.value = NEW.@setting.value / 100.0 WHERE "
            "@setting.name = NEW.@setting.name AND @setting.first = NEW.@setting.first; END"
        )
    if "lock_undo" in traps:
        made.append(
            "CREATE TRIGGER @account_upd AFTER UPDATE OF @account.cls, @account.status ON @account "
            "WHEN OLD.@account.locked = 1 AND NEW.@account.locked = 1 BEGIN "
            "UPDATE @account SET @account.cls = OLD.@account.cls, "
            "@account.status = OLD.@account.status WHERE @account.no = OLD.@account.no; END"
        )
    if "cascade" in traps:
        made.append(
            "CREATE TRIGGER @account_sync AFTER UPDATE OF @account.cls ON @account "
            "WHEN NEW.@account.cls <> OLD.@account.cls BEGIN "
            "UPDATE @offer SET @offer.state = 'recheck' WHERE @offer.no = NEW.@account.no "
            "AND @offer.state = 'open'; END"
        )
    if "mirror" in traps:
        kind = ground.theme.kinds[1]
        made.append(
            "CREATE TRIGGER @item_ins AFTER INSERT ON @item "
            f"WHEN NEW.@item.source = 'import' AND NEW.@item.kind = '{kind}' BEGIN "
            "INSERT INTO @item SELECT NEW.@item.id + 5000000, NEW.@item.no, NEW.@item.kind, "
            "NEW.@item.booked, NEW.@item.done, NEW.@item.entered, 0.5, 'final', NULL, 'auto'; END"
        )
    if "tombstones" in traps:
        made.append(
            "CREATE TRIGGER @item_del AFTER DELETE ON @item WHEN OLD.@item.source <> 'archive' "
            "BEGIN INSERT INTO @item VALUES (OLD.@item.id + 7000000, OLD.@item.no, "
            "OLD.@item.kind, OLD.@item.booked, OLD.@item.done, OLD.@item.entered, OLD.@item.qty, "
            "'void', OLD.@item.by, 'archive'); END"
        )
    if "no_backdating" in traps:
        made.append(
            "CREATE TRIGGER @history_ins AFTER INSERT ON @history "
            f"WHEN NEW.@history.first < '{ground.today}' BEGIN "
            f"UPDATE @history SET @history.first = '{ground.today}' WHERE "
            "@history.no = NEW.@history.no AND @history.first = NEW.@history.first; END"
        )
    if "pause_declines" in traps:
        made.append(
            "CREATE TRIGGER @account_stop AFTER UPDATE OF @account.status ON @account "
            "WHEN NEW.@account.status = 'paused' BEGIN "
            "UPDATE @offer SET @offer.state = 'declined' WHERE @offer.no = NEW.@account.no "
            "AND @offer.state = 'open'; END"
        )
    if "sibling_closed" in traps:
        made.append(
            "CREATE TRIGGER @setting_end AFTER UPDATE OF @setting.last ON @setting "
            "WHEN OLD.@setting.last IS NULL AND NEW.@setting.last IS NOT NULL "
            f"AND NEW.@setting.name NOT IN ({literals(CLOSED_WITH_OTHERS)}) BEGIN "
            "UPDATE @setting SET @setting.last = NEW.@setting.last WHERE "
            f"@setting.name IN ({literals(CLOSED_WITH_OTHERS)}) AND @setting.last IS NULL; END"
        )
    if "nightly_follow" in traps:
        made.append(
            "CREATE TRIGGER @price_copy AFTER INSERT ON @price BEGIN INSERT OR IGNORE INTO "
            "@nightly VALUES (NEW.@price.kind, NEW.@price.region, NEW.@price.first, "
            "NEW.@price.last, NEW.@price.price); END"
        )
    made += [
        "CREATE TRIGGER @item_neg BEFORE INSERT ON @item WHEN NEW.@item.qty <= 0 BEGIN "
        "SELECT RAISE(ABORT, 'quantity must be positive'); END",
        "CREATE TRIGGER @price_neg BEFORE INSERT ON @price WHEN NEW.@price.price <= 0 BEGIN "
        "SELECT RAISE(ABORT, 'price must be positive'); END",
        "CREATE TRIGGER @region_del BEFORE DELETE ON @region BEGIN "
        "SELECT RAISE(ABORT, 'not deleted here'); END",
        "CREATE TRIGGER @offer_chk BEFORE UPDATE OF @offer.state ON @offer WHEN NEW.@offer.state "
        "NOT IN ('open', 'accepted', 'declined', 'recheck') BEGIN SELECT RAISE(ABORT, "
        "'unknown state'); END",
    ]
    return [ground.names(statement) for statement in sorted(made)]
