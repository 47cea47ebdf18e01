"""A database that gets a new column while others go on writing to it in the old way."""

from hexathlon.tasks.terminal.draft import Probe
from hexathlon.tasks.terminal.templates.shifts.job import Machine, TicketJob, put_file, python_probe

__all__ = ["stock", "stock_report"]

_SCHEMA = """CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO meta VALUES ('schema', '1');
CREATE TABLE item (
    id INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE, site TEXT NOT NULL,
    qty INTEGER NOT NULL, price TEXT
);
CREATE TABLE audit (item INTEGER NOT NULL, sku TEXT, qty INTEGER, price TEXT);
CREATE TRIGGER item_audit AFTER UPDATE ON item
BEGIN INSERT INTO audit VALUES (old.id, old.sku, old.qty, old.price); END;
CREATE VIEW shelf AS SELECT site, count(*) AS items, sum(qty) AS pieces FROM item GROUP BY site;
"""

_IMPORT = """#!/usr/bin/env python3
# import-NAME: takes rows sku;site;qty;price from var/inbox/NAME into the database
import glob, os, sqlite3
os.chdir("/app")
base = sqlite3.connect("var/db/NAME.db")
for path in sorted(glob.glob("var/inbox/NAME/*.csv")):
    with base:
        for line in open(path):
            sku, site, qty, price = line.rstrip("\\n").split(";")
            base.execute(
                "INSERT INTO item (sku, site, qty, price) VALUES (?, ?, ?, ?) ON CONFLICT (sku) "
                "DO UPDATE SET qty = excluded.qty, price = excluded.price",
                (sku, site, int(qty), price or None),
            )
    os.remove(path)
"""

_NOTE = """# NAME

The stock of all sites: var/db/NAME.db, an SQLite database.

* `item.price` is text, as it is typed in: `12.50`, `12,5`, `7`, with white space around it at
  times. The mark before the cents is a point or a comma; there are no marks for thousands, and at
  most two digits of cents. Text without a price (`n/a`, `?`, `-`, nothing) stands for an unknown
  price, as NULL does.
* `bin/cron/import-NAME` takes in what the sites send to `var/inbox/NAME`.
* `audit` has a line for every change of an item's sku, site, qty or price, with what stood there
  before. The auditors read it: there are no other lines in it.
"""

_MIGRATE = '''#!/usr/bin/env python3
"""Migrate a stock database to schema 2."""
import sqlite3, sys

CENTS = """CASE WHEN WHITE GLOB '[0-9]*'
    THEN CAST(round(CAST(replace(WHITE, ',', '.') AS REAL) * 100) AS INTEGER) END"""
WHITE = "trim(PRICE, ' ' || char(9) || char(10) || char(13))"


def cents(price):
    return CENTS.replace("WHITE", WHITE).replace("PRICE", price)


base = sqlite3.connect(sys.argv[1], isolation_level=None)
base.execute("BEGIN IMMEDIATE")
columns = [row[1] for row in base.execute("PRAGMA table_info(item)")]
if "price_cents" not in columns:
    base.execute("ALTER TABLE item ADD COLUMN price_cents INTEGER")
for name in ("item_audit", "item_cents_new", "item_cents_changed"):
    base.execute(f"DROP TRIGGER IF EXISTS {name}")
FILL
AUDIT
TRIGGERS
base.execute("UPDATE meta SET value = '2' WHERE key = 'schema'")
base.execute("COMMIT")
'''
_FILL = "base.execute(f\"UPDATE item SET price_cents = {cents('price')}\")"
_FILL_MISSING = _FILL[:-2] + ' WHERE price_cents IS NULL")'
_AUDIT = '''base.execute("""CREATE TRIGGER item_audit
AFTER UPDATE OF id, sku, site, qty, price ON item
BEGIN INSERT INTO audit VALUES (old.id, old.sku, old.qty, old.price); END""")'''
_AUDIT_ALL = _AUDIT.replace(" OF id, sku, site, qty, price", "")
_TRIGGERS = """SET = f"UPDATE item SET price_cents = {cents('new.price')} WHERE id = new.id; END"
base.execute(f"CREATE TRIGGER item_cents_new AFTER INSERT ON item BEGIN {SET}")
base.execute(f"CREATE TRIGGER item_cents_changed AFTER UPDATE OF price ON item BEGIN {SET}")"""
_ONLY_NEW = "\n".join(_TRIGGERS.split("\n")[:2])

_GENERATED = '''#!/usr/bin/env python3
"""Migrate a stock database to schema 2: a generated column is right whoever writes."""
import sqlite3, sys
base = sqlite3.connect(sys.argv[1], isolation_level=None)
if base.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone() == ("1",):
    base.execute("BEGIN IMMEDIATE")
    if any(row[1] == "price_cents" for row in base.execute("PRAGMA table_info(item)")):
        base.execute("ALTER TABLE item DROP COLUMN price_cents")
    text = "trim(price, char(9, 10, 13, 32))"
    base.execute(f"""ALTER TABLE item ADD COLUMN price_cents INTEGER GENERATED ALWAYS AS (
        CASE WHEN {text} GLOB '[0-9]*'
        THEN CAST(round(100 * replace({text}, ',', '.')) AS INTEGER) END) VIRTUAL""")
    base.execute("UPDATE meta SET value = '2' WHERE key = 'schema'")
    base.execute("COMMIT")
'''

_BUILD = """import sqlite3, sys
def build(path, rows, half):
    base = sqlite3.connect(path)
    base.executescript(open("SCHEMA").read())
    base.executemany("INSERT INTO item (sku, site, qty, price) VALUES (?, ?, ?, ?)", rows)
    base.execute("INSERT INTO audit VALUES (1, 'old', 3, '1,5')")
    if half:
        base.execute("ALTER TABLE item ADD COLUMN price_cents INTEGER")
        base.execute("UPDATE item SET price_cents = CAST(replace(price, ',', '.') AS REAL) * 100 "
                     "WHERE id <= 5 AND price NOT LIKE 'n%'")
        base.execute("DELETE FROM audit WHERE rowid > 1")
    base.commit()
    base.close()
"""

_TEST = """import os, subprocess
rows = ROWS
for half in (False, True):
    path = "/tmp/held-out-%d.db" % half
    if os.path.exists(path):
        os.remove(path)
    build(path, rows, half)
    codes = [subprocess.run(["bin/MIGRATE", path]).returncode for _ in range(2 - half)]
    base = sqlite3.connect(path)
    def dump(what):
        print(*base.execute(what).fetchall())
    dump("SELECT id, price_cents FROM item ORDER BY id")
    dump("SELECT item, sku, qty, price FROM audit")
    base.execute("INSERT INTO item (sku, site, qty, price) VALUES ('new-1', 'x', 2, ' 8,05 ')")
    base.execute("UPDATE item SET price = '0.29' WHERE id = 2")
    base.execute("UPDATE item SET price = 'n/a' WHERE id = 3")
    base.execute("UPDATE item SET qty = 77 WHERE id = 4")
    base.commit()
    dump("SELECT id, price_cents FROM item WHERE id < 5 OR sku = 'new-1' ORDER BY id")
    codes += [subprocess.run(["bin/MIGRATE", path]).returncode]
    print(codes)
    dump("SELECT id, price_cents, qty, price FROM item WHERE id < 5 OR sku = 'new-1' ORDER BY id")
    dump("SELECT item, qty, price FROM audit")
    dump("SELECT value FROM meta UNION ALL SELECT site || items || '/' || pieces FROM shelf")
"""


def _cents(price: str | None) -> int | None:
    text = (price or "").strip()
    if not text[:1].isdigit():
        return None
    whole, _, part = text.replace(",", ".").partition(".")
    return 100 * int(whole) + int((part + "00")[:2])


def _rows(machine: Machine, count: int, tag: str) -> list[tuple[str, str, int, str | None]]:
    dice = machine.dice
    sites = machine.draft.cast.names("place", 4)
    made = []
    for number in range(count):
        whole, part = dice.whole(0, 300), dice.whole(0, 99)
        price: str | None = dice.pick(
            (f"{whole}.{part:02}", f"{whole},{part:02}", f"{whole}", f" {whole},{part // 10}",
             f"\t{whole}.{part:02}", "n/a", None, "?", "", f"{whole}.{part:02}")
        )  # fmt: skip
        made.append((f"{tag}-{number:04}", dice.pick(sites), dice.whole(0, 60), price))
    return made


def stock(machine: Machine) -> TicketJob:
    """Migrate a database: half done by someone before, and written to by an old importer."""
    dice, book = machine.dice, machine.book
    name, who = machine.name(), machine.people.pop()
    rows = _rows(machine, 160, dice.word(2))
    held = _rows(machine, 14, "h")
    for place, price in enumerate(("19.99", "0,29", "4.35", " 7,5", "n/a", "\t1,1 ")):
        held[place] = (*held[place][:3], price)
    machine.file(f"srv/{name}/schema.sql", _SCHEMA)
    machine.file(f"srv/{name}/README", _NOTE.replace("NAME", name))
    machine.timed(f"bin/cron/import-{name}", _IMPORT.replace("NAME", name))
    program = f"migrate-{name}"
    half_at = dice.whole(30, 90)
    listed = repr(rows)
    machine.draft.build(
        f"mkdir -p var/db var/inbox/{name}\npython3 - <<'HEX_END'\n"
        + _BUILD.replace("SCHEMA", f"srv/{name}/schema.sql").replace("id <= 5", f"id <= {half_at}")
        + f"build('var/db/{name}.db', {listed}, True)\nHEX_END"
    )
    later = _rows(machine, 9, "n")
    later[0] = (rows[3][0], rows[3][1], 5, "3,05")
    machine.shared["stock"] = (name, rows, later)
    test = _BUILD.replace("SCHEMA", "/tmp/held-out.sql") + _TEST.replace("MIGRATE", program)
    schema = f"open('/tmp/held-out.sql', 'w').write({_SCHEMA!r})\n"
    test = schema + test.replace("ROWS", repr(held))

    def source(fill: str = _FILL, audit: str = _AUDIT, triggers: str = _TRIGGERS) -> str:
        made = _MIGRATE.replace("FILL", fill).replace("AUDIT", audit)
        return made.replace("TRIGGERS", triggers)

    def solved(text: str, *, run: str = f"bin/{program} var/db/{name}.db\n") -> str:
        return put_file(f"bin/{program}", text, book.program_mode) + run

    plain_trim = source().replace(" || char(9) || char(10) || char(13)", "")
    floored = source().replace("round(", "(")
    early = _MIGRATE.replace("FILL", _AUDIT_ALL + "\n" + _FILL).replace("AUDIT\n", "")
    return TicketJob(
        component=name,
        text=f"""From {who}: prices in {name} become whole numbers of cents (schema 2, see \
srv/{name}/README). Please write bin/{program} and run it on var/db/{name}.db:

    bin/{program} DATABASE

After it, item has a column price_cents, an integer, NULL where the price is unknown, and meta's \
schema is '2'. From then on price_cents belongs to price in every row and at all times, whoever \
writes to the database; nothing else changes for those who do. It can be run again on a database \
at any time, and on one where an earlier run broke off. ({machine.people[0]} tried it by hand last \
week and gave up half way.)""",
        looks=(
            f"cat srv/{name}/README srv/{name}/schema.sql bin/cron/import-{name}",
            f"sqlite3 var/db/{name}.db .schema 'SELECT * FROM item LIMIT 40'; ls -R var",
        ),
        solution=solved(source()),
        probes=[
            python_probe("migration", test, _expected(held), seconds=20.0),
            Probe(
                "database",
                f"sqlite3 var/db/{name}.db \"SELECT count(*), sum(price_cents), count(price_cents) "
                'FROM item; SELECT count(*) FROM audit; SELECT value FROM meta"',
                {"text": _totals(rows, 0)},
            ),
        ],
        alternatives=(
            solved(_GENERATED),
            solved(source(triggers=_TRIGGERS.replace("OF price ON", "OF price, sku ON"))),
        ),
        misses={
            "trusted": solved(source(fill=_FILL_MISSING)),
            "audited": solved(early.replace("TRIGGERS", _TRIGGERS)),
            "importer": solved(source(triggers="")),
            "changed": solved(source(triggers=_ONLY_NEW)),
            "white_space": solved(plain_trim),
            "truncated": solved(floored),
            "not_run": solved(source(), run=""),
        },
    )  # fmt: skip


def _totals(rows: list[tuple[str, str, int, str | None]], audited: int) -> str:
    cents = [_cents(row[3]) for row in rows]
    known = [value for value in cents if value is not None]
    return f"{len(rows)}|{sum(known)}|{len(known)}\n{1 + audited}\n2"


def _expected(held: list[tuple[str, str, int, str | None]]) -> str:
    """Return what the test of the migration prints."""
    first = " ".join(str((n, _cents(row[3]))) for n, row in enumerate(held, 1))
    old = str((1, "old", 3, "1,5"))
    lines = []
    for half in (False, True):
        after = [(1, _cents(held[0][3]), held[0][2], held[0][3]), (2, 29, held[1][2], "0.29"),
                 (3, None, held[2][2], "n/a"), (4, _cents(held[3][3]), 77, held[3][3]),
                 (len(held) + 1, 805, 2, " 8,05 ")]  # fmt: skip
        audit = [(1, 3, "1,5"), *((n, held[n - 1][2], held[n - 1][3]) for n in (2, 3, 4))]
        sites: dict[str, list[int]] = {"x": [1, 2]}
        for n, row in enumerate(held, 1):
            counted = sites.setdefault(row[1], [0, 0])
            counted[0] += 1
            counted[1] += 77 if n == 4 else row[2]
        shelf = [("2",), *((f"{s}{n}/{p}",) for s, (n, p) in sorted(sites.items()))]
        soon = " ".join(str(row[:2]) for row in after)
        lines += [first, old, soon, str([0] * (3 - half)), " ".join(map(str, after)),
                  " ".join(map(str, audit)), " ".join(map(str, shelf))]  # fmt: skip
    return "\n".join(lines)


_REPORT = '''#!/usr/bin/env python3
"""Print the value of the stock by site, from price_cents."""
import sqlite3, sys
base = sqlite3.connect(sys.argv[1] if len(sys.argv) > 1 else "/app/var/db/NAME.db")
rows = base.execute("""SELECT site, sum(qty * price_cents), sum(price_cents IS NULL)
    FROM item GROUP BY site ORDER BY ORDER""")
for site, cents, unknown in rows:
    cents = cents or 0
    print(f"{site}\\t{cents // 100}.{cents % 100:02}\\t{unknown}")
'''

_SHELL_REPORT = """#!/bin/bash
# the value of the stock by site
sqlite3 -separator $'\\t' "${1:-/app/var/db/NAME.db}" "
SELECT site, printf('%d.%02d', v / 100, v % 100), u FROM (
  SELECT site, ifnull(sum(qty * price_cents), 0) AS v, sum(price_cents IS NULL) AS u
  FROM item GROUP BY site)
ORDER BY v DESC, site"
"""


def stock_report(machine: Machine) -> TicketJob:
    """Report on the migrated database, into which rows have come since in the old way."""
    name, rows, later = machine.shared["stock"]
    book, who = machine.book, machine.people.pop()
    program = f"value-{name}"
    current = {row[0]: row for row in rows}
    current |= {row[0]: row for row in later}
    final = list(current.values())
    extra = [("zz-1", "aa", 3, "n/a"), ("zz-2", "zz", 700, "99,99"), ("zz-3", "ab", 1, "0,05")]
    extra += [("zz-4", "ac", 1, "0.05")]

    def told(items: list[tuple[str, str, int, str | None]]) -> str:
        sites: dict[str, list[int]] = {}
        for _, site, qty, price in items:
            cents, counted = _cents(price), sites.setdefault(site, [0, 0])
            if cents is None:
                counted[1] += 1
            else:
                counted[0] += qty * cents
        order = sorted(sites.items(), key=lambda entry: (-entry[1][0], entry[0]))
        return "\n".join(f"{s}\t{v // 100}.{v % 100:02}\t{u}" for s, (v, u) in order)

    lines = "".join(f"{sku};{site};{qty};{price or ''}\n" for sku, site, qty, price in later)
    arrive = f"cat > var/inbox/{name}/today.csv <<'HEX_END'\n{lines}HEX_END\n"
    arrive += f"timeout 10 bin/cron/import-{name}\n"
    right = _REPORT.replace("NAME", name).replace("BY ORDER", "BY 2 DESC, site")
    right = right.replace("sum(qty * price_cents)", "ifnull(sum(qty * price_cents), 0)")
    by_site = _REPORT.replace("NAME", name).replace("BY ORDER", "BY site")
    digits = right.replace("{cents // 100}.{cents % 100:02}", "{cents / 100}")
    hidden = right.replace("GROUP BY", "WHERE price_cents NOT NULL GROUP BY")
    run = f'cp var/db/{name}.db /tmp/value.db; sqlite3 /tmp/value.db "INSERT INTO item '
    values = ", ".join(str((s, t, q, p)) for s, t, q, p in extra)
    run += f'(sku, site, qty, price) VALUES {values}"; bin/{program} /tmp/value.db'

    def solved(text: str) -> str:
        return put_file(f"bin/{program}", text, book.program_mode)

    return TicketJob(
        component=name,
        text=f"""From {who}: now that prices are numbers, please write bin/{program}:

    bin/{program} [DATABASE]

by default on var/db/{name}.db. It prints a line for each site: site, value, and the number of \
items of unknown price, with a tab between them. The value is the sum of qty times price of the \
other items, like 1234.05 (0.00 if there are none); the greatest value comes first, equal ones in \
the order of the site's name. For the log: the number of items in var/db/{name}.db whose price is \
unknown at present.""",
        answer=str(sum(_cents(row[3]) is None for row in final)),
        before=arrive,
        looks=(
            f"ls -l var/inbox/{name} var/db; sqlite3 var/db/{name}.db 'SELECT * FROM item ORDER "
            "BY id DESC LIMIT 12'",
        ),
        solution=solved(right),
        probes=[
            Probe("value", f"bin/{program}; {run}",
                  {"text": f"{told(final)}\n{told(final + extra)}"}),
            Probe(
                "database_now",
                f"sqlite3 var/db/{name}.db \"SELECT count(*), sum(price_cents), count(price_cents) "
                'FROM item; SELECT count(*) FROM audit; SELECT value FROM meta"',
                {"text": _totals(final, 1)},
            ),
        ],
        replaces=(f"{name}/database",),
        alternatives=(
            solved(_SHELL_REPORT.replace("NAME", name)),
            solved(right.replace("sum(price_cents IS NULL)", "count(*) - count(price_cents)")),
        ),
        misses={
            "order": solved(by_site), "digits": solved(digits), "left_out": solved(hidden),
        },
    )  # fmt: skip
