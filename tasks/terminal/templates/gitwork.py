"""Git repositories: a regression to find, lost commits, conflicts, secrets in history."""

from collections.abc import Mapping

from hexathlon.tasks.terminal.draft import TerminalDraft, put, template

Tree = Mapping[str, str | None]
_DAY = 1_764_547_200


class History:
    """Commits as a stream for `git fast-import`, with fixed authors and dates."""

    def __init__(self, author: str) -> None:
        self.author, self.count, self._parts = author, 0, list[str]()

    def commit(self, message: str, changes: Tree, branch: str = "main", start: int = 0) -> int:
        """Add a commit to a branch; commit number `start`, if given, is its first parent."""
        self.count += 1
        when = f"{self.author} <{self.author}@example.org> {_DAY + 3_600 * self.count} +0000"
        head = f"commit refs/heads/{branch}\nmark :{self.count}\nauthor {when}\ncommitter {when}\n"
        body = self._data(message) + (f"from :{start}\n" if start else "")
        for path, text in changes.items():
            if text is None:
                body += f"D {path}\n"
            else:
                mode = "100755" if text.startswith("#!") else "100644"
                body += f"M {mode} inline {path}\n{self._data(text)}"
        self._parts.append(head + body + "\n")
        return self.count

    def script(self, folder: str = "repo") -> str:
        """Return the shell script that creates the repository and checks out `main`."""
        stream = "".join(self._parts)
        return (
            f"git -c init.defaultBranch=main init -q {folder}\ncd {folder}\n"
            f"git config user.name {self.author}\ngit config user.email {self.author}@example.org\n"
            "git config gc.auto 0\n"
            f"git fast-import --quiet <<'HEX_STREAM'\n{stream}HEX_STREAM\n"
            "git checkout -q -f main\nrm -f .git/hooks/*.sample\ncd ..\n"
        )

    @staticmethod
    def _data(text: str) -> str:
        return f"data {len(text.encode())}\n{text}\n"


_QUOTE = """#!/usr/bin/env python3
import sys
{imports}
for line in sys.stdin:
    kind, amount = line.split()
    amount = int(amount)
    total = amount * {unit}
    for rule in ({rules}):
        total = rule(kind, amount, total)
    print(total)
"""


def _rule(name: str, kind: str, sign: str, bound: int, change: str, note: str = "") -> str:
    return (
        f"# {name}: for {kind} only\n{note}\n\ndef {name}(kind, amount, total):\n"
        f"    if kind == {kind!r} and amount {sign} {bound}:\n        return total {change}\n"
        "    return total\n"
    )


@template("git_regression", ("easy", "medium"), needs=("git",))
def git_regression(draft: TerminalDraft) -> None:
    """Find the commit that broke a rule under a harmless message, and fix it at the tip."""
    dice = draft.dice
    rules = draft.cast.names("key", 2 + draft.scale)
    kinds = draft.cast.names("thing", len(rules))
    unit = dice.whole(3, 9)
    bounds = {rule: dice.whole(10, 60) for rule in rules}
    changes = {rule: f"{dice.pick('+-')} {dice.whole(2, 30)}" for rule in rules}
    signs = dict.fromkeys(rules, ">=")
    notes = dict.fromkeys(rules, "")
    kind_of = dict(zip(rules, kinds, strict=True))
    bad = dice.pick(rules)

    def text(rule: str) -> str:
        return _rule(rule, kind_of[rule], signs[rule], bounds[rule], changes[rule], notes[rule])

    history = History(draft.cast.name("person"))
    main = _QUOTE.format(
        unit=unit,
        rules=", ".join(rules) + ",",
        imports="\n".join(f"from rules.{r} import {r}" for r in rules),
    )
    table = "A rule applies from its bound on, the bound itself included.\n"
    history.commit(
        "First version",
        {"quote.py": main, "README.md": table, **{f"rules/{r}.py": text(r) for r in rules}},
    )
    length = 8 * draft.scale + dice.whole(0, 6)
    broken_at = dice.whole(length // 3, length - 4)
    subjects = ["First version"]
    culprit = ""
    for number in range(1, length):
        rule = dice.pick(rules)
        if number == broken_at:
            rule, signs[bad] = bad, ">"
            notes[bad] = f"# reviewed {number}"
            subject = culprit = f"Layout of {bad} ({number})"
        elif dice.chance(0.5):
            bounds[rule] += dice.pick((-3, -2, -1, 1, 2, 3))
            subject = f"New bound for {rule} ({number})"
        elif dice.chance(0.5):
            changes[rule] = f"{dice.pick('+-')} {dice.whole(2, 30)}"
            subject = f"New change for {rule} ({number})"
        else:
            notes[rule] = f"# reviewed {number}"
            subject = f"Layout of {rule} ({number})"
        history.commit(subject, {f"rules/{rule}.py": text(rule), "CHANGES": f"{number}\n"})
        subjects.append(subject)
    draft.build(history.script())
    draft.say(
        "repo/ holds a program that prices orders: `python3 quote.py` reads lines `KIND AMOUNT` "
        f"and prints totals. Since some commit, orders of kind {kind_of[bad]} are priced wrongly "
        "when the amount equals the bound of the rule. Write the full hash of the commit that "
        "broke this, and nothing else, to /app/culprit. Then mend the program in a new commit on "
        "main: what all other commits changed stays, and the history is not rewritten."
    )
    orders, totals = [], []
    for _ in range(60):
        rule = dice.pick(rules)
        kind, amount = kind_of[rule], bounds[rule] + dice.pick((-1, 0, 0, 1))
        total = amount * unit
        if amount >= bounds[rule]:
            sign, step = changes[rule].split()
            total += int(step) if sign == "+" else -int(step)
        orders.append(f"{kind} {amount}\n")
        totals.append(f"{total}\n")
    git = "git --no-replace-objects -C repo -c core.fsmonitor=false -c core.hooksPath=/dev/null"
    draft.probe(
        "culprit",
        f"tr -d ' \\n' < culprit | grep -xE '[0-9a-f]{{40}}' | xargs {git} log -1 --format=%s",
        text=culprit,
    )
    draft.probe(
        "priced",
        f"{git} archive main | tar -x -C /tmp && cd /tmp && python3 quote.py",
        stdin="".join(orders),
        text="".join(totals),
    )
    draft.probe("history", f"{git} log --reverse --format=%s main | head -{length}", lines=subjects)
    draft.probe("committed", f"{git} log --oneline main | wc -l | xargs test {length} -lt", exit=0)
    probe = f"{kind_of[bad]} %d"
    find = (
        f"cd repo\nexport PYTHONDONTWRITEBYTECODE=1\ngood=$(git rev-list "
        f"--max-parents=0 main)\ngit bisect start main $good >/dev/null\n"
        f'git bisect run sh -c \'bound=$(sed -nE "s/.*amount >=? ([0-9]+).*/\\1/p" '
        f'rules/{bad}.py); printf "{probe}\\n" $bound | python3 quote.py > /tmp/now; '
        f'printf "{probe}\\n" $((bound + 1)) | python3 quote.py > /tmp/next; '
        f"test $(cat /tmp/next) = $(($(cat /tmp/now) + {unit}))' >/dev/null\n"
        "git rev-parse refs/bisect/bad > /app/culprit\ngit bisect reset >/dev/null 2>&1\ncd /app\n"
    )
    mend = (
        f"cd repo\nsed -i 's/amount > /amount >= /' rules/{bad}.py\n"
        "git commit -qam 'Bounds belong to their rules'\ncd /app\n"
    )
    draft.part("culprit", find, "git -C repo rev-parse main > culprit")
    draft.part("mend", mend)
    draft.mutant(
        "reverted_all",
        find + "cd repo\ngit checkout -q $(cat /app/culprit)~1 -- rules\ngit commit -qm 'Back'\n",
    )
    draft.mutant("not_committed", find + mend.replace("git commit", ": git commit"))
    draft.alternative(
        "pickaxe",
        f"cd repo\ngit log --format=%H -G'amount > ' -- rules/{bad}.py | tail -1 > /app/culprit\n"
        f"python3 - <<'END'\nfrom pathlib import Path\npath = Path('rules/{bad}.py')\n"
        "path.write_text(path.read_text().replace('amount >', 'not amount <').replace('<', '<', 1))"
        "\nEND\ngit add -A\ngit commit -qm 'Mended'\n",
    )


@template("git_lost", ("tiny", "easy", "medium"), needs=("git",))
def git_lost(draft: TerminalDraft) -> None:
    """Restore commits lost in a reset onto a branch that has advanced since."""
    dice = draft.dice
    author = draft.cast.name("person")
    names = draft.cast.names("thing", 5)
    lost = 3 + draft.scale
    history = History(author)
    base = {f"{name}.txt": f"{name} {dice.hexa(8)}\n" for name in names}
    history.commit("Start", {"list.txt": "".join(f"{n}\n" for n in names), **base})
    contents = dict(base)
    dropped = names[dice.whole(1, 2)]
    subjects = ["Start", f"New value of {names[0]}"]
    for number in range(lost):
        name = names[number % 5]
        path, text = f"plan_{name}.txt", f"plan {number} {dice.hexa(24)}\n"
        history.commit(f"Plan {number} for {name}", {path: text})
        if name != dropped:
            contents[path] = text
            subjects.append(f"Plan {number} for {name}")
    later = f"{names[0]} {dice.hexa(10)}\n"
    contents[f"{names[0]}.txt"] = later
    first, stale = f"plan_{names[0]}.txt", f"plan {dice.hexa(24)}"
    draft.build(
        history.script() + f"cd repo\necho '{stale}' > {first}.draft\ngit add -A\ngit stash -q\n"
        f"git reset -q --hard HEAD~{lost}\necho '{later[:-1]}' > {names[0]}.txt\n"
        "GIT_COMMITTER_DATE=2026-01-05T10:00:00Z GIT_AUTHOR_DATE=2026-01-05T10:00:00Z "
        f"git commit -qam 'New value of {names[0]}'\ncd ..\n"
    )
    draft.say(
        f"In repo/, {author} has committed {lost} plans (files plan_*.txt) and then lost them by "
        "a careless reset; main has gone on with another commit since. Bring the lost commits "
        "back to main with their messages and contents, on top of what is there now and in their "
        f"old order, but leave out those on {dropped}, which is given up. Leave the working tree "
        "clean and nothing else changed."
    )
    git = "git --no-replace-objects -C repo -c core.fsmonitor=false -c core.hooksPath=/dev/null"
    draft.probe("subjects", f"{git} log --reverse --format=%s main", text="\n".join(subjects))
    shown = "".join(f"{path}={contents[path]}" for path in sorted(contents))
    draft.probe(
        "contents",
        f"{git} archive main | tar -x -C /tmp && cd /tmp && "
        "for f in $(ls *.txt | grep -vx list.txt | LC_ALL=C sort); do "
        "printf '%s=' $f; cat $f; done",
        text=shown,
    )
    draft.probe(
        "clean", f"{git} status --porcelain && {git} symbolic-ref --short HEAD", text="main\n"
    )
    find = "cd repo\nold=$(git log -g --format=%H main | sed -n 3p)\n"
    wanted = (
        f"$(git log --reverse --format='%H %s' $old~{lost}..$old "
        f"| grep -v 'for {dropped}$' | cut -c1-40)"
    )
    draft.part("pick", find + f"git cherry-pick {wanted} >/dev/null\n")
    draft.mutant("all_of_them", find + f"git cherry-pick $old~{lost}..$old >/dev/null\n")
    draft.mutant("last_only", find + "git cherry-pick $old >/dev/null\n")
    draft.mutant("moved_back", find + "git reset -q --hard $old\n")
    draft.mutant(
        "from_stash", f"cd repo\ngit stash pop -q\ngit add -A\ngit commit -qm '{subjects[2]}'\n"
    )
    draft.alternative(
        "rebase",
        find + f"git checkout -q -b found $old\nGIT_SEQUENCE_EDITOR=\"sed -i '/for {dropped}$/d'\" "
        "git rebase -q -i main >/dev/null 2>&1\ngit checkout -q main\n"
        "git merge -q --ff-only found\ngit branch -q -d found\n",
    )


@template("git_conflict", ("easy", "medium"), needs=("git",))
def git_conflict(draft: TerminalDraft) -> None:
    """Merge two branches that changed the same program differently; keep both changes."""
    dice = draft.dice
    old, new = draft.cast.names("key", 2)
    factor, extra, floor = dice.whole(2, 9), dice.whole(3, 40), dice.whole(2, 9)
    edge = floor * dice.whole(3, 9)
    limit = factor * edge

    def program(name: str, *, feature: bool, capped: bool) -> str:
        body = f"    {name} = int(word) * {factor}\n"
        if feature:
            body += f"    if {name} % {floor} == 0:\n        {name} += {extra}\n"
        if capped:
            body += f"    if {name} > {limit}:\n        {name} = {limit}\n"
        return f"import sys\n\nfor word in sys.stdin.read().split():\n{body}    print({name})\n"

    history = History(draft.cast.name("person"))
    first = history.commit(
        "Start", {"run.py": program(old, feature=False, capped=False), "notes.md": f"uses {old}\n"}
    )
    history.commit(
        f"Call it {new}, cap it at {limit}",
        {"run.py": program(new, feature=False, capped=True), "notes.md": f"uses {new}\n"},
    )
    history.commit(
        f"Bonus of {extra}", {"run.py": program(old, feature=True, capped=False)}, "bonus", first
    )
    history.commit(
        "Notes on the bonus", {"bonus.md": f"multiples of {floor}, before any cap\n"}, "bonus"
    )
    if draft.scale > 2:
        history.commit(
            "Experiment",
            {
                "run.py": program(old, feature=False, capped=False).replace(
                    "print", "print(0) or print"
                )
            },
            "try",
            first,
        )
    draft.build(history.script())
    draft.say(
        "Merge the branch bonus into main in repo/, as a true merge commit whose parents are the "
        "tips of both. The merged run.py must do what either branch added; notes of both stay. "
        f"On main, `{old}` has been renamed to `{new}`: that is its name everywhere, and `{old}` "
        f"must no longer occur in run.py."
    )
    numbers = [edge, *(dice.whole(1, 2 * edge) for _ in range(40))]
    expected = []
    for number in numbers:
        value = number * factor
        value += extra if value % floor == 0 else 0
        expected.append(str(min(value, limit)))
    git = "git --no-replace-objects -C repo -c core.fsmonitor=false -c core.hooksPath=/dev/null"
    draft.probe(
        "runs",
        f"{git} show main:run.py > /tmp/run.py && python3 /tmp/run.py",
        stdin=" ".join(map(str, numbers)),
        text="\n".join(expected),
    )
    draft.probe(
        "parents",
        f"{git} log -1 --format=%P main | xargs -n1 {git} log -1 --format=%s",
        lines=[f"Call it {new}, cap it at {limit}", "Notes on the bonus"],
    )
    draft.probe(
        "names", f"{git} show main:run.py | grep -cw -e {old} -e '<<<<<<<'", exit=1, text="0"
    )
    draft.probe(
        "notes",
        f"{git} show main:notes.md main:bonus.md",
        text=f"uses {new}\nmultiples of {floor}, before any cap\n",
    )
    start = "cd repo\ngit merge -q bonus >/dev/null 2>&1 || true\n"
    end = "git add -A\ngit commit -qm 'Merge bonus'\n"
    draft.part("merge", start + put("run.py", program(new, feature=True, capped=True)) + end)
    draft.mutant("ours", "cd repo\ngit merge -q -X ours bonus >/dev/null\n")
    draft.mutant("theirs", "cd repo\ngit merge -q -X theirs bonus >/dev/null\n")
    draft.mutant(
        "squashed",
        "cd repo\ngit merge -q --squash bonus >/dev/null 2>&1 || true\n"
        + put("run.py", program(new, feature=True, capped=True))
        + end,
    )
    swapped = program(new, feature=True, capped=True).split("    if ")
    swapped_text = (
        swapped[0] + "    if " + swapped[2].split("    print")[0] + "    if " + swapped[1]
    )
    draft.mutant("other_order", start + put("run.py", swapped_text + f"    print({new})\n") + end)
    draft.alternative(
        "by_hand",
        start + "git checkout -q --theirs run.py\n"
        f"sed -i 's/\\b{old}\\b/{new}/g; s/^    print(.*)/    print(min({new}, {limit}))/' run.py\n"
        + end,
    )


@template("git_secret", ("easy", "medium"), needs=("git",))
def git_secret(draft: TerminalDraft) -> None:
    """Remove a secret from every commit and every object, and keep everything else."""
    dice = draft.dice
    secret = f"{dice.word(3).upper()}-{dice.hexa(20)}"
    names = draft.cast.names("service", 4)
    key = draft.cast.name("key")
    history = History(draft.cast.name("person"))
    length = 5 + 2 * draft.scale
    subjects, contents = [], dict[str, str]()
    given = dice.whole(1, length - 3)
    for number in range(length):
        name = dice.pick(names)
        contents[f"{name}.conf"] = f"{key} = {dice.hexa(6)}\nname = {name}\n"
        if number == given:
            contents["deploy.sh"] = f"#!/bin/sh\nTOKEN={secret}\nexec run --{key}\n"
        if number == given + 1:
            contents["deploy.sh"] = f"#!/bin/sh\nTOKEN={secret}\nexec run --{key} --{number}\n"
        subjects.append(f"Change {number}: {name}")
        history.commit(subjects[-1], dict(contents))
    contents["deploy.sh"] = f"#!/bin/sh\nTOKEN=$(cat token)\nexec run --{key}\n"
    subjects.append("Read the token from a file")
    tip = history.commit(subjects[-1], dict(contents))
    history.commit("Old try", {"try.sh": f"echo {secret}\n"}, "try", max(tip - 2, 1))
    draft.build(history.script() + "cd repo\ngit tag v1 main~2\ncd ..\n")
    draft.say(
        f"In repo/, a token that starts with {secret[:4]} was committed. Rewrite the history so "
        "that wherever the token stands in a file of any commit, on any branch or tag, the word "
        "REMOVED stands instead, and so that no object of the repository holds it any more, "
        "reachable or not. Branches, the tag v1, messages, authors, dates and all other content "
        "stay; the working tree is clean on main."
    )
    git = "git --no-replace-objects -C repo -c core.fsmonitor=false -c core.hooksPath=/dev/null"
    objects = (
        f"{git} cat-file --batch-all-objects --batch-check='%(objectname) %(objecttype)' "
        f"| while read -r id kind; do {git} cat-file $kind $id; done"
    )
    draft.probe(
        "no_object",
        f"({objects}; cat repo/.git/packed-refs) 2>/dev/null | grep -ac '{secret}'",
        exit=1,
        text="0",
    )
    draft.probe(
        "messages",
        f"{git} log --reverse --format='%s %at' main",
        text="".join(f"{subject} {_DAY + 3_600 * (n + 1)}\n" for n, subject in enumerate(subjects)),
    )
    draft.probe(
        "marked",
        f"{git} show v1:deploy.sh; {git} show try:try.sh | head -1; {git} log --format=%s -1 v1",
        text=_at(subjects, given, length, key) + f"echo REMOVED\n{subjects[-3]}\n",
    )
    draft.probe(
        "tip",
        f"{git} show main:deploy.sh && {git} status --porcelain && {git} symbolic-ref --short HEAD",
        text=contents["deploy.sh"] + "main\n",
    )
    stream = "git fast-export --signed-tags=strip --all"
    rewrite = (
        "cd repo\ngit stash clear\n" + stream + " > /tmp/stream\n"
        f"python3 - <<'END'\nimport re\ndata = open('/tmp/stream', 'rb').read()\n"
        f"old, new, out, at = b'{secret}', b'REMOVED', [], 0\n"
        "for m in re.finditer(rb'^data (\\d+)\\n', data, re.M):\n"
        "    if m.start() < at: continue\n"
        "    body = data[m.end():m.end() + int(m[1])].replace(old, new)\n"
        "    out += [data[at:m.start()], b'data %d\\n' % len(body), body]\n"
        "    at = m.end() + int(m[1])\n"
        "open('/tmp/stream', 'wb').write(b''.join(out) + data[at:])\nEND\n"
        "git fast-import --quiet --force < /tmp/stream\ngit reset -q --hard main\n"
    )
    prune = "git reflog expire --expire=now --all\ngit gc -q --prune=now\n"
    draft.part("rewrite", rewrite, "cd repo\n")
    draft.part("prune", prune)
    draft.mutant("tip_only", "cd repo\ngit branch -q -D try\ngit tag -d v1 >/dev/null\n" + prune)
    draft.mutant("main_only", rewrite.replace("--all >", "main >") + prune)
    draft.mutant(
        "orphan",
        "cd repo\ngit checkout -q --orphan new\ngit commit -qm 'Start'\n"
        "git branch -q -D try main\ngit tag -d v1 >/dev/null\ngit branch -m main\n" + prune,
    )
    draft.alternative(
        "filter_branch",
        "cd repo\nexport FILTER_BRANCH_SQUELCH_WARNING=1\n"
        "git filter-branch --tag-name-filter cat --tree-filter "
        f"'sed -i s/{secret}/REMOVED/ *.sh 2>/dev/null || true' -- --all >/dev/null 2>&1\n"
        "git for-each-ref --format='%(refname)' refs/original | xargs -n1 git update-ref -d\n"
        + prune,
    )


def _at(subjects: list[str], given: int, length: int, key: str) -> str:
    """Return the content of deploy.sh at the tag, two commits before the tip."""
    place = len(subjects) - 3
    if place == given:
        return f"#!/bin/sh\nTOKEN=REMOVED\nexec run --{key}\n"
    return f"#!/bin/sh\nTOKEN=REMOVED\nexec run --{key} --{given + 1}\n"
