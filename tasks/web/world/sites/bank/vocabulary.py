"""Values of the bank's fields, with their labels."""

from hexathlon.tasks.bilingual import BilingualText, Language

__all__ = [
    "BLOCK_REASONS",
    "CATEGORIES",
    "DECISION_CODES",
    "DISPUTE_REASONS",
    "KINDS",
    "RHYTHMS",
    "SPEEDS",
    "bank_label",
]

KINDS = ("salary", "transfer", "instant", "card", "cash", "fee", "standing", "refund")
RHYTHMS = ("monthly", "quarterly", "yearly")
SPEEDS = ("standard", "instant")
CATEGORIES = ("meal", "hotel", "travel", "supplies", "training")
BLOCK_REASONS = ("lost", "stolen", "damaged", "unused")
DISPUTE_REASONS = ("fee", "twice", "amount", "unknown")
DECISION_CODES = ("late", "receipt", "private", "repeated", "project")

_LABELS = {
    key: BilingualText.parse(text)
    for key, text in {
        "salary": "Salary|工资",
        "transfer": "Transfer|转账",
        "card": "Card payment|刷卡",
        "cash": "Cash machine|取现",
        "fee": "Bank fee|银行收费",
        "standing": "Standing order|定期转账",
        "refund": "Refund|退款",
        "monthly": "monthly|每月",
        "quarterly": "quarterly|每季度",
        "yearly": "yearly|每年",
        "standard": "Standard (next day)|普通（次日）",
        "instant": "Instant|实时",
        "meal": "Meals|餐饮",
        "hotel": "Hotel|住宿",
        "travel": "Travel|交通",
        "supplies": "Supplies|用品",
        "training": "Training|培训",
        "lost": "Lost|遗失",
        "stolen": "Stolen|被盗",
        "damaged": "Damaged|损坏",
        "unused": "No longer used|不再使用",
        "twice": "Charged twice|重复扣款",
        "amount": "Wrong amount|金额有误",
        "unknown": "Not my payment|非本人付款",
        "late": "Handed in too late|提交过晚",
        "receipt": "Receipt missing or wrong|票据缺失或不符",
        "private": "Private expense|私人支出",
        "repeated": "Claimed before|重复报销",
        "project": "Project closed|项目已结束",
        "booked": "Booked|已入账",
        "scheduled": "Scheduled|待执行",
        "rejected": "Rejected|已退回",
        "active": "Active|有效",
        "paused": "Paused|暂停",
        "ended": "Ended|已终止",
        "blocked": "Blocked|已冻结",
        "submitted": "Submitted|已提交",
        "approved": "Approved|已批准",
        "refused": "Refused|已拒绝",
        "open": "open|进行中",
        "closed": "closed|已结束",
        "current": "Current account|活期账户",
        "savings": "Savings account|储蓄账户",
        "joint": "Joint account|联名账户",
        "debit": "Debit|借记卡",
        "credit": "Credit|信用卡",
    }.items()
}


def bank_label(value: str, language: Language) -> str:
    """Return the label of a value; the value itself if it has none."""
    label = _LABELS.get(value)
    return value if label is None else label[language]
