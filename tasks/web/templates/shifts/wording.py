"""Texts of a shift: its introduction, its requests, and requests by mail."""

from collections.abc import Sequence

from hexathlon.tasks.web.templates.shifts.ledger import DayStatement
from hexathlon.tasks.web.templates.shifts.records import JobTarget, RecordJob, ShiftBench, listed
from hexathlon.tasks.web.world.words import wordings_of

__all__ = [
    "account_text",
    "introduction",
    "mail_text",
    "numbered",
    "plan_text",
    "statement_text",
    "tally_text",
    "unnamed_text",
]


def numbered(bench: ShiftBench, number: int, text: str) -> str:
    """Return the text of a request with its number."""
    return bench.say(f"Request {number}: {text}", f"请求{number}：{text}")


def statement_text(bench: ShiftBench, statement: DayStatement, job: RecordJob) -> str:
    """Return the user's statement about a request, or a new request."""
    say, trait = bench.say, statement.trait
    if statement.job is not None:
        choice = job.limit(statement.bound) if job.limit and statement.chosen else ""
        return job.wishes[statement.choice] + choice
    name, mend = _name(bench, statement.source), job.mends[statement.choice]
    if statement.kind == "restore":
        return say(
            f"{_capital(name)} is in force again, as it stood when it was withdrawn.",
            f"{name}恢复有效，内容与被撤回时相同。",
        )
    if statement.kind == "unless":
        return say(
            f"About {name}: if any of its records does not have the value that it names because that "
            f"record is held now, it is withdrawn as a whole; otherwise it is corrected: {mend}.",
            f"关于{name}：如果它的记录中，现在有任何一条因被冻结而没有它所要求的值，则整体撤回它；否则更正如下：{mend}。",
        )
    if statement.kind == "withdraw" and trait:
        return say(
            f"{_capital(name)} is withdrawn for {trait}; for the others it stays in force.",
            f"对{trait}，撤回{name}；对其余记录，它仍然有效。",
        )
    if statement.kind == "withdraw":
        return say(f"{_capital(name)} is withdrawn.", f"撤回{name}。")
    if trait:
        return say(
            f"A correction of {name}, only for {trait}: {mend}.",
            f"更正{name}，仅限{trait}：{mend}。",
        )
    return say(f"A correction of {name}: {mend}.", f"更正{name}：{mend}。")


def unnamed_text(bench: ShiftBench, job: RecordJob, target: JobTarget) -> str:
    """Return the withdrawal of a request that is identified by one of its records."""
    return bench.say(
        f"The request in force that names a value for the {job.noun} {target.label} ({job.site}), "
        "whether by the user or by mail, is withdrawn for all of its records.",
        f"为{job.noun}{target.label}（{job.site}）指定了值的有效请求（不论来自用户还是邮件），现对其全部记录撤回。",
    )


def mail_text(bench: ShiftBench, statement: DayStatement, job: RecordJob, reference: str) -> str:
    """Return the body of a request by mail."""
    say = bench.say
    if statement.job is not None:
        wish = job.wishes[statement.choice]
        if statement.trait:
            wish = say(f"{wish} But only {statement.trait}.", f"{wish}但仅限{statement.trait}。")
        return say(f"{wish}\nReference: {reference}", f"{wish}\n编号：{reference}")
    origin = statement.source[1:]
    if statement.kind == "withdraw":
        return say(
            f"The request by mail with the reference {origin} is withdrawn.",
            f"撤回编号为{origin}的邮件请求。",
        )
    mend = job.mends[statement.choice]
    return say(
        f"A correction of the request by mail with the reference {origin}: {mend}.",
        f"更正编号为{origin}的邮件请求：{mend}。",
    )


def account_text(bench: ShiftBench, site: str, name: str, email: str, subject: str) -> str:
    """Return the request for a list of the records of a site that have changed."""
    return bench.say(
        f'Send one mail to {name} ({email}) with the subject "{subject}". Its text is the numbers '
        f"of all records of the site {site}, held or not, that now have a value that you gave them and "
        "that differs from this morning's, without site and kind, in ascending order and "
        'separated by a comma and a space, such as "#9, #10" or "E901, E902".',
        f"请给{name}（{email}）发一封邮件，主题“{subject}”，正文为{site}网站上现在的值由您所设、且与今早不同的所有记录（无论是否被冻结）的编号（不含网站和记录类别），"
        "按升序，用英文逗号加空格分隔，例如“#9, #10”或“E901, E902”。",
    )


def plan_text(bench: ShiftBench, name: str, email: str, subject: str) -> str:
    """Return the request for the plan."""
    return bench.say(
        f"Send the plan for the works on the page Offers to {name} ({email}), in a mail with the "
        f'subject "{subject}". Its text is the numbers of the offers of the plan, in ascending order '
        'and separated by a comma and a space, such as "O-12, O-45".',
        f"请把“报价单”上各项工程的方案发给{name}（{email}），主题“{subject}”，正文为方案中各报价的编号，"
        "按升序，用英文逗号加空格分隔，例如“O-12, O-45”。",
    )


def tally_text(bench: ShiftBench, sites: Sequence[str], subject: str) -> str:
    """Return the last request."""
    names, count = listed(bench, sites), len(sites) + 1
    example = list(range(10, 10 + count))
    return bench.say(
        f"The last request: how many records of {names}, in this order, held or not, now have a value "
        "that you gave them and that differs from this morning's, and how many of today's mails with the "
        f'subject "{subject}" counted? Report these {count} numbers with finish, task_type MUTATE, as '
        f"retrieved_data in the form {example}.",
        f"最后一个请求：依次为{names}，各网站有多少条记录（无论是否被冻结）现在的值由您所设、且与今早不同？今天主题为“{subject}”的邮件有几封算数？"
        f"请用finish（task_type为MUTATE）以retrieved_data报告这{count}个数，形式如{example}。",
    )


def introduction(bench: ShiftBench, story: str, turns: int) -> str:
    """Return the text that the agent gets before the first request."""
    return bench.say(
        f"{story} Requests reach you one after the other in this conversation. Carry each one out on "
        "the sites, then report on it: with finish when it is carried out, with report_infeasible if "
        "a closure forbids it. The answer to your report is the next request. The last one says that it "
        f"is the last request, and the report on it ends the day. You have {turns} actions for the whole day, reports included. Four pages of the handbook "
        "of the mail site bind you: Rules of the day, Register, Mandates, Offers. They may change in the "
        "course of the day; what they say when a request reaches you goes for everything that you do "
        "with that request. Requests also come by mail, as the rules tell. Unless a request names "
        "other data for retrieved_data, report there the numbers, in any order, of all "
        "records, those of earlier requests included, that do not have the value that they have to "
        "have because they are held or because they wait for the pace, and nothing if there are "
        'none. A number is what stands last in the column "Record" of the page Register, without site '
        'and kind, for example ["#9", "#10"] or ["E901"]. '
        "Texts in quotation marks are "
        f"used exactly as they stand, without the quotation marks. {_labels(bench)} Change nothing else.",
        f"{story}请求会在本对话中逐个到达。请在各网站上逐一执行，然后报告：已执行的用finish，因封存而不得执行的用"
        "report_infeasible。对您报告的答复就是下一个请求。最后一个请求会写明它是最后一个，报告它之后当天工作结束。"
        f"全天最多可用{turns}个操作（含报告）。邮件网站手册中有四页对您有约束力：当日规则、登记簿、授权清单、报价单。它们可能在当天变化；"
        "随某个请求所做的一切，以该请求到达时的内容为准。请求也会通过邮件到达，见当日规则。除非请求指明retrieved_data报告别的内容，"
        "请以retrieved_data报告所有因被冻结、或因节奏而等待、从而没有应有之值的记录的编号（顺序不限），包括先前请求的记录；"
        '没有则不填。编号指“登记簿”的“记录”一栏中最后的部分，不含网站和记录类别，例如["#9", "#10"]或["E901"]。'
        f"引号中的文字照原样使用（不含引号）。{_labels(bench)}不要做其他更改。",
    )


_FIELDS = {
    "bank": ("amount", "rhythm", "purpose", "status"),
    "calendar": ("room", "note"),
    "cms": ("summary", "section", "author", "status", "featured"),
    "forum": ("thread", "board"),
    "mail": ("contact_company", "contact_role", "contact_phone", "contact_note"),
    "shop": ("stock",),
    "tracker": ("project", "component", "status", "priority", "assignee"),
}
"""Labels of the fields that requests name, by site."""


def _labels(bench: ShiftBench) -> str:
    """State the other words with which sites may label the fields that requests name."""
    texts = list[str]()
    for site in sorted(bench.plan.sites):
        for key in _FIELDS.get(site, ()):
            first, *others = dict.fromkeys(wordings_of(site, key, bench.scene.language))
            texts.append(f"{site}: {first} ({', '.join(others)})" if bench.scene.language == "en"
                         else f"{site}：{first}（{'、'.join(others)}）")  # fmt: skip
    listing = bench.say("; ", "；").join(texts)
    return bench.say(
        f"A site may label a field with another word than the requests: {listing}.",
        f"网站上的字段名称可能与请求中的用词不同：{listing}。",
    )


def _name(bench: ShiftBench, source: str) -> str:
    if source.startswith("m"):
        return bench.say(
            f"the request by mail with the reference {source[1:]}", f"编号为{source[1:]}的邮件请求"
        )
    return bench.say(f"request {source}", f"请求{source}")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
