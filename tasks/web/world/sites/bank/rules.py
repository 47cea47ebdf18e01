"""The bank's fees and the company's expense policy, with the numbers of one world."""

from collections.abc import Mapping

import numpy as np

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["add_rules", "draw_settings"]

_Page = tuple[str, tuple[str, ...]]


def draw_settings(rng: np.random.Generator) -> dict[str, int]:
    """Draw the numbers; amounts in cents, rates in hundredths of a percent."""
    return {
        "instant_fee": int(rng.choice((50, 80, 120))),
        "instant_free": int(rng.choice((1, 2, 3))),
        "month_fee": int(rng.choice((390, 490, 690))),
        "month_salary": int(rng.choice((150_000, 200_000, 250_000))),
        "cash_fee": int(rng.choice((290, 350, 495))),
        "cash_free": int(rng.choice((2, 3, 4))),
        "abroad_rate": int(rng.choice((150, 175, 200))),
        "abroad_least": int(rng.choice((75, 100, 150))),
        "savings_month": int(rng.choice((100_000, 200_000))),
        "meal_limit": int(rng.choice((2800, 3500, 4200))),
        "hotel_limit": int(rng.choice((9500, 11000, 13000))),
        "hotel_dear": int(rng.choice((15000, 17500))),
        "receipt_over": int(rng.choice((1500, 2000, 2500))),
        "claim_days": int(rng.choice((45, 60, 90))),
        "supplies_over": int(rng.choice((15000, 20000, 25000))),
    }


def add_rules(
    store: SiteStore, settings: Mapping[str, int], language: Language, dear: str, since: str
) -> None:
    """Write the settings and the pages that state them.

    Args:
        store: The bank's store.
        settings: Numbers by name.
        language: Language of the pages.
        dear: City with the higher limit for hotels.
        since: Date from which the pages are in force.
    """
    store.insert_many("_settings", ("name", "value"), settings.items())
    euro = {name: f"€{value / 100:,.2f}" for name, value in settings.items()}
    write = _chinese if language == "zh" else _english
    for key, (title, body) in write(settings, euro, dear).items():
        store.insert("rules", key=key, title=title, body="\n".join(body), since=since)


def _english(n: Mapping[str, int], euro: Mapping[str, str], dear: str) -> dict[str, _Page]:
    rate = f"{n['abroad_rate'] / 100:.2f}"
    return {
        "fees": (
            "Fees",
            (
                "All fees are charged to the account on the day after the service, one booking "
                "each. The "
                "purpose names the booking that a fee belongs to.",
                f"1. Monthly fee: {euro['month_fee']}, charged on the first day of a month for "
                "the month "
                f"before. It is waived if salaries of at least {euro['month_salary']} in all "
                "came in on the "
                "account in that month.",
                f"2. Instant transfers: {euro['instant_fee']} each. The first "
                f"{n['instant_free']} of a "
                "calendar month on an account are free.",
                f"3. Cash machines: {euro['cash_fee']} each. The first {n['cash_free']} "
                "withdrawals of a "
                "calendar month on an account are free. Machines of Alder Bank are always free "
                "and do not "
                "count.",
                f"4. Card payments abroad: {rate} percent of the amount, rounded down to the "
                "cent, at least "
                f"{euro['abroad_least']}. Payments to hotels abroad cost half the rate with the "
                "same least "
                "fee.",
                "5. A fee that this page does not provide for, or the part of a fee above it, is "
                "given back "
                "when you dispute the booking with the reason Bank fee.",
            ),
        ),
        "transfers": (
            "Transfers",
            (
                "Standard transfers are executed at once and reach the payee the next day; instant "
                "transfers reach the payee at once and cost a fee, see Fees. With a later date a "
                "transfer "
                "waits until then.",
                f"From savings accounts at most {euro['savings_month']} may leave per calendar "
                "month, all "
                "bookings of the month counted.",
                "Payees that we blocked after a warning cannot receive transfers.",
                "A payee's bank may send a transfer back a few moments later, for example "
                "because the "
                "account was closed. You see this in the list of bookings and in a notice.",
                "Standing orders under contract cannot be changed or ended before the day shown.",
            ),
        ),
        "expenses": (
            "Expense claims",
            (
                "1. One claim per receipt. The claim carries the receipt as a file; below "
                f"{euro['receipt_over']} no receipt is needed.",
                f"2. A claim must be handed in within {n['claim_days']} days of the day on the "
                "receipt; the "
                "last day counts in full.",
                f"3. Meals: at most {euro['meal_limit']} per person at the table, guests "
                "included. Alcohol "
                "is private and taken off first.",
                f"4. Hotel: at most {euro['hotel_limit']} per night, in {dear} "
                f"{euro['hotel_dear']}. "
                "Minibar and films are private and taken off first.",
                "5. Travel is paid in full; first class only at the price of second class as "
                "printed on "
                "the receipt.",
                f"6. Supplies: what costs more than {euro['supplies_over']} in one receipt needs "
                "a project "
                "of the category supplies.",
                "7. The project must have been open on the day of the receipt's hand-in. Nobody "
                "is paid "
                "twice for one receipt: the same seller, day and amount mean the same receipt, "
                "whoever "
                "hands it in.",
            ),
        ),
        "approvals": (
            "Approvals",
            (
                "Approve a claim with the amount that the rules for expense claims allow, which "
                "may be "
                "less than claimed. Refuse it only if nothing can be paid.",
                "Reasons to refuse, the first that applies: handed in too late; receipt missing "
                "or not "
                "matching the claim in day or amount; private expense; claimed before; project "
                "closed.",
                "Your own claims are left for somebody else.",
            ),
        ),
    }


def _chinese(n: Mapping[str, int], euro: Mapping[str, str], dear: str) -> dict[str, _Page]:
    rate = f"{n['abroad_rate'] / 100:.2f}"
    return {
        "fees": (
            "收费标准",
            (
                "所有费用在服务次日逐笔从账户扣除，用途中注明对应的交易。",
                f"1. 月费：{euro['month_fee']}，每月第一天收取上个月的。该月工资入账合计不少于"
                f"{euro['month_salary']}的免收。",
                f"2. 实时转账：每笔{euro['instant_fee']}，"
                f"每个账户每个自然月前{n['instant_free']}笔免费。",
                f"3. 取现：每笔{euro['cash_fee']}，每个账户每个自然月前{n['cash_free']}笔免费。"
                "桤木银行的取款机始终免费，也不计入次数。",
                f"4. 境外刷卡：金额的{rate}%，向下取整到分，最低{euro['abroad_least']}。"
                "境外酒店按一半费率收取，最低额不变。",
                "5. 本页没有规定的费用，或超出规定的部分，以“银行收费”为由对该笔提出异议即可退还。",
            ),
        ),
        "transfers": (
            "转账",
            (
                "普通转账即时执行，次日到账；实时转账立即到账并收费，见收费标准。"
                "指定日期的转账到期执行。",
                f"储蓄账户每个自然月最多转出{euro['savings_month']}，当月所有交易合并计算。",
                "因风险提示被我行冻结的收款人不能收款。",
                "收款行可能稍后退回转账，例如账户已销户。交易列表和通知中会显示。",
                "合同期内的定期转账在所示日期之前不能更改或终止。",
            ),
        ),
        "expenses": (
            "报销规定",
            (
                f"1. 一张票据一个申请，票据作为文件附上；低于{euro['receipt_over']}的不需要票据。",
                f"2. 须在票据日期后{n['claim_days']}天内提交，最后一天全天有效。",
                f"3. 餐饮：按在座人数（含客人）每人最多{euro['meal_limit']}。酒水属私人支出，"
                "先行扣除。",
                f"4. 住宿：每晚最多{euro['hotel_limit']}，{dear}为{euro['hotel_dear']}。"
                "迷你吧和点播影片属私人支出，先行扣除。",
                "5. 交通费全额报销；一等座只按票据上印明的二等座价格报销。",
                f"6. 用品：单张票据超过{euro['supplies_over']}的须归入用品类项目。",
                "7. 提交当天项目须未结束。同一张票据不重复支付：商家、"
                "日期和金额都相同即视为同一张，不论由谁提交。",
            ),
        ),
        "approvals": (
            "审批规定",
            (
                "按报销规定允许的金额批准，可能低于申请金额。只有完全不能支付时才拒绝。",
                "拒绝理由取最先符合的一个：提交过晚；票据缺失，或日期、金额与申请不符；私人支出；"
                "重复报销；项目已结束。",
                "自己的申请留给别人处理。",
            ),
        ),
    }
