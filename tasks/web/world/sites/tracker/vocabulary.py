"""Values of the tracker's fields, with their labels."""

from hexathlon.tasks.bilingual import BilingualText, Language

__all__ = ["COMPONENTS", "PRIORITIES", "RESOLUTIONS", "STATUSES", "label_of"]

STATUSES = ("open", "progress", "review", "testing", "done", "rejected")
RESOLUTIONS = ("done", "rejected")
PRIORITIES = ("p1", "p2", "p3", "p4")
COMPONENTS = ("api", "billing", "mobile", "search", "login", "export", "charts", "sync")

_LABELS = {
    key: BilingualText.parse(text)
    for key, text in {
        "open": "Open|未处理", "progress": "In progress|进行中", "review": "In review|评审中",
        "testing": "Testing|测试中", "done": "Done|已完成", "rejected": "Rejected|已拒绝",
        "p1": "Critical|紧急", "p2": "High|高", "p3": "Normal|普通", "p4": "Low|低",
        "api": "API|接口", "billing": "Billing|计费", "mobile": "Mobile app|移动端",
        "search": "Search|搜索", "login": "Sign-in|登录", "export": "Export|导出",
        "charts": "Charts|图表", "sync": "Synchronisation|同步",
        "blocked_by": "blocked by|被阻塞于", "duplicates": "duplicates|重复于",
        "relates": "relates to|关联",
    }.items()
}  # fmt: skip


def label_of(value: str, language: Language) -> str:
    """Return the label of a value; the value itself if it has none."""
    label = _LABELS.get(value)
    return value if label is None else label[language]
