"""The pages that bind the agent in a shift: rules of the day, register, and mandates."""

from collections.abc import Sequence
from datetime import timedelta

from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.templates.shifts.plans import REBATED, PlanTerms
from hexathlon.tasks.web.templates.shifts.rules import DayRules
from hexathlon.tasks.web.world.network import NOW, Edit

__all__ = [
    "PAGES",
    "TITLES",
    "draw_numbers",
    "edits_between",
    "first_edits",
    "log_subject",
    "mail_subject",
    "pages_of",
]

PAGES = ("day-rules", "day-register", "day-mandates", "day-offers")
"""Names of the pages, as their addresses have them."""

TITLES = ("Rules of the day|当日规则", "Register|登记簿", "Mandates|授权清单", "Offers|报价单")
_MAIL_SUBJECT = "Request for today|今日请求"
_LOG_SUBJECT = "Day log|工作日志"
_KEYS = (
    "value",
    "hold",
    "others",
    "sync",
    "closed",
    "mail",
    "mandate",
    "plan",
    "undelivered",
    "log",
    "pace",
    "report",
)
_KINDS = {"hold": "hold|冻结", "release": "release|解冻"}


def log_subject(scene: WebScene) -> str:
    """Return the subject of an email of the day log."""
    return scene.say(*_LOG_SUBJECT.split("|"))


def mail_subject(scene: WebScene) -> str:
    """Return the subject of requests by mail."""
    return scene.say(*_MAIL_SUBJECT.split("|"))


def draw_numbers(scene: WebScene) -> dict[str, str]:
    """Draw numbers of the rules."""
    drawn = scene.sample(range(11, 99), len(_KEYS))
    return {key: f"R-{number}" for key, number in zip(_KEYS, drawn, strict=True)}


def pages_of(rules: DayRules, scene: WebScene) -> dict[str, str]:
    """Return the text of every page, by name."""
    texts = sorted(
        f"{rules.numbers[key]} {scene.say(*text)}" for key, text in _rule_texts(rules).items()
    )
    bodies = (
        "\n".join(texts),
        _register(rules, scene),
        _mandates(rules, scene),
        _offers(rules, scene),
    )
    return dict(zip(PAGES, bodies, strict=True))


def first_edits(rules: DayRules, scene: WebScene) -> list[Edit]:
    """Return the edits that add the pages to the initial content."""
    sql = "INSERT INTO _handbook (name, title, body, updated) VALUES (?, ?, ?, ?)"
    since = (rules.today - timedelta(days=1)).isoformat()
    bodies = pages_of(rules, scene).values()
    return [
        ("mail", sql, (name, scene.say(*title.split("|")), body, since))
        for name, title, body in zip(PAGES, TITLES, bodies, strict=True)
    ]


def edits_between(former: DayRules, rules: DayRules, scene: WebScene) -> list[Edit]:
    """Return the edits that lead from one state of the rules to the next."""
    old, sql = pages_of(former, scene), "UPDATE _handbook SET body = ?, updated = ? WHERE name = ?"
    return [
        ("mail", sql, (body, NOW, name))
        for name, body in pages_of(rules, scene).items()
        if body != old[name]
    ]


def _register(rules: DayRules, scene: WebScene) -> str:
    lines = [scene.say("Record · entry · date · author", "记录 · 登记内容 · 日期 · 登记人")]
    lines += [
        f"{each.site}: {each.noun} {each.label} · {scene.say(*_KINDS[each.kind].split('|'))} · "
        f"{each.day} · {each.author}"
        for each in sorted(rules.entries, key=lambda each: (each.site, each.label, each.day))
    ]
    lines.append(
        scene.say(
            "Closure · closed records · first and last day · author",
            "封存编号 · 封存的记录 · 首日与末日 · 登记人",
        )
    )
    lines += [
        f"{each.number} · {each.site}: {each.group} · {each.first} – {each.last} · {each.author}"
        for each in sorted(rules.closures, key=lambda each: each.number)
    ]
    return "\n".join(lines)


def _mandates(rules: DayRules, scene: WebScene) -> str:
    lines: Sequence[str] = [
        f"{each.name} <{each.email}> · {each.site} · {each.first} – {each.last} · {each.granter}"
        for each in sorted(rules.mandates, key=lambda each: (each.name, each.site, each.first))
    ]
    head = scene.say(
        "Person · site · first and last day · granted by", "人员 · 网站 · 首日与末日 · 授权人"
    )
    return "\n".join((head, *lines))


def _offers(rules: DayRules, scene: WebScene) -> str:
    lines = [
        scene.say(
            "Offer · work · firm · price · days · entered by",
            "报价编号 · 工程 · 公司 · 价格 · 天数 · 录入人",
        )
    ]
    lines += [
        f"{each.number} · {each.work} · {each.firm} · "
        + scene.say(
            f"€{each.price} · {each.days} day{'s' * (each.days > 1)}",
            f"{each.price}欧元 · {each.days}天",
        )
        + f" · {each.author}"
        for each in sorted(rules.offers, key=lambda each: each.number)
    ]
    lines.append(scene.say("Firm · call-out charge", "公司 · 上门费"))
    lines += [
        f"{firm} · " + scene.say(f"€{charge}", f"{charge}欧元")
        for firm, charge in sorted(rules.terms.charges)
    ]
    lines.append(
        scene.say(
            "Pair of works · amount if one firm gets both", "两项工程 · 同一公司承接这两项时的金额"
        )
    )
    lines += [
        f"{one} + {other} · " + scene.say(*_amount_text(amount))
        for one, other, amount in sorted(rules.terms.savings)
    ]
    return "\n".join(lines)


def _amount_text(amount: int) -> tuple[str, str]:
    if amount < 0:
        return f"€{-amount} extra", f"加{-amount}欧元"
    return f"€{amount} off", f"减{amount}欧元"


def _condition(terms: PlanTerms) -> tuple[str, str]:
    """State the further condition of a plan."""
    first, second = terms.apart or terms.together or ("", "")
    if terms.apart:
        return (
            f" {first} and {second} go to different firms.",
            f"{first}与{second}由不同公司承接。",
        )
    if terms.together:
        return (f" {first} and {second} go to the same firm.", f"{first}与{second}由同一公司承接。")
    if terms.rebate:
        return (
            f" Every firm that gets at least {REBATED} works takes €{terms.rebate} off, once for all "
            "of its works together. This comes on top of the amounts for pairs.",
            f"承接至少{REBATED}项工程的公司，每家减收{terms.rebate}欧元，按公司总共只减一次。该减收与两项工程组合的金额分别计算。",
        )
    return "", ""


def _rule_texts(rules: DayRules) -> dict[str, tuple[str, str]]:
    mail = _MAIL_SUBJECT.split("|")
    head, address = rules.head.name, rules.head.email
    terms, condition = rules.terms, _condition(rules.terms)
    return {
        "value": (
            "Values. A record has the value that the latest request in force names for it; if no "
            "request in force names one, it has its value of this morning. A request is in force "
            "from when it reaches you until it is withdrawn, for some of its records or for all; a "
            "later correction or withdrawal concerns the records for which it is in force. What is "
            "corrected or put in force again counts, for the records concerned, as made at that "
            "time. With every request that reaches you, a refused one included, bring every record "
            "that a request of today has named to the value that it has to have by then.",
            "取值。记录的值以提及它的、最新的有效请求为准；没有有效请求提及它时，为今早的值。请求自到达您时起有效，直至（对部分或全部记录）被撤回；"
            "此后的更正或撤回只涉及它仍然有效的记录。被更正或恢复的请求，对所涉记录而言，视为在更正或恢复之时提出。每当有请求到达您（包括被拒绝的请求），"
            "都要把今天的请求提及过的所有记录调整为届时应有的值。",
        ),
        "hold": (
            "Holds. A record that is held keeps the value that it has. With the first request that "
            "reaches you when it is no longer held, it is brought to the value that it has to have "
            "by then. Of the entries on the page Register that name a record, only those count "
            "whose author has a mandate for the site in force today, and of these only the one "
            "with the latest date. The record is held if that one is a hold and today is no more "
            f"than {rules.days} days after its date.",
            "冻结。被冻结的记录保持现有的值；在它不再被冻结之后，随第一个到达您的请求，调整为届时应有的值。“登记簿”上关于某记录的登记，"
            "只有登记人今天持有该网站的有效授权者才算数，其中又只以日期最晚的一条为准。如果这一条是冻结，"
            f"且今天距其日期不超过{rules.days}天，该记录即被冻结。",
        ),
        "others": (
            "Work of others. Other people and synchronisations change records only between your "
            "report on a request and the next request, never while you work on a request. If a "
            "record to which you gave a value today shows another one when a request reaches you, "
            "somebody else has changed it, unless a synchronisation has undone your change or a "
            "change of your own has altered it. From then on it is left as it is, whatever the "
            "requests of today say, and it is not reported. Other people never give a record its "
            "value of this morning, or a value that you give to any record of its kind today, "
            "whether before or after.",
            "他人的更改。他人和同步只在您报告某个请求之后、下一个请求到达之前更改记录，从不在您处理请求期间更改。"
            "如果某个请求到达时，您今天设过值的记录显示别的值，且既不是同步所撤销，也不是您自己的更改连带造成，说明他人更改了它。"
            "此后无论今天的请求怎么说，都不再动它，也不报告它。"
            "他人从不把记录改为其今早的值，也不改为您今天（无论在此之前或之后）给任何同类记录设的值。",
        ),
        "report": (
            "Reports. What counts is what the sites show when you report on a request: by then, they "
            "have to show for every record what these rules require. If a change of "
            "yours alters anything besides, put that back as it was, before you report and even if "
            "the record is held. A record that is only put back does not count towards the pace or in the "
            "day log, and is not thereby given a value; if you gave it its value earlier, it still "
            "has a value that you gave it. A value that you save only on the way to another one is "
            "not given either. A record that you save several times with one request counts once.",
            "报告。以您报告请求时网站显示的内容为准：届时每条记录都须显示本规则所要求的内容。如果您的更改还连带改动了别的内容，"
            "须在报告之前将其恢复原样，即使该记录被冻结。仅被恢复原样的记录不计入节奏的数量，也不计入工作日志，也不视为由您设值；"
            "如果它的值是您先前所设，则仍算由您所设。只作为中间步骤保存的值，也不算由您所设。"
            "同一请求中多次保存同一条记录，只计一次。",
        ),
        "sync": (
            f"Synchronisation. The site {rules.synchronised} is synchronised right after your reports "
            f"on the requests {rules.after[0]} and {rules.after[1]}. Without a notice, this undoes "
            "some of your changes there: such a record shows its value of this morning again. A "
            "change that a synchronisation has undone does not count as the work of others: with the "
            "next request, bring the record to the value that it has to have by then."
            if rules.after
            else "Synchronisation. There is none today.",
            f"同步。{rules.synchronised}网站在您报告请求{rules.after[0]}和请求{rules.after[1]}之后会立即同步。同步会不加通知地"
            "撤销您在该网站上的部分更改，相关记录重新显示今早的值。同步撤销的更改不算他人的更改；请随下一个请求把该记录调整为届时应有的值。"
            if rules.after
            else "同步。今天没有同步。",
        ),
        "undelivered": (
            "Returned mails. If a notice on the mail site says that a mail that you sent today could "
            "not be delivered, send that mail again as soon as you have seen the notice, or at the "
            "latest before your last report: one new mail with the same address, subject and text, "
            "even if you have sent a newer plan by then. You may write it anew or use what the mail "
            "site offers for returned mails. It counts as sent when you first sent "
            "it, so that the plan that you sent last stays the same.",
            "退信。邮件网站的提示说明您今天发出的某封邮件未能送达时，请在看到提示后再发一次，最迟在最后一次报告之前：收件地址、主题和正文都与原邮件相同，"
            "即使届时您已发出更新的方案。可以重新写一封，也可以使用邮件网站为退信提供的功能。其发送时间仍以首次发送为准，因此“最后发出的方案”不变。",
        ),
        "closed": (
            "Closures. A new request for a change of closed records is refused as a whole: "
            "report_infeasible with the status ACTION_NOT_ALLOWED_ERROR and, as record, the number "
            "of the closure. It never comes into force. A closure on the page Register counts from "
            "its first to its last day, both included, if its author has a mandate for the site in "
            "force today. A mail that newly asks for a change of closed records does not count, "
            "unless it was sent from the address of the closure's author. What is said about "
            "earlier requests, and what is made up for after a hold, is not affected by closures.",
            "封存。要求更改封存记录的新请求一律整体拒绝：用report_infeasible，status为ACTION_NOT_ALLOWED_ERROR，"
            "record为封存编号；该请求始终不生效。“登记簿”上的封存，在其首日至末日（含首末两日）有效，前提是登记人今天持有该网站的有效授权。"
            "新要求更改封存记录的邮件不算数，除非发自该封存登记人的地址。对先前请求的更正、撤回和恢复，以及解除冻结后的补做，不受封存影响。",
        ),
        "mail": (
            f'Requests by mail. Mails with the subject "{mail[0]}" are requests as well. Such a mail '
            "belongs to the first request that reaches you after the mail has arrived, a refused "
            "one included, and counts as made right before it. No mail arrives between a request and your "
            "report on it: what is in the inbox while you work on a request came before that request, "
            "even if both have the same minute. It counts if the address that it was "
            "sent from has a mandate in force today for the site that it concerns. A mail that "
            "corrects or withdraws an earlier one counts only if it also comes from the same "
            "address as that one, and that one counted. Whether a mail counts is decided once, with "
            "the request that it belongs to. Mails that do not count change nothing.",
            f"邮件请求。主题为“{mail[1]}”的邮件也是请求。此类邮件归入其到达之后第一个到达您的请求（包括被拒绝的请求），"
            "并视为紧接在该请求之前提出。从请求到达至您报告它的期间不会有邮件到达：处理某个请求时收件箱中的邮件都先于该请求到达，即使两者在同一分钟。"
            "发件地址今天持有所涉网站的有效授权时，邮件才算数。更正或撤回先前邮件的邮件，"
            "还须与先前邮件的发件地址相同，且先前邮件算数，才算数。邮件是否算数只随其所归入的请求判定一次。不算数的邮件不引起任何更改。",
        ),
        "mandate": (
            f"Mandates. {head} ({address}) has a mandate for every site. Any other mandate is in "
            "force if it is on the page Mandates, today lies between its first and its last day, "
            "both included, and whoever granted it has a mandate in force for the same site.",
            f"授权。{head}（{address}）持有所有网站的授权。其他授权须列于“授权清单”，今天在其首日与末日之间（含首末两日），"
            "且授权人持有同一网站的有效授权，才有效。",
        ),
        "plan": (
            "Plan. The page Offers lists offers for works, the call-out charges of firms, and amounts "
            "for pairs of works. "
            "An offer counts if whoever entered it has a mandate for the site mail in force today. A "
            "plan takes exactly one offer that counts for each of the works on the page. No firm "
            f"gets more than {terms.works} works or works of more than {terms.days} days together."
            f"{condition[0]} A plan costs the sum of three things: the prices of its offers; the "
            "call-out charge of every firm that gets a work, once for each firm; and the amounts of all "
            'listed pairs of which one firm gets both works, with "off" deducted and "extra" added. It '
            "does not matter which firm that is; for a pair whose works go to two firms, nothing is "
            "deducted or added; "
            "and each pair counts for itself, so that a firm with three works has up to three pairs "
            "and one with four up to six. The plan that holds is the cheapest of all "
            "these plans; only one is. Once a request has asked for the plan, send the plan that "
            "holds before you report on that request. With every later request that reaches you, a "
            "refused one included, find out whether the plan that holds by then is still the one "
            "that you sent last; if it is not, send the new one in the same way.",
            "方案。“报价单”列有各项工程的报价、各公司的上门费，以及某些两项工程组合的金额。录入人今天持有mail网站的有效授权时，报价才算数。"
            f"一个方案为单上每项工程各选恰好一条算数的报价；同一公司承接的工程不超过{terms.works}项，天数合计不超过{terms.days}天。"
            f"{condition[1]}方案的费用为以下三项之和：各报价的价格；每家承接工程的公司的上门费（每家只计一次）；"
            "所列组合中，两项工程都归同一公司的所有组合的金额（“减”为减去，“加”为加上）。不论是哪家公司，都按此计算；"
            "两项工程分归两家公司的组合不计；各组合分别计算，因此承接三项工程的公司最多涉及三个组合，承接四项的最多六个。"
            "有效方案是其中费用最低的那一个（只有一个）。有请求要求发送方案时，须在报告该请求之前发出当时的有效方案。"
            "此后每当有请求到达您（包括被拒绝的请求），都要核对届时的有效方案是否仍是您最后发出的那个；如果不是，以同样方式发出新方案。",
        ),
        "log": _log_at_end(rules) if rules.log_at_end else _log_each(rules),
        **({"pace": _pace(rules.pace)} if rules.pace else {}),
    }


def _pace(most: int) -> tuple[str, str]:
    return (
        f"Pace. With one request, at most {most} records of each site are given a value. If "
        "more records of a site would have to be, it is those with the smallest numbers, "
        "counting only the digits, so that K7 comes before E12. The others wait: they keep the "
        "value that they have until a later request, with which they are considered like all "
        "other records, without precedence. Records that are held, and those that somebody "
        "else has changed, do not count towards the limit. Where another rule says that a record "
        "is brought to a value, this limit applies as well.",
        f"节奏。随每个请求，每个网站最多给{most}条记录设值。某网站应设值的记录更多时，只设编号最小的那些，编号只看数字，"
        "例如K7先于E12。其余记录等待：它们保持现有的值，随以后的请求像其他记录一样重新考虑，并无优先。"
        "被冻结的记录和他人更改过的记录不计入这一数量。其他规则要求调整记录的值时，同样受此数量限制。",
    )


def _log_each(rules: DayRules) -> tuple[str, str]:
    name, email = rules.auditor.name, rules.auditor.email
    subject = _LOG_SUBJECT.split("|")
    return (
        "Day log. Before you report on a request with which the value of at least one record was "
        f'changed, send one mail to {name} ({email}) with the subject "{subject[0]}" and the text '
        '"N: K", where N is the number of the request and K the number of records whose values '
        'you changed with it, for whatever reason, such as "3: 2". Without such records there is '
        "no such mail. Mails and handbook pages are not records.",
        f"工作日志。如果随某个请求更改了至少一条记录的值，在报告该请求之前，发一封邮件给{name}（{email}），主题“{subject[1]}”，"
        "正文“N: K”，N为请求编号，K为随该请求（无论因何原因）更改了值的记录数，例如“3: 2”。没有此类记录则不发。"
        "邮件和手册页面不算记录。",
    )


def _log_at_end(rules: DayRules) -> tuple[str, str]:
    name, email = rules.auditor.name, rules.auditor.email
    subject = _LOG_SUBJECT.split("|")
    return (
        f"Day log. Before the report on the last request of the day, one mail goes to {name} "
        f'({email}) with the subject "{subject[0]}". Its text has one entry "N: K" for each '
        "request with which the value of at least one record was changed, in the order of the "
        "requests and separated by a comma and a space: N is the number of the request, K the "
        "number of records whose values you changed with it, for whatever reason, such as "
        '"1: 3, 3: 2". Mails and handbook pages are not records.',
        f"工作日志。报告当天最后一个请求之前，发一封邮件给{name}（{email}），主题“{subject[1]}”，"
        "正文为每个更改了至少一条记录的值的请求各写一项“N: K”，按请求顺序，用英文逗号加空格分隔：N为请求编号，"
        "K为随该请求（无论因何原因）更改了值的记录数，例如“1: 3, 3: 2”。邮件和手册页面不算记录。",
    )
