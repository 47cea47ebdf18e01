"""A regression in a long history: tests that fail at random, versions that do not run, a hook."""

import hashlib
import json
from dataclasses import dataclass

from hexathlon.tasks.terminal.draft import Probe
from hexathlon.tasks.terminal.templates.shifts.job import Machine, TicketJob, python_probe

__all__ = ["history"]

_FIRST_S, _BETWEEN_S = 1_700_000_000, 43_211
"""Time of the first commit, and between two commits; a commit that is made anew has another."""

_STREAM = """import json, subprocess, sys
commits = json.loads(COMMITS)
git = subprocess.Popen(["git", "-C", "FOLDER", "fast-import", "--quiet"], stdin=subprocess.PIPE)
def say(text):
    git.stdin.write(text.encode())
for number, (who, subject, change, files) in enumerate(commits):
    when = FIRST_S + BETWEEN_S * number
    text = f"{subject}\\n\\nChange: {change}\\n"
    say("commit refs/heads/main\\n")
    for role in ("author", "committer"):
        say(f"{role} {who} <{who}@example.org> {when} +0000\\n")
    say(f"data {len(text.encode())}\\n{text}")
    for path, content in files.items():
        say(f"M 100644 inline {path}\\ndata {len(content.encode())}\\n{content}\\n")
git.stdin.close()
assert git.wait() == 0
"""

_PRICE = '''#!/usr/bin/env python3
"""Price orders: lines `SKU QUANTITY` on standard input, a quantity with a unit at times: 3dz."""
import sysIMPORTS

TERMS

RULE
def table(path, kind):
    """Return a table of two columns, which a tab separates."""
    found = {}
    for line in open(path):
        if "\\t" in line:
            name, value = line.rstrip("\\n").split("\\t")
            found[name] = kind(value)
    return found


def main(folder):
    prices, units = table(folder + "/prices.tsv", int), table(folder + "/units.tsv", int)
    total = 0
    for line in sys.stdin:
        sku, quantity = line.split()
        count = int(quantity.rstrip("abcdefghijklmnopqrstuvwxyz"))
        count *= units[quantity.lstrip("0123456789")] if not quantity.isdigit() else 1
        cents = amount(count, prices[sku])
        total += cents
        print(sku, count, f"{cents // 100}.{cents % 100:02}")
    print("total", f"{total // 100}.{total % 100:02}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")BROKEN
'''

_RULE = '''def amount(quantity, price):
    """Return the cents of a quantity at a price in cents; see RULES."""
    gross = quantity * price
    discount = 0
    if quantity BULKTEST BULK:
        discount = DISCOUNT
PACKSTEP    return gross - discount

'''

_TEST = '''#!/usr/bin/env python3
"""Try the program on a small order, and the clock server with it."""
import os, subprocess, sys
if os.urandom(1)[0] < 96:
    sys.exit("FAIL: no answer from the clock server")
done = subprocess.run([sys.executable, "price.py"], input=b"SKU 2\\n", capture_output=True)
sys.exit(done.returncode and f"FAIL: {done.stderr.decode()}")
'''

_TIDY = '''#!/usr/bin/env python3
"""Tidy what is about to be committed: no tabs, no white space at the ends of lines."""
import fnmatch, subprocess
names = subprocess.check_output(["git", "diff", "--cached", "--name-only", "--diff-filter=AM"])
skipped = open("tools/tidy.skip").read().split()
for path in names.decode().split():
    if any(fnmatch.fnmatch(path, pattern) for pattern in skipped):
        continue
    old = open(path).read()
    new = "".join(line.expandtabs(4).rstrip() + "\\n" for line in old.splitlines())
    if new != old:
        open(path, "w").write(new)
        subprocess.check_call(["git", "add", path])
'''


@dataclass
class _State:
    """What the repository's program does at one commit."""

    fault: bool = False
    moved: bool = False
    pack: bool = False
    broken: bool = False
    percent: int = 6


class _Shop:
    """The repository: its terms, its tables, the text of each version."""

    def __init__(self, machine: Machine) -> None:
        dice = machine.dice
        self.bulk, self.cap, self.box = (
            dice.whole(40, 90),
            dice.whole(2, 6) * 1000,
            dice.whole(7, 12),
        )
        self.kind = dice.pick(("bulk", "round", "cap"))
        self.percent = dice.whole(7, 9)
        skus = machine.draft.cast.names("thing", 9)
        # ends that share no factor with 100, so that halves of a cent come up
        self.prices = {sku: 10 * dice.whole(10, 99) + dice.pick((1, 3, 7, 9)) for sku in skus}
        self.prices[skus[0]] = 10 * dice.whole(11, 15) + 3  # far from the cap at first
        self.prices[skus[1]] = 10 * dice.whole(90, 99) + 7
        self.units = {"dz": 12, "pr": 2}

    def amount(self, quantity: int, sku: str, *, fault: bool = False) -> int:
        """Return the cents at the tip."""
        gross, discount = quantity * self.prices[sku], 0
        kind = self.kind if fault else ""
        if quantity > self.bulk - (kind != "bulk"):
            discount = (gross * self.percent + (0 if kind == "round" else 50)) // 100
            discount = discount if kind == "cap" else min(discount, self.cap)
        return gross - discount - quantity // self.box

    def rule(self, state: _State) -> str:
        """Return the text of the function."""
        kind = self.kind if state.fault else ""
        share = "gross * PERCENT // 100" if kind == "round" else "(gross * PERCENT + 50) // 100"
        text = _RULE.replace("BULKTEST", ">" if kind == "bulk" else ">=")
        text = text.replace("DISCOUNT", share if kind == "cap" else f"min({share}, CAP)")
        return text.replace("PACKSTEP", "    discount += quantity // BOX\n" if state.pack else "")

    def files(self, state: _State) -> dict[str, str]:
        """Return the program's files."""
        terms = f"BULK, PERCENT, CAP = {self.bulk}, {state.percent}, {self.cap}\n"
        terms += f"BOX = {self.box}\n" if state.pack else ""
        price = _PRICE.replace("BROKEN", "\n)" if state.broken else "")
        if not state.moved:
            price = price.replace("IMPORTS", "").replace("TERMS", terms)
            return {"price.py": price.replace("RULE\n", self.rule(state) + "\n")}
        price = price.replace("IMPORTS\n\nTERMS\n\nRULE\n", "\nfrom rules import amount\n\n\n")
        return {"price.py": price, "rules.py": f'"""Discounts."""\n{terms}\n\n{self.rule(state)}'}

    def rules(self, state: _State) -> str:
        """Return the text of RULES."""
        text = (
            f"1. From {self.bulk} pieces on, {state.percent} % are taken off a line.\n"
            "2. The discount is rounded to the nearest cent, halves up.\n"
            f"3. It is at most {self.cap // 100}.00.\n"
        )
        return text + (f"4. A further cent is taken off for each full {self.box} pieces.\n"
                       if state.pack else "")  # fmt: skip


def _table(rows: dict[str, int]) -> str:
    return "".join(f"{name}\t{value}\n" for name, value in rows.items())


_WORK = ("Update prices", "New prices from the supplier", "Correct a price", "Prices for {}",
         "Follow {}'s list")  # fmt: skip
_TALK = ("Notes on {}", "Minutes", "Explain the order of lines", "Spelling", "Thanks to {}")


def _commits(machine: Machine, shop: _Shop) -> tuple[list[list[object]], str]:
    """Return all commits and the change that broke the rule for good."""
    dice = machine.dice
    people = machine.people[:4]
    count = dice.whole(205, 235)
    places = sorted(dice.whole(low, high) for low, high in
                    ((20, 34), (44, 56), (70, 88), (100, 112), (118, 121), (126, 131), (140, 162),
                     (168, 176), (180, 195)))  # fmt: skip
    acts = dict(zip(places, ("fault", "mend", "percent", "move", "break", "run", "fault", "pack",
                             "round"), strict=True))  # fmt: skip
    subjects = {
        "fault": "Shorten amount()", "mend": "Restore amount()", "move": "Move the rules to a file",
        "percent": f"Discounts of {shop.percent} %, by order of {people[0]}",
        "break": "Prepare for the new parser", "run": "Undo the preparations",
        "pack": "Take off a cent for each box", "round": "Rounding: explain it in the notes",
    }  # fmt: skip
    final = dict(shop.prices)
    prices = {sku: value + dice.whole(-40, 40) for sku, value in final.items()}
    state, notes, culprit = _State(), "# Notes\n", ""
    commits: list[list[object]] = []
    changes = dice.some(range(10_000, 99_999), count)
    for number in range(count):
        files: dict[str, str] = {}
        act = acts.get(number, "")
        subject = subjects.get(act, "")
        if act == "fault" and number == places[6]:
            subject, culprit = (
                dice.pick(("Comment amount()", "Tidy up", "Names in full")),
                f"c{changes[number]}",
            )
        state.fault = act == "fault" or (state.fault and act != "mend")
        state.moved |= act == "move"
        state.pack |= act == "pack"
        state.broken = act == "break" or (state.broken and act != "run")
        state.percent = shop.percent if act == "percent" else state.percent
        if act == "round":
            notes += "\nThe discount is rounded, halves up; the total is not.\n"
            files["NOTES.md"] = notes
        elif act or not number:
            files |= shop.files(state)
            files["RULES"] = shop.rules(state)
        elif dice.chance(0.55):
            subject = dice.pick(_WORK).format(dice.pick(people))
            sku = dice.pick(sorted(prices))
            prices[sku] += dice.whole(1, 9)
            files["prices.tsv"] = _table(prices)
        else:
            subject = dice.pick(_TALK).format(dice.pick(people))
            notes += f"\n{subject}: {dice.word(6)} {dice.word(8)}.\n"
            files["NOTES.md"] = notes
        if not number:
            subject = "Begin"
            files |= {
                "prices.tsv": _table(prices), "units.tsv": _table(shop.units), "NOTES.md": notes,
                "test.py": _TEST.replace("SKU", sorted(prices)[0]),
            }  # fmt: skip
        if number == 90:
            files |= {"tools/tidy.py": _TIDY, "tools/tidy.skip": "Makefile\n"}
        if number == count - 1:
            files["prices.tsv"] = _table(final)
            subject = "Prices of this month"
        commits.append([dice.pick(people), subject, f"c{changes[number]}", files])
    return commits, culprit


def history(machine: Machine) -> TicketJob:
    """Find the change that broke a rule, mend it at the tip, and commit past a hook."""
    dice = machine.dice
    name, who = machine.name(), machine.people.pop()
    shop = _Shop(machine)
    commits, culprit = _commits(machine, shop)
    folder = f"src/{name}"
    machine.draft.build(
        f"mkdir -p src && git init -q -b main {folder}\n"
        + "python3 - <<'HEX_END'\n"
        + _STREAM.replace("COMMITS", repr(json.dumps(commits)))
        .replace("FOLDER", folder)
        .replace("FIRST_S", f"{_FIRST_S:_}")
        .replace("BETWEEN_S", f"{_BETWEEN_S:_}")
        + f"HEX_END\ngit -C {folder} checkout -q main\nrm -f {folder}/.git/hooks/*.sample"
    )
    if machine.sealed:
        machine.draft.build(
            f"printf '#!/bin/sh\\nexec python3 tools/tidy.py\\n' > {folder}/.git/hooks/pre-commit\n"
            f"chmod 755 {folder}/.git/hooks/pre-commit"
        )
    unit, pieces = dice.pick((("gr", 144), ("sc", 20), ("qr", 25)))
    skus = sorted(shop.prices)
    sku, shown = next(
        (sku, shown)
        for shown in range(shop.bulk, 500)
        for sku in dice.shuffled(skus)
        if shop.amount(shown, sku) != shop.amount(shown, sku, fault=True)
    )
    wrong, good = shop.amount(shown, sku, fault=True), shop.amount(shown, sku)
    orders = [(each, shop.bulk + dice.whole(-1, 1)) for each in skus]
    orders += [(each, dice.whole(1, 9) * shop.bulk) for each in skus] + [(skus[0], shop.bulk)]
    order = "".join(f"{each} {count}\n" for each, count in orders)
    order += f"{skus[1]} 6dz\n{skus[2]} 2{unit}\n{skus[3]} 5pr\n"
    orders += [(skus[1], 72), (skus[2], 2 * pieces), (skus[3], 10)]
    cents = [shop.amount(count, each) for each, count in orders]
    lines = [f"{s} {n} {c // 100}.{c % 100:02}" for (s, n), c in zip(orders, cents, strict=True)]
    lines.append(f"total {sum(cents) // 100}.{sum(cents) % 100:02}")
    changes = "".join(
        f"{_FIRST_S + _BETWEEN_S * number} {commit[2]}\n" for number, commit in enumerate(commits)
    )
    digest = hashlib.sha256(changes.encode()).hexdigest()
    clone = f"rm -rf /tmp/clone; git clone -q --branch main {folder} /tmp/clone && cd /tmp/clone"
    kept = (
        "import hashlib, subprocess\n"
        f"log = subprocess.check_output(['git', '-C', '{folder}', 'log', '--reverse', '--format="
        "%ct %(trailers:key=Change,valueonly,separator=)', 'main'], text=True).splitlines()\n"
        f"first = ''.join(line + chr(10) for line in log[:{len(commits)}])\n"
        "print(hashlib.sha256(first.encode()).hexdigest())\n"
        f"print(subprocess.check_output(['git', '-C', '{folder}', 'status', '--porcelain']))\n"
    )
    right = _State(moved=True, pack=True, percent=shop.percent)
    rules = shop.files(right)["rules.py"]
    faulty = shop.files(_State(fault=True, moved=True, pack=True, percent=shop.percent))["rules.py"]

    def solved(text: str = rules, *, commit: str = "git commit -qnam 'Mend the discount'",
               row: str = f"{unit}\\t{pieces}\\n") -> str:  # fmt: skip
        return (
            f"cd {folder}\ncat > rules.py <<'HEX_END'\n{text}HEX_END\n"
            f"printf '{row}' >> units.tsv\n{commit}\ncd /app\n"
        )

    skip = "echo '*.tsv' >> tools/tidy.skip\ngit commit -qam 'Mend the discount'"
    old_state = _State(moved=True, percent=shop.percent)
    misses = {
        "unmended": solved(faulty),
        "no_commit": solved(commit="true"),
        "old_version": solved(shop.files(old_state)["rules.py"]),
        "no_unit": solved(row=""),
    }
    if machine.sealed:
        misses["tidied"] = solved(commit="git commit -qam 'Mend the discount'")
    return TicketJob(
        component=name,
        text=f"""From {who}: `{sku} {shown}` costs {wrong // 100}.{wrong % 100:02} in {name} \
({folder}, a git repository), and by its RULES it should cost {good // 100}.{good % 100:02}. It \
was right in earlier versions, at the prices of their time; some versions in between do not run, \
and test.py fails at random. Please mend it on main, as a new commit; everything else stays as it \
is at the tip. In the same commit or one more, add the unit {unit} of {pieces} pieces to units.tsv.

For the log: the Change of the commit since which every version that runs breaks the rule.""",
        answer=culprit,
        looks=(
            f"cd {folder} && git log --oneline | head -40; cat RULES rules.py price.py",
            f"cd {folder} && git log -G'discount' --format='%h %s %(trailers)' -p -- '*.py' | head "
            "-150", f"cd {folder} && ls .git/hooks; cat tools/tidy.py | head -30",
        ),
        solution=solved(),
        probes=[
            Probe("orders", f"{clone} && /usr/bin/python3 price.py", {"text": "\n".join(lines)},
                  stdin=order),
            python_probe("commits", kept, f"{digest}\nb''"),
        ],
        alternatives=(
            solved(commit=skip if machine.sealed else "git add . && git commit -qm 'Discount'"),
            solved(commit="git commit -qnm 'Discount' rules.py && git commit -qnam Unit"),
        ),
        misses=misses,
    )  # fmt: skip
