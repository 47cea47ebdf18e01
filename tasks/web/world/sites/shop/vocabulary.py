"""Values of the shop's fields, with their labels."""

from hexathlon.tasks.bilingual import BilingualText, Language

__all__ = [
    "CONDITIONS",
    "METHODS",
    "ORDER_STATES",
    "REFUSALS",
    "RETURN_METHODS",
    "RETURN_REASONS",
    "REVIEW_REASONS",
    "TOPICS",
    "shop_label",
]

METHODS = ("standard", "express", "pickup")
ORDER_STATES = ("unpaid", "placed", "shipped", "delivered", "cancelled")
RETURN_REASONS = ("size", "changed", "wrong", "faulty", "late")
CONDITIONS = ("unopened", "opened", "defective")
RETURN_METHODS = ("dropoff", "collect")
REFUSALS = ("period", "final", "hygiene", "repeated")
REVIEW_REASONS = ("contact", "advert", "abuse", "other_product")
TOPICS = ("charge", "refund", "delivery", "other")

_LABELS = {
    key: BilingualText.parse(text)
    for key, text in {
        "standard": "Standard delivery|标准配送", "express": "Express delivery|加急配送",
        "pickup": "Parcel shop|自提点", "unpaid": "Payment failed|支付失败",
        "placed": "Being prepared|备货中", "shipped": "On its way|运输中",
        "delivered": "Delivered|已送达", "cancelled": "Cancelled|已取消",
        "size": "Wrong size or fit|尺寸不合适", "changed": "Changed my mind|不想要了",
        "wrong": "Not what I ordered|发错商品", "faulty": "Arrived faulty|商品有故障",
        "late": "Arrived too late|送达太迟", "unopened": "Unopened|未拆封",
        "opened": "Opened, complete|已拆封，配件齐全", "defective": "Defective|有缺陷",
        "dropoff": "Bring to a parcel shop|自行送到自提点",
        "collect": "Collection from my address|上门取件",
        "period": "Return period is over|已过退货期", "final": "Final sale|特价商品不退",
        "hygiene": "Opened hygiene goods|已拆封的卫生用品", "repeated": "Requested before|重复申请",
        "contact": "Contact details|含联系方式", "advert": "Advertising|广告",
        "abuse": "Insult|辱骂", "other_product": "About another product|与本商品无关",
        "charge": "Wrong charge|扣款有误", "refund": "Missing refund|退款未到账",
        "delivery": "Delivery|配送", "other": "Something else|其他",
        "requested": "Requested|已申请", "approved": "Approved|已同意",
        "refused": "Refused|已拒绝", "shown": "Visible|显示", "hidden": "Hidden|已隐藏",
        "percent": "percent|百分比", "amount": "amount|金额", "shipping": "shipping|运费",
    }.items()
}  # fmt: skip


def shop_label(value: str, language: Language) -> str:
    """Return the label of a value; the value itself if it has none."""
    label = _LABELS.get(value)
    return value if label is None else label[language]
