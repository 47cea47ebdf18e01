"""Initial content of the mail app: personal emails, and firms' notices with look-alike numbers."""

from collections.abc import Sequence

from hexathlon.tasks.gui.world.phone.app import ContentDraws

__all__ = ["draw_mails"]

_FIRMS = (
    "Aspen Rail|白杨铁路", "Bluebell Parcel|蓝铃快递", "Cedar Energy|雪松能源",
    "Dunlin Hotels|滨鹬酒店", "Elder Bank|接骨木银行", "Finch Books|雀鸟书店",
    "Gorse Insurance|金雀保险", "Hazel Clinic|榛树诊所", "Ibis Airways|朱鹭航空",
    "Jackdaw Tickets|寒鸦票务", "Kestrel Phones|红隼通信", "Larch Furniture|落叶松家具",
    "Marlin Water|马林水务", "Nettle Garden|荨麻园艺", "Osprey Cycles|鱼鹰单车",
    "Plover Theatre|千鸟剧院",
)  # fmt: skip
_NOTICES = (
    "Your order {n} has been sent|您的订单{n}已发货", "Invoice {n}|发票{n}",
    "Booking {n} confirmed|预订{n}已确认", "Reminder: invoice {n} is due|提醒：发票{n}即将到期",
    "Ticket {n} for your journey|您的行程车票{n}", "We received your request {n}|已收到您的申请{n}",
)  # fmt: skip
_NOTICE_LINES = (
    "The amount is {a}.|金额为{a}元。", "It arrives at the counter on {d}.|{d}送达柜台。",
    "Please keep the reference {n}.|请保留编号{n}。",
    "Changes are possible until {d}.|{d}之前可以更改。",
    "You can reply to this mail if something is wrong.|如有问题，可直接回复此邮件。",
    "Thank you for being our customer.|感谢您的惠顾。",
)  # fmt: skip
_TOPICS = (
    "Minutes of the committee|委员会会议记录", "Keys for the workshop|工作室的钥匙",
    "Floor plan, second version|平面图第二版", "Costs of the summer party|夏日聚会的费用",
    "Questions about the lease|关于租约的问题", "Photos from the lake|湖边的照片",
    "Programme of the concert|音乐会节目单", "List of missing books|缺失图书清单",
    "Travel to the conference|参会行程", "Paint samples|油漆样品",
    "Rota for the stall|摊位值班表", "Draft of the report|报告草稿",
    "Fence between our gardens|我们花园间的栅栏", "Rehearsal room|排练室",
    "New supplier for flour|新的面粉供应商", "Results of the survey|问卷结果",
    "Spare bed for guests|客人用的备用床", "Broken printer|打印机故障",
    "Menu for the wedding|婚礼菜单", "Parking at the office|办公室停车",
)  # fmt: skip
_LINES = (
    "Could you look at page {m} before we print it?|印刷之前能看一下第{m}页吗？",
    "I have put {m} of them aside for you.|我给您留了{m}个。",
    "The room number is {n}.|房间号是{n}。", "We would need {m} volunteers.|我们需要{m}名志愿者。",
    "I will be away on {d}, any other day is fine.|{d}我不在，其他日子都可以。",
    "It comes to {a} altogether.|总共{a}元。", "Let me know what you think.|请告诉我您的想法。",
    "The second one is better, in my view.|我觉得第二个更好。",
    "Nobody has answered so far.|目前还没有人回复。",
    "I enclose the list once more.|再次附上清单。",
    "Please do not pass this on yet.|请先不要转给别人。",
)  # fmt: skip
_FILES = ("plan-{m}.pdf", "list-{m}.csv", "photo-{n}.jpg", "minutes-{m}.odt", "invoice-{n}.pdf")
_SPAM = (
    "You have won a voucher|恭喜您获得代金券", "Cheap watches, today only|手表特价，仅限今天",
    "Your account will be closed|您的账户即将关闭", "Lose weight in {m} days|{m}天瘦身",
)  # fmt: skip


def draw_mails(draws: ContentDraws) -> None:
    """Fill the table of emails, the newest last."""
    people = [row for row in draws.rows("contacts.contacts") if row["email"]]
    people = draws.sample(people, 6 + 4 * draws.scale)
    count = 24 + 30 * draws.scale
    for number in range(count):
        day = -((count - number) * 45 // count) - 1
        hour, minute = 6 + (number * 7 + draws.between(0, 2)) % 16, draws.between(0, 59)
        kind = draws.unit()
        if kind < 0.06:
            _add(draws, "spam", (f"Prize {draws.between(10, 99)}", "offers@lucky-win.test"), _SPAM,
                 _LINES[6:7], day, hour, minute)  # fmt: skip
        elif kind < 0.45 or not people:
            firm = draws.pick(draws.own(_FIRMS))
            english = firm.partition("|")[0].lower().replace(" ", "-")
            name = firm.split("|")[1 if draws.language == "zh" else 0]
            _add(draws, "archive" if draws.chance(0.2) else "inbox",
                 (name, f"service@{english}.test"), _NOTICES, _NOTICE_LINES, day, hour, minute,
                 file=0.2)  # fmt: skip
        else:
            person = draws.pick(people)
            folder = draws.pick(("inbox", "inbox", "inbox", "sent", "archive"))
            _add(draws, folder, (person["name"], person["email"]), draws.own(_TOPICS), _LINES,
                 day, hour, minute, file=0.15)  # fmt: skip


def _add(
    draws: ContentDraws, folder: str, who: tuple[str, str], subjects: Sequence[str],
    lines: Sequence[str], day: int, hour: int, minute: int, file: float = 0.0,
) -> None:  # fmt: skip
    side = 1 if draws.language == "zh" else 0
    values = {"n": draws.between(1000, 9999), "m": draws.between(2, 40),
              "d": _day(draws, draws.day(draws.between(2, 25))),
              "a": f"{draws.between(8, 480)}.{draws.between(0, 9)}0"}  # fmt: skip
    subject = draws.pick(subjects).split("|")[side].format(**values)
    if folder != "sent" and draws.chance(0.2) and "{" not in subject and file == 0.15:
        subject = f"Re: {subject}"
    chosen = draws.sample(lines, draws.between(1, 3))
    body = "\n".join(line.split("|")[side].format(**values) for line in chosen)
    name, address = who
    attached = draws.pick(_FILES).format(**values) if draws.chance(file) else ""
    sent = folder == "sent"
    draws.add(
        "mails", folder=folder, name="" if sent else name, address="" if sent else address,
        to=address if sent else "", cc="", subject=subject, body=body, file=attached,
        time=draws.stamp(day, hour, minute), unread=folder == "inbox" and draws.chance(0.3),
        starred=draws.chance(0.1),
    )  # fmt: skip


def _day(draws: ContentDraws, day: str) -> str:
    month, number = int(day[5:7]), int(day[8:])
    return draws.say(f"{day[5:7]}/{day[8:]}", f"{month}月{number}日")
