"""Composition of a day: tickets in order, the report's probes, solutions and near misses."""

from collections.abc import Sequence
from dataclasses import replace

from hexathlon.tasks.terminal.draft import Probe, TerminalDraft, Ticket
from hexathlon.tasks.terminal.templates.shifts.job import Machine, TicketMaker, python_probe
from hexathlon.tasks.terminal.templates.shifts.tools import add_tools

__all__ = ["compose_day"]

_ROOM = 1.6
"""Actions of a day, relative to the oracle's."""


def compose_day(draft: TerminalDraft, makers: Sequence[TicketMaker]) -> None:
    """Fill in a draft with a day of tickets, in this order."""
    _Day(draft, makers).write()


class _Day:
    def __init__(self, draft: TerminalDraft, makers: Sequence[TicketMaker]) -> None:
        self.draft, self.machine = draft, Machine(draft)
        machine, dice = self.machine, draft.dice
        self.project = dice.word(3).upper()
        first = dice.whole(1000, 8000)
        self.numbers: list[str] = []
        for _ in makers:
            first += dice.whole(1, 60)
            self.numbers.append(f"{self.project}-{first}")
        self.others = [f"{self.project}-{dice.whole(100, 899)}" for _ in range(3)]
        add_tools(machine)
        self.jobs = [maker(machine) for maker in makers]

    def write(self) -> None:
        """Write the machine, the tickets and the solutions."""
        machine, draft = self.machine, self.draft
        book = machine.book
        past = [book.line(number, "platform", "-") for number in self.others[:2]]
        machine.file(book.log, "".join(f"{line}\n" for line in past))
        site = "".join(f"{key}={value}\n" for key, value in machine.site.items())
        machine.file("etc/site.env", "# values of this site\n" + site)
        table = "".join(f"*/10 * * * * cd /app && {path}\n" for path in machine.jobs)
        machine.file("etc/crontab", "# the platform team's; see HANDBOOK.md\n" + table)
        machine.file("HANDBOOK.md", book.text(machine.jobs))
        self.actions = round(_ROOM * sum(len(job.looks) + 2 for job in self.jobs))
        for number in range(len(self.jobs)):
            draft.tickets.append(self._ticket(number))
        draft.turns = self.actions
        draft.instruction = draft.tickets[0].instruction
        right = [ticket.solution for ticket in draft.tickets]
        for place, letter in enumerate("ab"):
            scripts = [
                self._script(n, job.alternatives[place]) if len(job.alternatives) > place else old
                for n, (job, old) in enumerate(zip(self.jobs, right, strict=True))
            ]
            if scripts != right:
                draft.day_alternatives[letter] = scripts
        for number, job in enumerate(self.jobs):
            for name, script in job.misses.items():
                self._miss(f"{job.component}_{name}", number, self._script(number, script))
        self._rule_misses(right)

    # -- tickets ---------------------------------------------------------------------------

    def _ticket(self, number: int) -> Ticket:
        job = self.jobs[number]
        head = f"Ticket {self.numbers[number]} - component {job.component}"
        told = "" if number else _INTRODUCTION.format(tickets=len(self.jobs), actions=self.actions)
        return Ticket(
            name=f"t{number + 1}",
            instruction=f"{told}{head}\n\n{job.text.strip()}",
            probes=tuple(self._probes(number)),
            looks=tuple(job.looks),
            solution=self._script(number, job.solution),
            before=self._before(number),
        )

    def _before(self, number: int) -> str:
        if not number:
            return ""
        job, prelude = self.jobs[number], self.machine.book.prelude().replace("set -e\n", "")
        timed = "".join(f"timeout 10 {path}\n" for path in self.machine.jobs)
        line = self._others_line(number)
        added = f"printf '%s\\n' '{line}' >> {self.machine.book.log}\n" if line else ""
        return prelude + timed + added + job.before

    def _others_line(self, number: int) -> str:
        """Return the line that the platform team adds to the log before the third ticket."""
        return self.machine.book.line(self.others[2], "platform", "-") if number == 2 else ""

    def _probes(self, number: int) -> list[Probe]:
        """Return all probes of a report: the timed jobs, the rules, every ticket so far."""
        own, machine = f"t{number + 1}", self.machine
        timed = "; ".join(f"timeout 10 {path} >/dev/null" for path in machine.jobs)
        book = machine.book
        probes = [Probe(f"{own}/jobs", f"{timed}; true", {"text": ""})]
        test = book.test(self.draft.files, self.draft.modes, machine.written)
        probes.append(python_probe(f"{own}/rules", test, "end"))
        mine = "|".join(self.numbers[: number + 1])
        lines = [book.line(name, "platform", "-") for name in self.others[:2]]
        lines += [self._others_line(2)] if number >= 2 else []
        others = f"grep -vE '{mine}' {book.log}"
        probes.append(Probe(f"{own}/log_of_others", others, {"text": "\n".join(lines)}))
        gone = {name for job in self.jobs[: number + 1] for name in job.replaces}
        for place, job in enumerate(self.jobs[: number + 1]):
            line = book.line(self.numbers[place], job.component, job.answer)
            find = f"grep -F '{self.numbers[place]}' {book.log}"
            probes.append(Probe(f"t{place + 1}/log", find, {"text": line}))
            for probe in job.probes:
                if f"{job.component}/{probe.id}" in gone:
                    continue
                if place == number or probe.id not in job.once:
                    probes.append(replace(probe, id=f"t{place + 1}/{probe.id}"))
        return probes

    # -- solutions -------------------------------------------------------------------------

    def _script(self, number: int, body: str, *, log: bool = True) -> str:
        job, book = self.jobs[number], self.machine.book
        line = book.line(self.numbers[number], job.component, job.answer)
        logged = f"printf '%s\\n' '{line}' >> {book.log}\n" if log else ""
        return f"{book.prelude()}{body.strip()}\n{logged}"

    def _miss(self, name: str, number: int, script: str) -> None:
        scripts = [ticket.solution for ticket in self.draft.tickets]
        if scripts[number] == script:
            raise ValueError(f"{self.draft.template}: the near miss {name} changes nothing")
        scripts[number] = script
        self.draft.day_mutants[name] = scripts
        self.draft.due[name] = f"t{number + 1}"

    def _rule_misses(self, right: list[str]) -> None:
        """Add one near miss for each rule of the handbook."""
        book, jobs = self.machine.book, self.jobs
        kept = next(n for n, job in enumerate(jobs) if "keep etc/" in job.solution)
        bare = right[kept].replace("keep etc/", ": etc/").replace("keep srv/", ": srv/")
        self._miss("rule_original", kept, bare)
        last = len(jobs) - 1
        for name, number, extra in (
            ("etc_mode", kept, "chmod 644 etc/site.env"),
            ("program_mode", last, "chmod 755 bin/*"),
            ("sealed", kept, "echo '# done' >> etc/crontab"),
            ("left", last, f"install -m {book.etc_mode:o} HANDBOOK.md etc/notes.bak"),
            ("others", last, f"sed -i '1d' {book.log}"),
        ):
            self._miss(f"rule_{name}", number, right[number] + extra + "\n")
        self._miss("rule_log", last, self._script(last, jobs[last].solution, log=False))
        line = book.line(self.numbers[last], jobs[last].component, jobs[last].answer)
        self._miss("rule_form", last, right[last].replace(line, f"{line} done"))


_INTRODUCTION = """\
You are on call today. The machine is in /app; HANDBOOK.md there holds the rules \
of the house. Tickets arrive one after the other: report each with submit, and the next one \
arrives. The machine lives on in between, timed jobs run, and other people work on it, too. At \
every report, everything that the tickets so far and the handbook ask for has to hold. There are \
{tickets} tickets, and {actions} actions for all of them together.

"""
