"""Hints for human players of the shopping event: next steps, and causes of failure."""

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["HINTS"]

HINTS: Mapping[str, str] = MappingProxyType(
    {
        "": "Begin with `search WORDS` in a shop, with `read_policy` at the service desk. Ask a "
        "customer with `ask`, one thing at a time: colour, budget, delivery, what pages list.",
        "search": "`open #1` shows an item; `search … page=2` turns the page; "
        "`search … category=tents filters=price_max=200 brand=NAME sort=price` narrows it down.",
        "open_item": "`spec`, `reviews` and `desc` tell more; `choose #1 red, 45` shows price and "
        "stock of a variant; then `add #1 red, 45`.",
        "ask_user": "Customers answer what they are asked, a thing or two at a time; idle and "
        "repeated questions cost patience.",
        "choose_options": "`add` with the same words puts it into the cart; with a customer, "
        "`offer` it first.",
        "offer": "After a yes: `add` the same, then `checkout`.",
        "add_to_cart": "`checkout` orders; `list_coupons` and `read_rules` tell how to pay less.",
        "read_policy": "`find_customer EMAIL`, or `find_customer name=… postcode=…`; then "
        "`show_customer ID` and `show_order ID`.",
        "find_customer": "`show_customer` with this id lists the orders.",
        "show_customer": "`show_order #1` lists the lines of an order.",
        "show_order": "`return_items ORDER 1 PAYMENT`, `cancel_order ORDER mistake` and so on; "
        "with a customer, `propose return_items ORDER 1 PAYMENT` first; at the end `finish`, or "
        "`report_impossible REASON RECORD PARAGRAPH`.",
        "ledger": "What was ordered is not what was asked for.",
        "unchanged": "The records are not as they should be.",
        "answer": "There should have been another answer, or none: done, not reported, or the "
        "other way round.",
        "dialogue": "The customer had not said yes to it.",
        "ended": "The task was not brought to its end.",
        "category": "Nothing that was bought is of the kind, brand and line asked for.",
        "attribute": "No condition on its properties is met.",
        "option": "No option is the one asked for.",
        "price": "It does not keep to the price.",
        "fault_category": "It is of another kind, brand or line than was asked for.",
        "fault_attribute": "A property is wrong: see specification and reviews.",
        "fault_option": "The wrong option was chosen.",
        "fault_price": "The price is out of bounds.",
        "fault_personal_ignored": "A fact from profile or order history was not heeded.",
        "fault_personal_overused": "The profile was followed where the request says otherwise.",
        "fault_bought_unseen": "It was bought without a look at its page.",
        "fault_bought_after_rejection": "It was done although the customer had said no to it.",
        "fault_unconfirmed": "The customer was never asked for a yes.",
        "fault_nothing_done": "Nothing was done.",
        "fault_other_change": "Quantity, coupon, address, delivery or a record is wrong, or "
        "something else was done as well.",
        "fault_wrong_answer": "Reason, record or paragraph of the refusal is wrong, or it could "
        "have been done.",
    }
)
