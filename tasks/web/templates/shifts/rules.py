"""The handbook of a shift: rules of the day, holds on records, and mandates."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta

from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.templates.shifts.records import JobTarget
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.people import Person

__all__ = ["DayRules", "Hold", "Mandate", "draw_numbers", "log_subject", "mail_subject"]

_TITLES = {
    "day-rules": "Rules of the day|当日规则",
    "day-holds": "Holds|冻结清单",
    "day-mandates": "Mandates|授权清单",
}


_MAIL_SUBJECT = "Request for today|今日请求"
_LOG_SUBJECT = "Day log|工作日志"


@dataclass(frozen=True)
class Hold:
    """A line of the page of holds."""

    site: str
    noun: str
    label: str
    day: date
    person: Person


@dataclass(frozen=True)
class Mandate:
    """A line of the page of mandates."""

    name: str
    email: str
    site: str
    first: date
    last: date


@dataclass(frozen=True)
class DayRules:
    """What the three pages say at one time."""

    today: date
    numbers: Mapping[str, str]
    """Number of every rule, by `hold`, `closed`, `mail`, `log` and `back`."""

    days: int
    """For how many days a hold counts."""

    closed: str
    """What nobody may change, in words."""

    closed_site: str
    auditor: Person
    log_at_end: bool = False
    """Whether the day log is one mail at the end, or one mail for each request."""

    holds: tuple[Hold, ...] = ()
    mandates: tuple[Mandate, ...] = ()

    def with_hold(self, hold: Hold) -> "DayRules":
        """Return the rules with one more hold."""
        return replace(self, holds=(*self.holds, hold))

    def held(self, site: str, target: JobTarget) -> bool:
        """Whether a hold on a record counts today."""
        return any(
            (each.site, each.label) == (site, target.label)
            and self.today <= each.day + timedelta(days=self.days)
            and self.entitles(each.person.email, site)
            for each in self.holds
        )

    def entitles(self, address: str, site: str) -> bool:
        """Whether somebody may ask for changes of a site, and enter holds on it, today."""
        return any(
            (each.email, each.site) == (address, site) and each.first <= self.today <= each.last
            for each in self.mandates
        )

    def pages(self, scene: WebScene) -> dict[str, str]:
        """Return the text of every page, by name."""
        rules = [f"{self.numbers[key]} {scene.say(*text)}" for key, text in self._rules().items()]
        rules.sort()
        holds = [f"{each.site}: {each.noun} {each.label} · {each.day} · {each.person.name}"
                 for each in sorted(self.holds, key=lambda each: (each.day, each.label))]  # fmt: skip
        mandates = [f"{each.name} <{each.email}> · {each.site} · {each.first} – {each.last}"
                    for each in sorted(self.mandates, key=lambda each: (each.name, each.first))]  # fmt: skip
        heads = scene.say("Record · date of the hold · entered by", "记录 · 冻结日期 · 登记人")
        told = scene.say("Person · site · first and last day", "人员 · 网站 · 首日与末日")
        return {
            "day-rules": "\n".join(rules),
            "day-holds": "\n".join((heads, *holds)),
            "day-mandates": "\n".join((told, *mandates)),
        }

    def first_edits(self, scene: WebScene) -> list[Edit]:
        """Return the edits that add the pages to the first content."""
        sql = "INSERT INTO _handbook (name, title, body, updated) VALUES (?, ?, ?, ?)"
        since = (self.today - timedelta(days=1)).isoformat()
        return [
            ("mail", sql, (name, scene.say(*_TITLES[name].split("|")), body, since))
            for name, body in self.pages(scene).items()
        ]

    def edits_after(self, scene: WebScene, former: "DayRules") -> list[Edit]:
        """Return the edits that lead from former rules to these."""
        old, sql = former.pages(scene), "UPDATE _handbook SET body = ?, updated = ? WHERE name = ?"
        return [
            ("mail", sql, (body, self.today.isoformat(), name))
            for name, body in self.pages(scene).items()
            if body != old[name]
        ]

    def _rules(self) -> dict[str, tuple[str, str]]:
        mail = _MAIL_SUBJECT.split("|")
        return {
            "hold": (
                "Holds. A record on the page Holds is left as it is while its hold counts. A hold "
                f"counts up to and including the day that is {self.days} days after its date, and "
                "only if the person who entered it has a mandate for the site in force today "
                "(page Mandates). The other records of the request are changed. This goes for "
                "every request, corrections and withdrawals included.",
                "冻结。“冻结清单”上的记录在冻结有效时保持原样。冻结的有效期至冻结日期之后"
                f"第{self.days}天（含当天），且登记人今天须持有该网站的有效授权（见“授权清单”），否则冻结无效。"
                "请求涉及的其他记录照常更改。此规则适用于所有请求，包括更正和撤回。",
            ),
            "closed": (
                f"Closed records. Nobody changes {self.closed} ({self.closed_site}). A request to "
                "change such records is refused as a whole: status ACTION_NOT_ALLOWED_ERROR, "
                "record = the number of this rule.",
                f"封存。任何人不得更改{self.closed}（{self.closed_site}）。要求更改此类记录的请求一律整体拒绝："
                "status为ACTION_NOT_ALLOWED_ERROR，record为本规则编号。",
            ),
            "mail": (
                f'Requests by mail. Requests also come by mail, with the subject "{mail[0]}". What '
                "has arrived in the inbox when a request reaches you is carried out together with "
                "that request, provided that it counts: the page Mandates names the address that "
                "it was sent from for the site that it concerns, and today lies between the two "
                "days given there, both included. That goes for a request that is refused as well. "
                "The records of the mail count as changed by the request. Other mails change "
                "nothing.",
                f"邮件请求。请求也会以主题为“{mail[1]}”的邮件到达。某个请求到达您时，收件箱中已到的此类邮件如果有效，"
                "与该请求一并执行；有效是指：“授权清单”列有其发件地址及所涉网站，且今天在所列首日与末日之间（含首末两日）。"
                "即使该请求本身被拒绝，邮件也照此执行。邮件更改的记录计入该请求。其他邮件不引起任何更改。",
            ),
            "log": self._log_at_end() if self.log_at_end else self._log_each(),
            "back": (
                "Withdrawals. What is withdrawn gets the values that it had right before the "
                "withdrawn request. What a mail asked for is not withdrawn with the request that it "
                "came with.",
                "撤回。撤回的内容恢复为被撤回请求执行前的值。随该请求到达的邮件所要求的更改不一并撤回。",
            ),
        }

    def _log_each(self) -> tuple[str, str]:
        name, email = self.auditor.name, self.auditor.email
        subject = _LOG_SUBJECT.split("|")
        return (
            "Day log. Each request by which at least one record was changed is followed by one mail "
            f'to {name} ({email}) with the subject "{subject[0]}" and the text "N: K", where N is '
            'the number of the request and K the number of records that it changed, such as "3: 2". '
            "Records that a withdrawal sets back count as changed. A request that changed no record "
            "gets no such mail. Mails and handbook pages are not records.",
            f"工作日志。每个至少更改了一条记录的请求完成后，发一封邮件给{name}（{email}），主题“{subject[1]}”，"
            "正文“N: K”，N为请求编号，K为该请求更改的记录数，例如“3: 2”。因撤回而恢复的记录也算更改。"
            "没有更改任何记录的请求不发此邮件。邮件和手册页面不算记录。",
        )

    def _log_at_end(self) -> tuple[str, str]:
        name, email = self.auditor.name, self.auditor.email
        subject = _LOG_SUBJECT.split("|")
        return (
            f"Day log. Before the report on the last request of the day, one mail goes to {name} "
            f'({email}) with the subject "{subject[0]}". Its text has one entry "N: K" for each '
            "request by which at least one record was changed, in the order of the requests and "
            "separated by a comma and a space: N is the number of the request, K the number of "
            'records that it changed, such as "1: 3, 3: 2". Records that a withdrawal sets back count as '
            "changed. Mails and handbook pages are not records.",
            f"工作日志。报告当天最后一个请求之前，发一封邮件给{name}（{email}），主题“{subject[1]}”，"
            "正文为每个至少更改了一条记录的请求各写一项“N: K”，按请求顺序，用英文逗号加空格分隔：N为请求编号，"
            "K为该请求更改的记录数，例如“1: 3, 3: 2”。因撤回而恢复的记录也算更改。邮件和手册页面不算记录。",
        )


def log_subject(scene: WebScene) -> str:
    """Return the subject of a mail of the day log."""
    return scene.say(*_LOG_SUBJECT.split("|"))


def mail_subject(scene: WebScene) -> str:
    """Return the subject of requests by mail."""
    return scene.say(*_MAIL_SUBJECT.split("|"))


def draw_numbers(scene: WebScene) -> dict[str, str]:
    """Draw numbers of the rules."""
    keys = ("hold", "closed", "mail", "log", "back")
    drawn = scene.sample(range(11, 99), len(keys))
    return {key: f"R-{number}" for key, number in zip(keys, drawn, strict=True)}
