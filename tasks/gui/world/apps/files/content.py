"""Folders and files of a new phone."""

from hexathlon.tasks.gui.world.phone.app import ContentDraws

__all__ = ["seed_files"]

_FOLDERS = (
    "Projects|项目", "Taxes|税务", "Insurance|保险", "Recipes|菜谱", "House|房子", "Car|汽车",
    "School|学校", "Choir|合唱团", "Travel|旅行", "Old work|旧工作", "Health|健康", "Club|社团",
)  # fmt: skip
_STEMS = (
    "Contract|合同", "Offer|报价", "Invoice|发票", "Minutes|会议纪要", "Plan|计划", "Budget|预算",
    "Checklist|清单", "Letter|信函", "Manual|说明书", "Report|报告", "Form|表格", "Summary|摘要",
    "Certificate|证书", "Itinerary|行程", "Statement|对账单", "Guest list|来宾名单",
)  # fmt: skip
_ABOUT = ("boiler|锅炉", "garage|车库", "kitchen|厨房", "bike|自行车", "garden|花园", "roof|屋顶",
          "course|课程", "flat|公寓")  # fmt: skip
_LINES = (
    "Reference {n}|编号{n}", "Valid for {n} days|有效期{n}天", "Contact: {p}|联系人：{p}",
    "Agreed price {n}.00|议定价格{n}.00", "Room {n}, second floor|二楼{n}室",
    "To be signed by {p}|由{p}签字", "Version {n}|版本{n}", "Customer number {n}|客户编号{n}",
)  # fmt: skip
_KINDS = (("pdf", "doc"), ("docx", "doc"), ("xlsx", "sheet"), ("txt", "doc"), ("jpg", "image"),
          ("zip", "archive"), ("mp3", "audio"))  # fmt: skip


def seed_files(draws: ContentDraws) -> None:
    """Draw folders, some inside others, and files with similar names."""
    side = 1 if draws.language == "zh" else 0
    for en, zh in (("Documents", "文档"), ("Downloads", "下载")):
        draws.add("folders", name=draws.say(en, zh), parent=0)
    tops = draws.sample(draws.own(_FOLDERS), 3)
    for name in tops:
        draws.add("folders", name=name.split("|")[side], parent=draws.pick((0, 1)))
    for parent in range(3, 3 + len(tops)):
        for year in draws.sample((2023, 2024, 2025), draws.between(0, min(2, draws.scale))):
            draws.add("folders", name=str(year), parent=parent)
    folders = [row["id"] for row in draws.rows("folders")]
    people = draws.rows("contacts.contacts")
    stems = draws.own(_STEMS)
    seen: set[tuple[int, str]] = set()
    for _ in range(20 + 18 * draws.scale):
        ending, kind = draws.pick(_KINDS)
        stem = draws.pick(stems).split("|")[side]
        about = draws.pick(_ABOUT).split("|")[side]
        tail = draws.pick(("", " v2", draws.say(" final", "（终稿）"), f" {draws.between(2, 12)}"))
        words = f"{about}{stem}" if side else f"{stem} {about}"
        name = f"{words}{tail}.{ending}"
        folder = draws.pick(folders)
        if (folder, name) in seen:
            continue
        seen.add((folder, name))
        lines = [draws.pick(_LINES).split("|")[side].format(
            n=draws.between(100, 9999), p=draws.pick(people)["name"])
            for _ in range(draws.between(2, 4))] if kind in ("doc", "sheet") else []  # fmt: skip
        draws.add("files", name=name, folder=folder, kind=kind, size=draws.between(4, 9800),
                  text="\n".join(lines), starred=draws.chance(0.1), trashed=draws.chance(0.06),
                  changed=draws.day(-draws.between(0, 200)))  # fmt: skip
    for name, value in (("sort", "name"), ("sizes", True)):
        draws.add("prefs", id=name, value=value)
