"""WebShop's reward by its published formula, and a strict purchase beside it.

The formula (WebShop, section 3 and its `goal` module): attribute, option and price hits over
|A| + |O| + 1, times a type factor. Its fuzzy threshold of 85 and its use of the description give
credit to wrong goods; the strict form requires the goal's category path, exact attributes, exact
options, and the price. WebShop extracts the nouns of the two names with a language model of spaCy;
here every word counts except function words and numbers.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.evaluators.shopping.fuzzy import token_set_ratio
from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import Messages
from hexathlon.tasks.task import Task

__all__ = ["COLOURS", "normalise_colour", "title_score", "webshop", "webshop_reward",
           "webshop_strict"]  # fmt: skip

_THRESHOLD = 85
_WORD = re.compile(r"[^\W\d_][\w.'-]*")
_FUNCTION_WORDS = frozenset(
    "a an the of for with and or to in on at by from as is are be it its this that your our you "
    "no not non up all more less very new".split()
)

COLOURS = tuple(
    "alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown "
    "burgundy camel camo caramel champagne charcoal cheetah chestnut chocolate christmas coffee "
    "cognac copper coral cranberry cream crystal dark denim eggplant elephant espresso fuchsia "
    "gold granite grape graphite grass gray green grey heather indigo ivory ivy khaki lavender "
    "lemon leopard light lilac lime magenta maroon mauve merlot midnight mint mocha multicolor "
    "mushroom mustard natural navy nude olive orange peach pewter pink plum purple rainbow red "
    "rose royal rust sand sapphire seashell silver skull slate steel stone stonewash sunflower "
    "tan taupe teal tiger turquoise violet walnut wheat white wine yellow".split()
)
"""WebShop's colour words; the first one that occurs in an option represents the whole option."""


def normalise_colour(text: str) -> str:
    """Return the first colour word inside a text, or the text."""
    return next((colour for colour in COLOURS if colour in text), text)


def webshop(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Return WebShop's reward of the purchase; 0 without one."""
    bought = final_state.get("bought")
    if not isinstance(bought, Mapping):
        return Verdict(score=0.0)
    reward, terms = webshop_reward(bought, params["goal"])
    return Verdict(score=reward, partial=reward, terms=terms)


def webshop_strict(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Require category path, attributes, options and price, each exactly; and an opened page."""
    goal, bought = params["goal"], final_state.get("bought")
    if not isinstance(bought, Mapping):
        return Verdict(score=0.0, terms={"bought": 0.0})
    listed = {str(name).lower() for name in bought["Attributes"]}
    chosen = sorted(_folded(value) for value in bought["chosen"].values())
    requested = sorted(_folded(value) for value in goal["goal_options"])
    terms = {
        "bought": True,
        "category": bought["product_category"] == goal["product_category"],
        "attribute": all(
            name.lower() in listed or bought["asin"] == goal["asin"] for name in goal["attributes"]
        ),
        "option": all(requested.count(value) <= chosen.count(value) for value in requested),
        "price": bought["price"] <= goal["price_upper"],
        "seen": bought["asin"] in final_state.get("opened", ()),
    }
    values = {name: float(held) for name, held in terms.items()}
    mean = sum(values.values()) / len(values)
    return Verdict(score=float(all(terms.values())), terms=values, partial=mean)


def webshop_reward(
    bought: Mapping[str, Any], goal: Mapping[str, Any]
) -> tuple[float, dict[str, float]]:
    """Return WebShop's reward and its parts."""
    attributes, options = goal["attributes"], goal["goal_options"]
    attribute_hits = sum(_has_attribute(bought, name) for name in attributes)
    values = [normalise_colour(value) for value in bought["chosen"].values()]
    option_hits = sum(_chosen(normalise_colour(option), values) for option in options)
    price = float(bought["price"] <= goal["price_upper"])
    kind = _type_factor(bought, goal)
    total = kind * (attribute_hits + option_hits + price) / (len(attributes) + len(options) + 1)
    terms = {
        "type": kind,
        "attribute": attribute_hits / len(attributes) if attributes else 1.0,
        "option": option_hits / len(options) if options else 1.0,
        "price": price,
    }
    return total, terms


def title_score(bought: str, wanted: str) -> float:
    """Return the share of the wanted name's nouns in the bought name; 0.2 if there are none."""
    nouns = _nouns(wanted)
    return len(set(_nouns(bought)) & set(nouns)) / len(nouns) if nouns else 0.2


def _type_factor(bought: Mapping[str, Any], goal: Mapping[str, Any]) -> float:
    score = title_score(bought["name"], goal["name"])
    path, other = (
        {part.strip() for part in record["product_category"].split("›")}
        for record in (bought, goal)
    )
    if score == 0:
        return 0.0
    if score < 0.1:
        return 0.1
    alike = bought["query"] == goal["query"] or len(path & other) >= 2 or score > 0.2
    return 1.0 if alike else 0.5


def _has_attribute(bought: Mapping[str, Any], wanted: str) -> bool:
    if any(token_set_ratio(listed, wanted) > _THRESHOLD for listed in bought["Attributes"]):
        return True
    bullets = " ".join(map(str, bought["BulletPoints"]))
    texts = (bought["Title"], bullets, bought["Description"])
    return any(wanted in text.lower() for text in texts)


def _chosen(wanted: str, values: Sequence[str]) -> bool:
    return any(token_set_ratio(value, wanted) > _THRESHOLD for value in values)


def _nouns(name: str) -> list[str]:
    words = _WORD.findall(name.lower())
    return [word for word in words if word not in _FUNCTION_WORDS]


def _folded(value: str) -> str:
    return value.strip().replace("/", " | ").lower()
