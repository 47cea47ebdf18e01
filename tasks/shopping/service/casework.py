"""Service cases as tasks: a patch to the shop's records, expected changes, the customer."""

from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.catalogue import Catalogue
from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.templates.case import ServiceCase
from hexathlon.tasks.shopping.templates.words import as_written
from hexathlon.tasks.shopping.world.desk.desk import ServiceDesk, subject_of
from hexathlon.tasks.shopping.world.desk.desk_tools import DESK_TOOLS
from hexathlon.tasks.shopping.world.desk.policy import paragraph_of
from hexathlon.tasks.shopping.world.desk.records import service_base
from hexathlon.tasks.shopping.world.retail import DeskProblem
from hexathlon.tasks.shopping.world.tables import Record, Tables
from hexathlon.tasks.shopping.world.tools import decline_tool, dialogue_tools, schema
from hexathlon.tasks.task import ToolSchema

__all__ = ["case_params", "case_truth", "changed_since", "instruction_of", "service_tools"]

_PROPOSE = schema(
    "propose",
    "Ask the customer's yes for a change before you make it: the tool's name and its arguments.",
    action={"type": "string", "maxLength": 60},
    arguments={"type": "object"},
)


def service_tools(*, dialogue: bool) -> tuple[ToolSchema, ...]:
    """Return the tools of a service case."""
    talk = [tool for tool in dialogue_tools() if tool.name != "offer"]
    return (*DESK_TOOLS, *((*talk, _PROPOSE) if dialogue else ()), decline_tool())


def changed_since(tables: Tables, patch: Mapping[str, Record]) -> dict[str, Record | None]:
    """Return the records that differ from the start, i.e. from the base with the patch."""
    return {
        name: record
        for name, record in tables.difference().items()
        if name not in patch or patch[name] != record
    }


def case_params(scene: ShoppingScene, case: ServiceCase, *, dialogue: bool) -> dict[str, Any]:
    """Return the world's parameters."""
    patch = [["customers", case.customer["id"], case.customer]]
    patch += [["orders", order["id"], order] for order in case.orders]
    params: dict[str, Any] = {
        "world": "service",
        "catalogue": {"seed": scene.catalogue.seed, "size": scene.catalogue.size},
        "language": scene.language,
        "policy": case.policy.as_json(),
        "patch": patch,
    }
    if dialogue:
        params["user"] = _user(scene, case)
    return params


def instruction_of(scene: ShoppingScene, case: ServiceCase, *, dialogue: bool) -> str:
    """Return the agent's instruction."""
    desk = scene.say(
        "You serve customers of the shop. Follow the written policy (read_policy), do exactly what "
        "is asked and allowed, then finish the case; decline what is not allowed, with reason, "
        "record and paragraph.",
        "你是商店客服。请按书面政策（read_policy）办理，只做顾客要求且政策允许的事，然后结案；"
        "不允许的，给出理由、记录编号和条款号予以拒绝。",
    )
    if dialogue:
        ask = scene.say(
            "Propose every change first and wait for the customer's consent.",
            "每次改动前先征得顾客同意（propose）。",
        )
        return f"{desk} {ask}"
    who, address = case.customer, case.customer["address"]
    known = (
        who["email"]
        if scene.level in ("tiny", "easy")
        else scene.say(f"postcode {address['postcode']}", f"邮编 {address['postcode']}")
    )
    request = as_written(scene, case.request, who["id"])
    said = scene.say(
        f'Message from {who["name"]} ({known}): "{request}"',
        f"{who['name']}（{known}）留言：“{request}”",
    )
    return f"{desk}\n\n{said}"


def case_truth(
    scene: ShoppingScene, case: ServiceCase, params: Mapping[str, Any], *, dialogue: bool
) -> dict[str, Any] | None:
    """Return the check's parameters; None if the records rule out the case."""
    catalogue: Catalogue = scene.catalogue
    base = service_base(catalogue.seed, catalogue.size, scene.language)
    patch = {f"{table}/{key}": record for table, key, record in params["patch"]}
    if any(key in base.tables[table] for table, key, _ in params["patch"]):
        return None
    if any(other["email"] == case.customer["email"] for other in base.tables["customers"].values()):
        return None
    tables = Tables(base, tuple((t, k, r) for t, k, r in params["patch"]))
    if case.declined is None:
        desk = ServiceDesk(tables, catalogue, scene.language)
        try:
            for name, arguments in case.actions:
                desk.call(name, arguments)
        except DeskProblem:
            return None
    answer = None
    if case.declined is not None:
        reason, record = case.declined
        paragraph = paragraph_of(case.policy, case.actions[0][0], reason)
        answer = {"reason": reason, "records": [record], "paragraph": paragraph}
    orders = [order["id"] for order in case.orders]
    strangers = base.tables["orders"].values()
    pending = next((o["id"] for o in strangers if o["status"] == "pending"), None)
    extra = ["cancel_order", {"order": pending, "reason": "mistake"}] if pending else None
    who = case.customer
    return {
        "orders": [],
        "changes": changed_since(tables, patch),
        "answer": answer,
        "confirm": dialogue,
        "plan": {
            "actions": [list(action) for action in case.actions],
            "wrong": {name: [list(a) for a in actions] for name, actions in case.wrong.items()},
            "answer": answer,
            "orders": orders,
            "goods": case.goods,
            "named": [order for order in orders if order in case.request],
            "bystander": next(o["id"] for o in strangers),
            "extra": extra,
            "customer": {
                "id": who["id"],
                "email": who["email"],
                "name": who["name"],
                "postcode": who["address"]["postcode"],
            },
            "asks": _asks(scene, case) if dialogue else [],
        },
    }


def _user(scene: ShoppingScene, case: ServiceCase) -> dict[str, Any]:
    who = case.customer
    slots = {
        "email": {
            "value": who["email"],
            "ask": ["email", "e-mail", "邮箱"] if scene.language == "zh" else ["email", "e-mail"],
            "say": scene.say("It's {value}.|{value}.", "{value}。|邮箱是{value}。").split("|"),
        },
        **case.slots,
    }
    agenda = {
        "goal": case.goal,
        "slots": slots,
        "patience": 4,
        "slots_per_turn": 2,
        "language": scene.language,
    }
    consent = [subject_of(name, arguments) for name, arguments in case.actions]
    return {"agenda": agenda, "wishes": {}, "consent": consent}


def _asks(scene: ShoppingScene, case: ServiceCase) -> list[str]:
    return [scene.say(*_QUESTIONS[name]) for name in ("email", *case.slots)]


_QUESTIONS = {
    "email": ("What is your e-mail?", "请问您的邮箱是？"),
    "order": ("Which order is it about?", "请问是哪个订单？"),
    "why": ("What is the reason?", "请问原因是什么？"),
    "state": ("In what condition did it arrive?", "请问到货时是什么状态？"),
    "variant": ("Which variant would you like?", "请问要哪一款？"),
    "address": ("What is the new address?", "请问新地址是？"),
}
"""A clerk's question for each slot."""
