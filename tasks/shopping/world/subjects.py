"""What clerks call the subjects of conditions, where the label of a page makes no question.

A page says "In the cup: ..."; a clerk asks about the taste.
"""

from collections.abc import Mapping

from hexathlon.tasks.bilingual import Language

__all__ = ["subject_of"]

_SUBJECTS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("backpacks", "comfort"): ("comfort", "背负感受"),
    ("bottles", "carry"): ("way of carrying", "携带方式"),
    ("bottles", "leaks"): ("seal", "密封性"),
    ("bottles", "warmth"): ("time that drinks stay hot", "保温时长"),
    ("bottles", "washing"): ("washing", "清洗方式"),
    ("building_sets", "bond"): ("hold of the parts", "咬合情况"),
    ("coffee_makers", "noise"): ("noise", "声音大小"),
    ("desk_lamps", "flicker"): ("flicker", "频闪"),
    ("face_creams", "feel"): ("feel on the skin", "上脸感受"),
    ("face_creams", "keep"): ("shelf life once opened", "开封后保质期"),
    ("jackets", "rustle"): ("sound while walking", "走动声音"),
    ("office_chairs", "creak"): ("state after half a year", "耐用情况"),
    ("pans", "warp"): ("shape after months", "用久以后的样子"),
    ("pet_beds", "hair"): ("pet hair", "粘毛情况"),
    ("power_banks", "heat"): ("heat while charging", "发热情况"),
    ("running_shoes", "fit"): ("fit", "合脚程度"),
    ("tea", "taste"): ("taste", "口味"),
    ("tents", "berths"): ("capacity", "人数"),
    ("tents", "damp"): ("comfort in the morning", "清晨的舒适度"),
}


def subject_of(category: str, name: str, language: Language) -> str | None:
    """Return a clerk's name for a property; None if the label of the page does.

    >>> subject_of("tea", "taste", "en"), subject_of("tea", "origin", "en")
    ('taste', None)
    """
    found = _SUBJECTS.get((category, name))
    return None if found is None else found[language == "zh"]
