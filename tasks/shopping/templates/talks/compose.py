"""Composition of a case: matters that touch each other, bookings, and what can be overlooked."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.templates.talks.case import TalkCase
from hexathlon.tasks.shopping.templates.talks.matters import MATTERS, last_word
from hexathlon.tasks.shopping.templates.talks.policy import numbered
from hexathlon.tasks.shopping.templates.talks.resolve import OVERSIGHTS, Unsettled, resolve
from hexathlon.tasks.shopping.world.retail import DeskProblem
from hexathlon.tasks.shopping.world.talk.desk import TalkDesk

__all__ = ["TALKS", "TalkDraft", "compose_talk"]

_Call = tuple[str, dict[str, Any]]

TALKS: Mapping[str, str] = {
    "talk_coupon": "cancel return late address match repair",
    "talk_exchange": "exchange return late promise cancel match",
    "talk_points": "return match cancel repair late exchange",
    "talk_address": "cancel address promise return late repair",
    "talk_repair": "repair return exchange late cancel address",
}
"""Matters of a template's cases."""

_HELD_BACK = {"talk_exchange": "promise", "talk_coupon": "address"}
"""Matters that never occur with a template in train."""

_FEWEST = 4
"""Smallest number of oversights that change the bookings."""


class TalkDraft(NamedTuple):
    """A composed case."""

    params: dict[str, Any]
    instruction: str
    close: dict[str, Any]
    plan: dict[str, Any]
    twists: list[str]


def compose_talk(scene: ShoppingScene, template: str) -> TalkDraft | None:
    """Compose a case, or return None if the draw makes no valid one."""
    case = TalkCase(scene)
    names = TALKS[template].split()
    if scene.split == "train":
        names = [name for name in names if name != _HELD_BACK.get(template)]
    for name in names:
        MATTERS[name](case)
    if case.chance(0.7):
        last_word(case)
    case.order(case.pick(("delivered", "pending")), 1, age=case.span(3, 9))
    if len(case.matters) < len(names):
        return None
    case.rng.shuffle(case.account["orders"])
    case.rng.shuffle(case.matters)
    rules, policy = numbered(case)
    try:
        _set_points(case, rules)
        calls, net = resolve(case, rules)
    except Unsettled:
        return None
    params = _params(case, policy)
    close = _outcome(params, calls, net)
    if close is None:
        return None
    wrong = _overlooked(case, rules, params, close)
    if len(wrong) < _FEWEST:
        return None
    plan = {"looks": _looks(case), "actions": [list(call) for call in calls], "net": net,
            "wrong": wrong}  # fmt: skip
    return TalkDraft(params, _instruction(scene), dict(close), plan, [label for label, *_ in wrong])


def _set_points(case: TalkCase, rules: dict[str, str]) -> None:
    """Draw the points of the account; often they do not suffice for everything."""
    case.account["points"] = 10**6
    calls, _ = resolve(case, rules)
    earned = sum(arguments["points"] for name, arguments in calls if name == "take_points")
    few = earned > 4 and case.chance(0.75)
    case.account["points"] = (
        case.span(earned // 3, earned - 2) if few else earned + case.span(5, 90)
    )


def _overlooked(
    case: TalkCase, rules: dict[str, str], params: Mapping[str, Any], right: Mapping[str, Any]
) -> list[tuple[str, list[list[Any]], int]]:
    """Return the bookings of somebody who overlooks one thing, where the outcome differs."""
    found = []
    for name in OVERSIGHTS:
        try:
            calls, net = resolve(case, rules, {name})
        except Unsettled:
            continue
        if _outcome(params, calls, net) not in (None, right):
            found.append((name, [list(call) for call in calls], net))
    return found


def _outcome(params: Mapping[str, Any], calls: list[_Call], net: int) -> Mapping[str, Any] | None:
    """Return what a closed case holds after some bookings, or None if one is not possible."""
    desk = TalkDesk(params)
    try:
        for name, arguments in calls:
            desk.call(name, arguments)
        desk.call("finish_case", {"net_cents": net})
    except DeskProblem:
        return None
    return desk.state.closes[0] if desk.closed else None


def _params(case: TalkCase, policy: list[str]) -> dict[str, Any]:
    records: list[list[Any]] = [["accounts", case.account["id"], case.account]]
    for key, order in case.orders.items():
        records.append(["orders", key, {k: v for k, v in order.items() if k != "old"}])
    records += [["variants", key, variant] for key, variant in case.variants.items()]
    hello = case.say(f"Hello, {case.account['name']} here. ", f"你好，我是{case.account['name']}。")
    first, *rest = case.matters
    return {
        "world": "talk", "language": case.scene.language, "records": records,
        "account": case.account["id"], "today": case.today, "hour": case.hour,
        "matters": [hello + first, *rest, *case.later], "last": case.final_words,
        "answers": case.answers,
        "policy": policy, "notes": case.notes, "logs": case.logs,
    }  # fmt: skip


def _looks(case: TalkCase) -> list[list[Any]]:
    """Return the look-ups of the oracle."""
    looks: list[list[Any]] = [["read_policy", {}]]
    looks += [["anything_else", {}]] * (len(case.matters) + len(case.later))
    looks += [["show_account", {}], ["show_notes", {}]]
    for key, order in case.orders.items():
        looks.append(["show_order", {"order": key}])
        if order["status"] == "delivered":
            looks.append(["show_parcel", {"order": key}])
    for topic, key in case.asks:
        looks.append(["ask_customer", {"topic": topic, "order": key}])
    for key in case.consents:
        looks.append(["ask_customer", {"topic": "arrival", "order": key}])
    for key, number in [*case.last.exchange, *case.last.match]:
        looks.append(["show_variants", {"order": key, "line": number}])
    for spot in case.logs:
        key, number = spot.split("/")
        looks.append(["show_log", {"order": key, "line": number}])
        looks.append(["show_log", {"order": key, "line": number}])
    return looks


def _instruction(scene: ShoppingScene) -> str:
    return scene.say(
        "A customer is at the service desk. Settle everything they bring up according to the "
        "policy, decline what it does not allow, and close the case with the net amount that they "
        "receive. They may still ask for something when you close it: the case then stays open. "
        "Bookings cannot be undone.",
        "服务台来了一位顾客。请按规定办好顾客提出的每件事，不符合规定的予以拒绝，"
        "结案时写明顾客净得的金额。结案时顾客可能又提出要求，这时案件尚未结束。办理后不能撤销。",
    )
