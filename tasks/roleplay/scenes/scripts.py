"""Scripts that validate scenes: the oracle, alternatives, near misses and trivial agents."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.roleplay.card import articled
from hexathlon.tasks.roleplay.choosing import other_option
from hexathlon.tasks.roleplay.scenes.compose import DrawnScene
from hexathlon.tasks.roleplay.scenes.plot import KEPT, Due, SceneMoment
from hexathlon.tasks.roleplay.voice import compose
from hexathlon.tasks.tool_calls import tool_call

__all__ = [
    "SCENE_TOLERATED",
    "scene_alternatives",
    "scene_mutants",
    "scene_oracle",
    "scene_policies",
]

SCENE_TOLERATED: Mapping[str, str] = {
    "alter:agree.reply": "the wording is free",
    "alter:give.reply": "the wording is free where it names the price, if there is one",
    "alter:tell.reply": "the wording is free where it names what is told",
    "alter:correct.claim": "some claims have no name, such as having been somewhere",
    **{
        f"repeat:{act}": "a remark that asks for nothing may be met by any response"
        for act in ("agree", "answer", "correct", "refuse")
    },
    "repeat:give": "what was handed over is gone",
    "repeat:tell": "something may be told twice",
    **{
        f"swap:{act}": "what is due may be done earlier; two lines may get the same response"
        for act in ("agree", "answer", "correct", "refuse")
    },
    "swap:tell": "what is due may be done before or after another thing that is due",
    "swap:give": "what is due may be done before or after another thing that is due",
}
"""Changes to the oracle's solution that are right, too, with the reason."""

_CORES: Mapping[Language, Mapping[str, Sequence[str]]] = {
    "en": {
        "say": ("I hear you", "very well"),
        "answer": ("it is {v}", "the answer to that is {v}"),
        "agree": ("agreed", "very well"),
        "correct": ("no, not {c}, it is {v}", "you are mistaken, the truth is {v}"),
        "tell": ("there is something for you to know, {v}", "I have a word for you, {v}"),
        "give": ("this is for you", "take it, this is yours"),
        "sell": ("my price is {v}", "I ask {v}"),
        "not_known": ("that I do not know", "of that I know nothing"),
        "not_yet": ("of such a thing I know nothing", "nothing like it has come to pass"),
        "not_of_my_world": ("I have never heard of such a thing", "that word means nothing to me"),
        "secret": ("of that I will not speak", "my lips are closed on that"),
        "against_my_rules": ("that I will not do", "I must decline"),
    },
    "zh": {
        "say": ("我听见了", "好的"),
        "answer": ("是{v}", "答案是{v}"),
        "agree": ("好的", "就这么办"),
        "correct": ("不对，不是{c}，是{v}", "你弄错了，其实是{v}"),
        "tell": ("有句话要告诉你，{v}", "有件事你该知道，{v}"),
        "give": ("这是给你的", "拿着，这是你的"),
        "sell": ("我要{v}", "要价{v}"),
        "not_known": ("这我不知道", "这件事我一无所知"),
        "not_yet": ("我没听说过这回事", "还没有发生过这样的事"),
        "not_of_my_world": ("我从没听说过这种东西", "这个词我听不懂"),
        "secret": ("恕我不能说", "这事我绝口不提"),
        "against_my_rules": ("恕难从命", "我不能答应"),
    },
}


class _Player:
    """Plays a scene by its ground truth.

    Args:
        scene: The scene.
        variant: 0 for plain words; 1 for others, and for other accepted spellings.
    """

    def __init__(self, scene: DrawnScene, variant: int = 0) -> None:
        self.scene, self.variant = scene, variant
        self.language: Language = scene.plot.language
        self._chosen: dict[str, str] = {}

    def actions(self) -> Iterator[tuple[str, str]]:
        """Yield every action with the key of its moment; what is due has the prefix `due:`."""
        sold = False
        for placed in self.scene.line:
            moment = placed.moment
            if sold and moment.unless:
                continue
            settled = False
            for due in self.dues(moment.key):
                yield f"due:{moment.key}", self.due(due)
                settled = settled or due.settles
            sold = sold or settled
            if not settled:
                yield moment.key, self.response(moment)

    def dues(self, key: str) -> list[Due]:
        """Return what is due at a moment."""
        return [due for due in self.scene.plot.dues if due.at == key]

    def due(self, due: Due, price: int | None = None) -> str:
        """Return the action that does what is due, or does it at another price."""
        name = self.scene.plot.names(due.to)[-1 if self.variant else 0]
        if due.act == "tell":
            value = due.what[0]
            return tool_call("tell", reply=self.said("tell", value), to=name, value=value)
        price = due.price if price is None else price
        reply = self.said("sell", str(price)) if price else self.said("give")
        return tool_call("give", reply=reply, to=name, what=due.what[0], price=price)

    def response(self, moment: SceneMoment) -> str:
        """Return the response to a line."""
        accept = self._settled(moment)
        if accept is None:
            if moment.asks:
                return tool_call("agree", reply=self.said("agree"))
            reply = self.said("say")
            return reply if self.variant else tool_call("say", reply=reply)
        return self.responded(accept)

    def responded(self, accept: Mapping[str, Any]) -> str:
        """Return an accepted response."""
        act, last = accept["act"], -1 if self.variant else 0
        if act == "agree":
            return tool_call("agree", reply=self.said("agree"))
        if act == "refuse":
            reason = accept["reasons"][last]
            return tool_call("refuse", reply=self.said(reason), reason=reason)
        value = accept["value"][0]
        if act == "answer":
            return tool_call(
                "answer", reply=self.said("answer", value), value=accept["value"][last]
            )
        claims = accept["claim"] or ({"en": "you", "zh": "你"}[self.language],)
        named = bool(accept["claim"])
        reply = self.said("correct" if named else "answer", value, claims[0])
        return tool_call("correct", reply=reply, claim=claims[last], truth=accept["value"][last])

    def said(self, core: str, value: str = "", claim: str = "") -> str:
        """Return a reply in the character's manner of speech."""
        text = _CORES[self.language][core][self.variant]
        text = text.replace("{v}", value).replace("{c}", claim)
        if self.language == "en":
            text = articled(text)
        return compose(text, self.scene.plot.stage.rules, self.language)

    def _settled(self, moment: SceneMoment) -> Mapping[str, Any] | None:
        """Return the response to take, with the character's own choice filled in."""
        if not moment.accept:
            return None
        accept = moment.accept[-1 if self.variant else 0]
        if not moment.choice:
            return accept
        options = moment.choice["options"]
        if moment.choice["use"] == "choose":
            self._chosen[options[0]] = options[self.variant]
        own = self._chosen.get(options[0], options[0])
        accept = {**accept, "value": [own]}
        if moment.choice["use"] == "misquote":
            accept["claim"] = [other_option(options, own)]
        return accept


def scene_oracle(scene: DrawnScene) -> list[str]:
    """Return the oracle's actions."""
    return [action for _, action in _Player(scene).actions()]


def scene_alternatives(scene: DrawnScene) -> dict[str, list[str]]:
    """Return the oracle's solution in other words and other accepted spellings."""
    return {"other_words": [action for _, action in _Player(scene, 1).actions()]}


def scene_mutants(scene: DrawnScene) -> dict[str, list[str]]:
    """Return near misses: everything is right except for one trap."""
    player = _Player(scene)
    right = list(player.actions())
    made: dict[str, list[str]] = {}
    for place, (key, action) in enumerate(right):
        for name, wrong in _wrong(player, key, action):
            actions = [act for _, act in right]
            actions[place : place + 1] = wrong
            made.setdefault(f"{name}:{key.removeprefix('due:')}", actions)
    made["leaves_early"] = [act for _, act in right][:-4]
    return made


def _wrong(player: _Player, key: str, action: str) -> Iterator[tuple[str, list[str]]]:
    """Yield mistakes at one action: a name and the actions instead."""
    scene = player.scene
    call = json.loads(action)
    name, typed = call["name"], call["arguments"]
    plot, placed = scene.plot, scene.line[scene.place(key.removeprefix("due:"))]
    if key.startswith("due:"):
        (due,) = player.dues(key.removeprefix("due:"))
        # The following response stands; a settled line is answered in another way.
        instead = [tool_call("refuse", reply=player.said("secret"), reason="secret")] * 2
        yield "omits", instead if due.settles else []
        if due.act == "give":
            if due.price:
                yield "too_dear", [player.due(due, price=due.price + 1), *instead]
                yield "too_cheap", [player.due(due, price=due.price - 1)]
            else:
                yield "takes_money", [tool_call("give", **{**typed, "price": 5})]
        else:
            yield "unsaid", [tool_call("tell", **{**typed, "reply": player.said("say")})]
    elif placed.moment.accept:
        thread = placed.moment.thread
        if name == "refuse" and typed["reason"] in KEPT:
            yield "grants", [tool_call("agree", reply=player.said("agree"))]
            yield (
                "feigns",
                [tool_call("refuse", reply=player.said("not_known"), reason="not_known")],
            )
            for item in plot.confidences:
                over = bool(item.until) and scene.place(item.until) <= scene.place(key)
                if item.thread != thread or over or not set(placed.present) - set(item.allowed):
                    continue
                for value in item.values:
                    if value not in placed.moment.line:
                        said = player.said("tell", value)
                        yield "leaks", [tool_call("refuse", reply=said, reason=typed["reason"])]
        elif name == "agree":
            yield "declines", [tool_call("refuse", reply=player.said("secret"), reason="secret")]
        elif name == "correct":
            yield "gullible", [tool_call("agree", reply=player.said("agree"))]
        elif name == "answer":
            yield (
                "forgets",
                [tool_call("refuse", reply=player.said("not_known"), reason="not_known")],
            )


def scene_policies(scene: DrawnScene) -> dict[str, list[str]]:
    """Return trivial agents."""
    player = _Player(scene)
    count = len(scene.line) + 12
    names = [figure.name for figure in scene.plot.figures]
    refusing = tool_call("refuse", reply=player.said("secret"), reason="secret")
    unknown = tool_call("refuse", reply=player.said("not_known"), reason="not_known")
    agreeing = tool_call("agree", reply=player.said("agree"))
    values = [value for due in scene.plot.dues for value in due.what]
    telling = [
        tool_call("tell", reply=player.said("tell", value), to=name, value=value)
        for value in values
        for name in names
    ]
    return {
        "always_secret": [refusing] * count,
        "always_not_known": [unknown] * count,
        "always_say": [tool_call("say", reply=player.said("say"))] * count,
        "yes_man": [agreeing] * count,
        "majority": [refusing, agreeing] * (count // 2),
        "dump": [*telling, *[agreeing] * count],
    }
