"""Purchases in dialogue: the customer reveals conditions, changes their mind, rejects offers.

The agenda contains phrases; `wishes` beside it defines their meaning. Nothing may be ordered that
the customer has not accepted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue import Constraint, Product
from hexathlon.tasks.shopping.scene import ShoppingScene, WantedVariant
from hexathlon.tasks.shopping.templates.draft import (
    Near,
    OrderLine,
    ShoppingDraft,
    near_of,
    sourced,
)
from hexathlon.tasks.shopping.templates.personal import Fork, fork_of, profile_of
from hexathlon.tasks.shopping.templates.words import articled, aversion, goods_text, wish_text
from hexathlon.tasks.shopping.world.facts import category_of

__all__ = ["DIALOGUES"]


class _Talk:
    """Builds an agenda slot by slot."""

    def __init__(self, scene: ShoppingScene, category: str) -> None:
        self.scene = scene
        self.category = category
        self.slots: dict[str, dict[str, Any]] = {}
        self.wishes: dict[str, dict[str, list[dict[str, Any]]]] = {}
        self.asks: list[str] = []
        self._volunteered = 0

    def tell(
        self,
        constraint: Constraint,
        *,
        then: Constraint | None = None,
        volunteer: bool = False,
        words: str | None = None,
    ) -> bool:
        """Add a slot for a condition; False if another slot has the same name."""
        label = self.scene.slot(constraint, self.category)
        # "days" alone does not say which days are meant.
        name = constraint.kind if constraint.kind in _SYNONYMS else constraint.name
        if name in self.slots or any(label == slot["label"] for slot in self.slots.values()):
            return False
        phrase = words or wish_text(self.scene, constraint, self.category)
        meanings = {phrase: [constraint.as_json()]}
        slot: dict[str, Any] = {
            "value": phrase,
            "say": _sayings(self.scene, self._volunteered if volunteer else None),
            "ask": _asks(label, name, self.scene.language),
            "volunteer": volunteer,
            "label": label,
        }
        if then is not None:
            changed = wish_text(self.scene, then, self.category)
            if changed == phrase:
                return False
            slot["change_to"] = changed
            meanings[changed] = [then.as_json()]
        self.slots[name], self.wishes[name] = slot, meanings
        self._volunteered += volunteer
        if not volunteer:
            self.asks.append(
                self.scene.say(
                    f"Do you have any preference for the {label}?", f"请问{label}有什么要求吗？"
                )
            )
        return True

    def user(self, goal: str) -> dict[str, Any]:
        """Return the customer's complete script."""
        agenda = {
            "goal": goal,
            "slots": self.slots,
            "patience": 4,
            "slots_per_turn": 2,
            "style": "plain",
            "language": self.scene.language,
        }
        return {"agenda": agenda, "wishes": self.wishes}


def ask(scene: ShoppingScene) -> ShoppingDraft | None:
    """The agent must ask for every condition."""
    wish = scene.wish()
    if wish is None:
        return None
    talk = _Talk(scene, wish.product.category)
    if not all(talk.tell(constraint) for constraint in wish.details):
        return None
    return _drafted(scene, talk, wish)


def hidden(scene: ShoppingScene) -> ShoppingDraft | None:
    """The customer states all conditions but one, and rejects offers that fail on that one."""
    wish = scene.wish()
    if wish is None:
        return None
    talk = _Talk(scene, wish.product.category)
    secret = int(scene.rng.integers(len(wish.details)))
    for place, constraint in enumerate(wish.details):
        if not talk.tell(constraint, volunteer=place != secret):
            return None
    return _drafted(scene, talk, wish)


def change(scene: ShoppingScene) -> ShoppingDraft | None:
    """One condition changes during the conversation."""
    fork = fork_of(scene, kinds=("attribute", "specification", "option"))
    if fork is None:
        return None
    side = scene.side
    talk = _Talk(scene, fork.wish.product.category)
    # The changing condition is asked for first, so that the change precedes the end.
    if not talk.tell(fork.values[1 - side], then=fork.values[side]):
        return None
    if not all(talk.tell(constraint) for constraint in fork.others):
        return None
    draft = _settled(scene, talk, fork, "as it was before the change")
    return replace(draft, changes=True)


def as_usual(scene: ShoppingScene) -> ShoppingDraft | None:
    """For one condition, the customer refers to the profile."""
    fork = fork_of(scene, kinds=("attribute", "specification", "option"))
    if fork is None:
        return None
    side, category = scene.side, fork.wish.product.category
    value = fork.values[side]
    talk = _Talk(scene, category)
    usual = scene.say("the same as in my profile", "和我资料里写的一样的")
    if not talk.tell(value, words=usual):
        return None
    if not all(talk.tell(constraint) for constraint in fork.others):
        return None
    kind = category_of(category).text[scene.language]
    phrase = wish_text(scene, value, category, gap=False)
    fact = scene.say(f"{kind}: always wants {phrase}.", f"{kind}：一向只要{phrase}。")
    profile = profile_of(scene, [fact])
    return _settled(scene, talk, fork, "the other twin's target", profile=profile, source="profile")


def against_profile(scene: ShoppingScene) -> ShoppingDraft | None:
    """The customer's statements contradict the profile."""
    fork = fork_of(scene, kinds=("attribute", "specification", "option"))
    if fork is None:
        return None
    side, category = scene.side, fork.wish.product.category
    talk = _Talk(scene, category)
    if not all(talk.tell(constraint) for constraint in (fork.values[side], *fork.others)):
        return None
    kind = category_of(category).text[scene.language]
    phrase = wish_text(scene, fork.values[1 - side], category, gap=False)
    fact = scene.say(f"{kind}: usually wants {phrase}.", f"{kind}：通常要{phrase}。")
    draft = _settled(scene, talk, fork, "as the profile has it", profile=profile_of(scene, [fact]))
    return replace(draft, lures=[fork.values[1 - side]])


def _settled(
    scene: ShoppingScene,
    talk: _Talk,
    fork: Fork,
    label: str,
    *,
    profile: Sequence[str] | None = None,
    source: str = "request",
) -> ShoppingDraft:
    """Return the draft for one side of a fork; `label` names the other side's target."""
    product, variant = fork.targets[scene.side]
    params = {} if profile is None else {"profile": list(profile)}
    draft = _drafted(scene, talk, fork.wish, params, fork.products)
    other = Near(label, 0, *fork.targets[1 - scene.side])
    kept = [near for near in draft.near if near.variant.id not in (variant.id, other.variant.id)]
    position = fork.position + len(fork.wish.head)
    return replace(
        draft,
        lines=[OrderLine(product, variant)],
        near=[other, *kept],
        wanted=[sourced(fork.constraints(scene.side), {position: source})],
        personal=profile is not None,
        twin=True,
    )


def _drafted(
    scene: ShoppingScene,
    talk: _Talk,
    wish: WantedVariant,
    params: Mapping[str, Any] | None = None,
    beside: Sequence[Product] = (),
) -> ShoppingDraft:
    goods = goods_text(scene, wish.product, ("brand", "series"))
    goal = scene.pick(
        (
            scene.say(f"Hello, I'd like to buy {articled(goods)}.", f"你好，我想买{goods}。"),
            scene.say(f"Hi! I'm looking for {articled(goods)}.", f"您好，我在找{goods}。"),
        )
    )
    disliked = aversion(scene, (wish.product, *beside))
    if disliked:
        goal += scene.say(" ", "") + disliked
    instruction = scene.say(
        "A customer is with you. Find out what they need, offer it, and order exactly what they "
        "accept: nothing that they rejected, and nothing without their consent.",
        "有一位顾客。请问清需求，先推荐，再按顾客同意的下单；顾客拒绝过的、没有点头的都不能下单。",
    )
    return ShoppingDraft(
        instruction=instruction,
        lines=[OrderLine(wish.product, wish.variant)],
        near=near_of(wish),
        wanted=[sourced(wish.constraints)],
        params={
            "user": {**talk.user(goal), "head": [c.as_json() for c in wish.head]},
            **(params or {}),
        },
        dialogue=True,
        asks=talk.asks,
    )


def _sayings(scene: ShoppingScene, place: int | None) -> list[str]:
    """Return how a value is stated; `place` counts those that follow each other unasked."""
    said = _OPENLY[min(place, 2)] if place is not None else _ASKED
    return list(said[scene.language])


_ASKED: Mapping[Language, tuple[str, ...]] = {
    "en": ("I'd like {value}.", "I'm looking for {value}.", "I want {value}."),
    "zh": ("要{value}。", "我要{value}。", "我想要{value}。"),
}
_OPENLY: tuple[Mapping[Language, tuple[str, ...]], ...] = (
    {"en": ("I'd like {value}.", "I want {value}."), "zh": ("我要{value}。", "要{value}。")},
    {
        "en": ("It should also be {value}.", "It also has to be {value}."),
        "zh": ("还要{value}。", "也要{value}。"),
    },
    {
        "en": ("And it should be {value}.", "And I want {value}."),
        "zh": ("另外要{value}。", "再要{value}。"),
    },
)


def _asks(label: str, name: str, language: Language) -> list[str]:
    """Return the phrases, one of which must occur in a question about the slot."""
    others = _SYNONYMS.get(name, {}).get(language, (name.replace("_", " "),))
    return list(dict.fromkeys([label.lower(), *others]))


_SYNONYMS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "shipping": {"en": ("delivery", "arrive", "how soon"), "zh": ("送达", "配送", "到货")},
    "returns": {"en": ("returns", "send it back"), "zh": ("退货", "退换")},
    "price": {"en": ("price", "budget", "spend", "cost"), "zh": ("价格", "预算", "多少钱")},
    "seller": {"en": ("seller", "shop", "store"), "zh": ("卖家", "店铺")},
    "rating": {"en": ("rating", "stars"), "zh": ("评分", "几星")},
}


DIALOGUES = {
    "dialogue_ask": ask,
    "dialogue_hidden": hidden,
    "dialogue_change": change,
    "dialogue_as_usual": as_usual,
    "dialogue_against_profile": against_profile,
}
