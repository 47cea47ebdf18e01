"""Initial content of the tasks app: lists, look-alike tasks and their steps."""

from hexathlon.tasks.gui.world.phone.app import ContentDraws

__all__ = ["draw_chores"]

_LISTS = (
    "Household|家务", "Office|办公室", "Garden|花园", "Club|社团", "Renovation|装修",
    "Journey|旅行", "Kids|孩子", "Paperwork|文书", "Party|聚会", "Workshop|工作坊",
    "Allotment|菜园", "Study|学习", "Charity|慈善", "Health|健康", "Car|汽车", "Archive|档案",
)  # fmt: skip
_ACTIONS = (
    "Order {t}|订购{t}", "Return {t}|退还{t}", "Clean {t}|清洁{t}",
    "Compare prices for {t}|比较{t}的价格",
    "Ask about {t}|询问{t}", "Sort {t}|整理{t}", "Repair {t}|修理{t}", "Pick up {t}|取{t}",
    "Photograph {t}|拍摄{t}", "Insure {t}|给{t}投保", "Measure {t}|测量{t}",
    "Label {t}|给{t}贴标签",
)  # fmt: skip
_THINGS = (
    "the curtains|窗帘", "the ladder|梯子", "the seed trays|育苗盘", "the projector|投影仪",
    "the name badges|胸牌", "the bicycle rack|自行车架", "the spare tyres|备胎",
    "the guest mattress|客用床垫", "the water filter|滤水器", "the folding chairs|折叠椅",
    "the tax folder|税务文件夹", "the fire extinguisher|灭火器", "the piano stool|琴凳",
    "the tent pegs|帐篷钉", "the moving boxes|搬家箱", "the tool box|工具箱",
    "the fairy lights|彩灯", "the first-aid kit|急救箱", "the door handles|门把手",
    "the smoke detectors|烟雾报警器", "the picture frames|相框", "the roof box|车顶箱",
    "the lawn mower|割草机", "the coffee urn|咖啡桶",
)  # fmt: skip
_STEPS = (
    "Find the receipt|找到收据", "Call the shop|给商店打电话", "Write down the size|记下尺寸",
    "Ask the neighbour|问邻居", "Clear the cellar|清理地下室", "Book the van|订货车",
    "Check the voucher|核对代金券", "Take a photo|拍张照片",
)  # fmt: skip
_NOTES = (
    "Model {n}|型号{n}", "At most {m} euros|最多{m}元", "Needs {m} screws|需要{m}颗螺丝",
    "Reference {n}|编号{n}", "Shelf {m} in the cellar|地下室{m}号架",
)  # fmt: skip


def draw_chores(draws: ContentDraws) -> None:
    """Fill the tables of lists, tasks and steps."""
    side = 1 if draws.language == "zh" else 0
    lists = [
        draws.add("lists", name=text.split("|")[side], place=place)
        for place, text in enumerate(draws.sample(draws.own(_LISTS), 4), 1)
    ]
    titles: set[str] = set()
    things = draws.sample(draws.own(_THINGS), 6)
    for _ in range(20 + 22 * draws.scale):
        thing = draws.pick(things).split("|")[side]
        title = draws.pick(_ACTIONS).split("|")[side].format(t=thing)
        if title in titles:
            title = f"{title} ({draws.between(2, 9)})"
        if title in titles:
            continue
        titles.add(title)
        note = draws.pick(_NOTES).split("|")[side]
        note = note.format(n=draws.between(1000, 9999), m=draws.between(4, 60))
        due = draws.day(draws.between(-6, 28)) if draws.chance(0.6) else ""
        key = draws.add(
            "tasks", list=draws.pick(lists), title=title,
            due=due,
            time=f"{draws.between(8, 20):02d}:{draws.pick((0, 15, 30)):02d}"
            if due and draws.chance(0.3) else "",
            priority=draws.pick(("", "", "low", "high")), flagged=draws.chance(0.15),
            done=draws.chance(0.2), note=note if draws.chance(0.3) else "",
            changed=draws.stamp(-draws.between(1, 30), 9, 5),
        )  # fmt: skip
        if draws.chance(0.2):
            for text in draws.sample(_STEPS, draws.between(2, 3)):
                draws.add("steps", task=key, title=text.split("|")[side], done=draws.chance(0.3))
