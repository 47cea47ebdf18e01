"""Values of the editorial system's fields, with their labels."""

from hexathlon.tasks.bilingual import BilingualText, Language

__all__ = ["DESKS", "ERRATA", "LICENCES", "ROLES", "STATUSES", "label_of"]

STATUSES = ("draft", "review", "scheduled", "published", "archived")
DESKS = ("news", "culture", "coast", "sport", "opinion")
ROLES = ("writer", "editor", "chief", "producer")
LICENCES = ("own", "cc-by", "cc-by-nc", "agency")
ERRATA = ("correction", "clarification")

_LABELS = {
    key: BilingualText.parse(text)
    for key, text in {
        "draft": "Draft|草稿", "review": "In review|审稿中", "scheduled": "Scheduled|已排期",
        "published": "Published|已发布", "archived": "Archived|已归档",
        "news": "News|新闻", "culture": "Culture|文化", "coast": "Coast & nature|海岸与自然",
        "sport": "Sport|体育", "opinion": "Opinion|观点",
        "writer": "Writer|记者", "editor": "Editor|编辑", "chief": "Editor-in-chief|主编",
        "producer": "Producer|制作人",
        "own": "Own picture|自有图片", "cc-by": "CC BY|CC BY", "cc-by-nc": "CC BY-NC|CC BY-NC",
        "agency": "Agency|图片社",
        "correction": "Correction|更正", "clarification": "Clarification|说明",
    }.items()
}  # fmt: skip


def label_of(value: str, language: Language) -> str:
    """Return the label of a value; the value itself if it has none."""
    label = _LABELS.get(value)
    return value if label is None else label[language]
