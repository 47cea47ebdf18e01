"""Values of the forum's fields, with their labels."""

from hexathlon.tasks.bilingual import BilingualText, Language

__all__ = ["BREACHES", "KINDS", "RULES", "STANDINGS", "STATES", "label_of"]

RULES = ("spam", "insult", "private", "trade", "topic")
KINDS = ("warning", "mute", "ban")
STANDINGS = ("member", "regular", "moderator")
STATES = ("open", "upheld", "dismissed")

_LABELS = {
    key: BilingualText.parse(text)
    for key, text in {
        "spam": "Spam|垃圾广告", "insult": "Insults|辱骂", "private": "Personal data|泄露个人信息",
        "trade": "Trading|交易", "topic": "Off topic|跑题",
        "warning": "Warning|警告", "mute": "Mute|禁言", "ban": "Ban|封禁",
        "member": "Member|成员", "regular": "Regular|常驻成员", "moderator": "Moderator|版主",
        "open": "Open|待处理", "upheld": "Upheld|成立", "dismissed": "Dismissed|驳回",
        "active": "Stands|有效", "overturned": "Overturned|已撤销",
    }.items()
}  # fmt: skip

BREACHES: dict[str, tuple[BilingualText, ...]] = {
    rule: tuple(BilingualText.parse(text) for text in texts)
    for rule, texts in {
        "spam": ("Lamp oil at half price, today only, order at "
                 "www.lamp-oil-deals.test!|灯油半价，仅限今日，快到www.lamp-oil-deals.test下单！",
                 "Earn from home while you sleep – see www.easy-tide-income.test, first week "
                 "free.|在家躺着赚钱，详见www.easy-tide-income.test，首周免费。",
                 "Best hotel vouchers of the coast: www.coast-vouchers.test. Share this "
                 "link!|海岸最优惠酒店券：www.coast-vouchers.test，快转发！"),
        "insult": ("Only a complete idiot could write such rubbish. Go "
                   "home.|只有彻头彻尾的白痴才写得出这种垃圾，滚回家吧。",
                   "You are a liar and a fool, and everybody here knows it.|你是个骗子加蠢货，"
                   "这里人人都知道。",
                   "Shut up, you miserable windbag.|闭嘴吧，你这可悲的吹牛大王。"),
        "private": ("For everybody who wants to complain: she lives at 14 Mill Lane, phone 0555 "
                    "2094.|想投诉的各位：她住在磨坊巷14号，电话0555 2094。",
                    "The man in the photo is my neighbour, his number plate is KX 4471, house "
                    "number 9.|照片里是我邻居，车牌KX 4471，门牌9号。"),
        "trade": ("Selling my old oars, 40 for the pair, collection only. Write to "
                  "me.|出售旧船桨，一对40元，自提，私信我。",
                  "Two season tickets to give away for 60 each, first come, first "
                  "served.|两张季票转让，每张60元，先到先得。"),
        "topic": ("Has anybody seen last night's football? What a second "
                  "half!|昨晚的球赛有人看了吗？下半场太精彩了！",
                  "Which phone should I buy next? Mine loses power by "
                  "noon.|下一部手机买什么好？我的中午就没电了。"),
    }.items()
}  # fmt: skip
"""Texts that plainly break a rule."""


def label_of(value: str, language: Language) -> str:
    """Return the label of a value; the value itself if it has none."""
    label = _LABELS.get(value)
    return value if label is None else label[language]
