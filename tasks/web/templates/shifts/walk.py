"""The course of a shift: every request in turn, with the rules that are in force then."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hexathlon.tasks.source import Script
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import ExpectedAnswer, Solver, WebDraft, together
from hexathlon.tasks.web.templates.mailbox import Mailbox
from hexathlon.tasks.web.templates.shifts.post import Post
from hexathlon.tasks.web.templates.shifts.records import (
    JobTarget,
    RecordJob,
    ShiftBench,
    in_order,
    listed,
)
from hexathlon.tasks.web.templates.shifts.replay import replayed
from hexathlon.tasks.web.templates.shifts.rules import DayRules, Hold, Mandate, log_subject
from hexathlon.tasks.web.templates.shifts.stages import (
    ShiftLetter,
    ShiftStage,
    StageWork,
    Writing,
    outcome_of,
    play_stages,
    read_pages,
    shift_cost,
)
from hexathlon.tasks.web.world.network import Edit, WorldPlan
from hexathlon.tasks.web.world.people import Person

__all__ = ["ShiftPlan", "Walk"]

_SLACK = 2.3
"""Turns per action of the oracle, which knows where everything is."""

_REFUSED = "ACTION_NOT_ALLOWED_ERROR"


@dataclass
class ShiftPlan:
    """What was drawn for a shift before its requests are written."""

    changes: dict[str, RecordJob]
    """By letter; `A` and `B` may have follow-ups, `C` is closed in the morning."""

    forbidden: RecordJob
    """Closed later."""

    instead: RecordJob
    """What was meant instead of `A`, if that is withdrawn as mistaken."""

    post: Post
    arrivals: Mapping[int, int]
    """Which mail arrives before the request at a place."""

    order: list[str]
    rules: DayRules
    mandates: tuple[Mandate, ...]
    """Mandates after they changed."""

    late: Mapping[int, Mapping[str, Any]]
    """Changes of the rules, by the place of the request before which they are made."""

    reader: Person
    """Who gets an account of the day."""

    keepers: Mapping[str, Person]
    """Who enters holds, by site."""


@dataclass
class Walk:
    """Writes the requests of a plan one after the other."""

    bench: ShiftBench
    plan: ShiftPlan

    def __post_init__(self) -> None:
        self.scene = self.bench.scene
        self.rules, self.former = self.plan.rules, self.plan.rules
        self.stages: list[ShiftStage] = []
        self.changed: dict[str, tuple[int, list[JobTarget]]] = {}
        self.now: dict[tuple[str, str, str], Writing] = {}
        self.mailed: list[Writing] = []
        self.counts: list[tuple[int, int]] = []
        self.by_mail = 0

    def draft(self, story: str) -> WebDraft | None:
        """Return the shift, or None if a request has nothing to do."""
        for place, token in enumerate(self.plan.order):
            edits = self._change_rules(place)
            mail = None
            if place in self.plan.arrivals:
                mail = self.plan.post.requests[self.plan.arrivals[place]]
                edits.append(mail.arrival)
            entitled = mail is not None and self.rules.entitles(mail.sender.email, mail.job.site)
            asked = (
                [] if mail is None else [(mail.job, each, each.after) for each in mail.job.targets]
            )
            self.mailed = asked if entitled else []
            stage = self._stage(place, token)
            if stage is None:
                return None
            if mail is not None:
                self._add_mail(stage, place + 1, mail.message, asked, entitled=entitled)
            self._carry_out(place + 1, stage.right)
            self.by_mail += entitled
            stage.edits = tuple(edits)
            self.stages.append(stage)
        return self._whole(story)

    def _add_mail(
        self, stage: ShiftStage, number: int, message: int, asked: list[Writing], *, entitled: bool
    ) -> None:
        """Let a request begin with a look into the inbox, and add what may go wrong with a mail."""
        right, look = stage.right, stage.look

        def whole(pilot: Any) -> Any:
            yield from look(pilot)
            yield from pilot.goto("mail", f"/threads/{message}")

        stage.look, stage.looks = whole, stage.looks + 1
        rest = [each for each in right.writings if each not in asked]
        wrong = rest if entitled else [*asked, *rest]
        name = "mail_left_out" if entitled else "without_mandate"
        stage.wrong[name] = replace(
            right, writings=tuple(wrong), letters=self._log(number, len(wrong))
        )

    # Rules -------------------------------------------------------------------------------------

    def _change_rules(self, place: int) -> list[Edit]:
        changes = self.plan.late.get(place, {})
        before = rules = self.rules
        if "days" in changes:
            rules = replace(rules, days=changes["days"])
        if "closed" in changes:
            job = self.plan.forbidden
            rules = replace(rules, closed=job.group, closed_site=job.site)
        if "auditor" in changes:
            rules = replace(rules, auditor=changes["auditor"])
        if "mandates" in changes:
            rules = replace(rules, mandates=self.plan.mandates)
        if "hold" in changes:
            job = self.plan.changes[changes["hold"]]
            target = self.scene.pick(self.changed[changes["hold"]][1])
            person = self.plan.keepers[job.site]
            rules = rules.with_hold(Hold(job.site, job.noun, target.label, rules.today, person))
        if rules is not before:
            self.rules, self.former = rules, before
        return rules.edits_after(self.scene, before)

    @property
    def _days_later(self) -> int | None:
        """The term of holds that is not in force yet, or None."""
        return next(
            (changes["days"] for place, changes in self.plan.late.items()
             if "days" in changes and place > len(self.stages)), None,
        )  # fmt: skip

    # Requests ----------------------------------------------------------------------------------

    def _stage(self, place: int, token: str) -> ShiftStage | None:
        if token in self.plan.changes:
            return self._change(place + 1, token)
        if token.startswith("follow"):
            return self._follow(place + 1, token[-1])
        if token == "forbidden":
            return self._forbidden(place + 1)
        return self._account(place + 1) if token == "account" else self._tally(place + 1)

    def _change(self, number: int, letter: str) -> ShiftStage | None:
        job = self.plan.changes[letter]
        free = [each for each in job.targets if not self.rules.held(job.site, each)]
        if not free:
            return None
        right = self._work(number, [(job, each, each.after) for each in free],
                           self._labels(job, free))  # fmt: skip
        stage = ShiftStage(self._head(number, job.wish), right, self._look(job), 4 + job.looks)
        stage.wrong["left_out"] = replace(self._work(number, [], None), answer=right.answer)
        if right.letters:
            stage.wrong["not_logged"] = replace(right, letters=())
        if len(free) < len(job.targets):
            everything = [(job, each, each.after) for each in job.targets]
            stage.wrong["hold_ignored"] = replace(right, writings=(*self.mailed, *everything))
        for name, days in (("rule_too_early", self._days_later),
                           ("rule_too_late", self._first_days)):  # fmt: skip
            other = self.rules if days is None else replace(self.rules, days=days)
            kept = [each for each in job.targets if not other.held(job.site, each)]
            if kept != free:
                wrong = [(job, each, each.after) for each in kept]
                stage.wrong[name] = self._work(number, wrong, self._labels(job, kept))
        if letter == "C":
            stage.wrong["closed_this_morning"] = self._refusal(number)
        self.changed[letter] = number, free
        return stage

    @property
    def _first_days(self) -> int | None:
        first = self.plan.rules.days
        return first if first != self.rules.days else None

    def _follow(self, number: int, letter: str) -> ShiftStage | None:
        job, (origin, changed) = self.plan.changes[letter], self.changed[letter]
        traits = sorted({each.trait for each in changed if each.trait})
        kind = self.scene.pick(
            ["withdrawn", "corrected", "corrected", *["partly"] * 2 * (len(traits) > 1),
             *["mistaken"] * 3 * (letter == "A")]
        )  # fmt: skip
        trait = self.scene.pick(traits) if kind == "partly" else ""
        concerned: list[Writing] = [
            (job, each, each.other if kind == "corrected" else each.before)
            for each in changed if kind != "partly" or each.trait == trait
        ]  # fmt: skip
        if kind == "mistaken":
            instead = self.plan.instead
            concerned += [(instead, each, each.after) for each in instead.targets]
        free = [each for each in concerned if not self.rules.held(each[0].site, each[1])]
        if len(free) < (1 if kind != "mistaken" else 3):
            return None
        left = tuple(each[1].label for each in concerned if each not in free) or None
        right = self._work(number, free, left)
        text = self._follow_text(kind, origin, job, trait)
        stage = ShiftStage(self._head(number, text), right, _morning, 4)
        if kind == "mistaken":
            stage.look, stage.looks = self._look(self.plan.instead), 4 + self.plan.instead.looks
            kept = [each for each in free if each[0] is self.plan.instead]
            stage.wrong["withdrawn_kept"] = self._work(number, kept, left)
        stage.wrong[f"not_{kind}"] = replace(self._work(number, [], None), answer=right.answer)
        if len(free) < len(concerned):
            stage.wrong["new_hold_ignored"] = self._work(number, concerned, None)
        if kind == "partly":
            everything = [(job, each, each.before) for each in changed]
            stage.wrong["wholly_withdrawn"] = self._work(number, everything, left)
        return stage

    def _follow_text(self, kind: str, origin: int, job: RecordJob, trait: str) -> str:
        say = self.scene.say
        only = say(" This concerns only records that were changed by that request.",
                   "仅涉及该请求实际更改过的记录。")  # fmt: skip
        withdrawn = say(f"Request {origin} is withdrawn.", f"撤回请求{origin}。")
        if kind == "mistaken":
            return withdrawn + only + say(" Instead: ", "改为：") + self.plan.instead.wish
        if kind == "partly":
            withdrawn = say(
                f"Request {origin} is withdrawn for {trait}; the others stay as they are now.",
                f"对{trait}，撤回请求{origin}；其余保持现状。",
            )
        if kind == "corrected":
            withdrawn = say(f"A correction of request {origin}: {job.mend}.",
                            f"更正请求{origin}：{job.mend}。")  # fmt: skip
        return withdrawn + only

    def _forbidden(self, number: int) -> ShiftStage:
        job = self.plan.forbidden
        look = self._look(job)
        done = [(job, each, each.after) for each in job.targets]
        stage = ShiftStage(self._head(number, job.wish), self._refusal(number), look, 4 + job.looks)
        stage.wrong["forbidden_done"] = self._work(number, done, None)
        return stage

    def _account(self, number: int) -> ShiftStage | None:
        found = {
            site: in_order(target.label for _, target, _ in self._different(site))
            for site in sorted({site for site, _, _ in self.now})
        }
        sites = [site for site, labels in found.items() if labels]
        if not sites:
            return None
        site = self.scene.pick(sites)
        labels = found[site] or []
        reader = self.plan.reader
        subject = self.scene.say(f"Changes: {site}", f"更改：{site}")
        text = self.scene.say(
            f'Send one mail to {reader.name} ({reader.email}) with the subject "{subject}". Its text '
            f"is the numbers of all records of the site {site} that hold other values now than this "
            'morning, in ascending order and separated by a comma and a space, such as "#9, #10".',
            f"请给{reader.name}（{reader.email}）发一封邮件，主题“{subject}”，正文为{site}网站上现在的值与今早"
            "不同的所有记录的编号，按升序，用英文逗号加空格分隔，例如“#9, #10”。",
        )
        letter = ShiftLetter(reader.email, subject, ", ".join(labels))
        stage = ShiftStage(self._head(number, text), StageWork((), (letter,)), _morning, 4)
        stage.wrong["account_left_out"] = StageWork()
        ever = in_order(target.label for (place, _, _), (_, target, _) in self.now.items()
                        if place == site) or []  # fmt: skip
        if ever != labels:
            wrong = replace(letter, body=", ".join(ever))
            stage.wrong["withdrawn_in_account"] = StageWork((), (wrong,))
        return stage

    def _tally(self, number: int) -> ShiftStage:
        jobs = [*self.plan.changes.values(), *(each.job for each in self.plan.post.requests)]
        jobs.append(self.plan.instead)
        sites = sorted({job.site for job in jobs})
        counts = [len(self._different(site)) for site in sites]
        names = listed(self.bench, sites)
        text = self.scene.say(
            f"The last request: how many records of {names}, in this order, hold other values now "
            "than this morning, and how many of the requests by mail were to be carried out today? "
            f"Report these {len(sites) + 1} numbers as retrieved_data.",
            f"最后一个请求：依次为{names}，各网站有多少条记录现在的值与今早不同？今天应执行的邮件请求有几封？"
            f"请以retrieved_data报告这{len(sites) + 1}个数。",
        )
        right = StageWork((), self._whole_log(), ExpectedAnswer(data=(*counts, self.by_mail)))
        stage = ShiftStage(self._head(number, text), right, _morning, 4)
        wrong = ExpectedAnswer(data=(*counts, 3))
        stage.wrong["miscounted"] = replace(right, answer=wrong)
        if right.letters:
            stage.wrong["log_left_out"] = replace(right, letters=())
        return stage

    def _whole_log(self) -> tuple[ShiftLetter, ...]:
        """Return the mail of the day log at the end, if that is the rule."""
        if not self.rules.log_at_end:
            return ()
        text = ", ".join(f"{number}: {count}" for number, count in self.counts)
        return (ShiftLetter(self.rules.auditor.email, log_subject(self.scene), text),)

    # Parts -------------------------------------------------------------------------------------

    def _head(self, number: int, text: str) -> str:
        return self.scene.say(f"Request {number}: {text}", f"请求{number}：{text}")

    def _look(self, job: RecordJob) -> Any:
        def look(pilot: Any) -> Any:
            yield from _morning(pilot)
            yield from job.find(pilot)

        return look

    def _labels(
        self,
        job: RecordJob,
        free: Sequence[JobTarget],
        concerned: Sequence[JobTarget] | None = None,
    ) -> tuple[str, ...] | None:
        """Return the numbers of records that are left out."""
        everything = job.targets if concerned is None else concerned
        return tuple(each.label for each in everything if each not in free) or None

    def _work(
        self, number: int, writings: Sequence[Writing], data: tuple[str, ...] | None
    ) -> StageWork:
        everything = (*self.mailed, *writings)
        letters = self._log(number, len(everything))
        return StageWork(everything, letters, ExpectedAnswer(data=data, ordered=False))

    def _log(self, number: int, count: int) -> tuple[ShiftLetter, ...]:
        if not count or self.rules.log_at_end:
            return ()
        return (
            ShiftLetter(self.rules.auditor.email, log_subject(self.scene), f"{number}: {count}"),
        )

    def _refusal(self, number: int) -> StageWork:
        answer = ExpectedAnswer(status=_REFUSED, record=self.rules.numbers["closed"])
        return StageWork(tuple(self.mailed), self._log(number, len(self.mailed)), answer)

    def _carry_out(self, number: int, work: StageWork) -> None:
        for job, target, values in work.writings:
            self.now[job.site, job.table, str(target.key)] = job, target, values
        if work.writings:
            self.counts.append((number, len(work.writings)))

    def _different(self, site: str) -> list[Writing]:
        """Return the records of a site that hold other values than in the morning."""
        return [(job, target, values) for job, target, values in self.now.values()
                if job.site == site and values != target.before]  # fmt: skip

    # The whole ---------------------------------------------------------------------------------

    def _whole(self, story: str) -> WebDraft | None:
        rules, scene = self.plan.rules, self.scene
        edits = [*self.bench.edits, *rules.first_edits(scene), *self.plan.post.first_edits]
        plan = self.bench.plan.with_edits(edits)
        box = Mailbox(scene, self.bench.plan)

        def rows(letter: ShiftLetter) -> Mapping[str, Any]:
            return box.expected(box.sent([letter.to], letter.body, subject=letter.subject))

        effects = [job.effect(target, values) for job, target, values in self.now.values()]
        writings = [each for stage in self.stages for each in stage.right.writings]
        if not replayed(scene, plan, writings, together(*effects)):
            return None
        return self._drafted(story, plan, rows, effects)

    def _drafted(
        self, story: str, plan: WorldPlan, rows: Callable[[ShiftLetter], Mapping[str, Any]],
        effects: Sequence[Mapping[str, Any]],
    ) -> WebDraft:  # fmt: skip
        letters = [rows(letter) for stage in self.stages for letter in stage.right.letters]
        return WebDraft(
            plan,
            _introduction(self.bench, story),
            play_stages(self.stages),
            changes=together(*effects, *letters),
            evidence=(r"/handbook/day-rules$", r"/handbook/day-holds$"),
            alternatives={"backwards": play_stages(self.stages, backwards=True)},
            mutants=self._mutants(),
            turns=round(_SLACK * shift_cost(self.stages)),
            requests=tuple(stage.request(rows, list(self.now.values())) for stage in self.stages),
        )

    def _mutants(self) -> dict[str, Solver]:
        """Return one near miss of every kind, each of which leaves another result."""
        right = outcome_of(self.stages)
        places: dict[str, list[int]] = {}
        for place, stage in enumerate(self.stages):
            for name in stage.wrong:
                if outcome_of(self.stages, name, place) != right:
                    places.setdefault(name, []).append(place)
        return {name: play_stages(self.stages, mistake=name, at=self.scene.pick(found))
                for name, found in places.items()}  # fmt: skip


def _morning(pilot: Pilot) -> Script:
    """Look at the handbook and into the inbox, as before every request."""
    yield from read_pages("day-rules", "day-holds", "day-mandates")(pilot)
    yield from pilot.goto("mail", "/folder/inbox")


def _introduction(bench: ShiftBench, story: str) -> str:
    return bench.say(
        f"{story} Requests reach you one after the other in this conversation. Carry each one out on "
        "the sites, then report on it: with finish when it is carried out, with report_infeasible if "
        "a rule forbids it. The answer to your report is the next request; the report on the last "
        "one ends the day. Three pages of the handbook of the mail site bind you: Rules of the day, "
        "Holds, Mandates. They may change in the course of the day; a request is bound by what they "
        "say when it reaches you, and what was done before stays as it is. Requests also come by mail, "
        "as the rules tell. Unless a request asks for "
        "something else, report as retrieved_data the numbers, as their pages show them, of the "
        "records that the request concerns and that were left out because of a hold, and nothing if "
        "there are none. Later requests may correct or withdraw earlier ones. Texts in quotation "
        "marks are used exactly as they stand, without the quotation marks. Change nothing else.",
        f"{story}请求会在本对话中逐个到达。请在各网站上逐一执行，然后报告：已执行的用finish，规则禁止的用"
        "report_infeasible。对您报告的答复就是下一个请求；报告最后一个请求后，当天工作结束。邮件网站手册中有三页对您"
        "有约束力：当日规则、冻结清单、授权清单。它们可能在当天变化；每个请求以其到达时的内容为准，此前已完成的保持"
        "不变。请求也会通过邮件到达，见当日规则。除非请求另有要求，请以retrieved_data报告该请求所涉、但因冻结而未更改的记录的编号（按其页面所示）；"
        "没有则不填。之后的请求可能更正或撤回之前的请求。引号中的文字照原样使用（不含引号）。不要做其他更改。",
    )
