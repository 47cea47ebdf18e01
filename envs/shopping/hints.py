"""Hints for human players of the shopping event: next steps, and causes of failure."""

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["HINTS"]

HINTS: Mapping[str, str] = MappingProxyType(
    {
        "": "Begin with `search WORDS` in a shop, with `read_policy` at the service desk. Ask a "
        "customer with `ask`, one thing at a time: colour, budget, delivery, any listed property.",
        "search": "`open #1` shows an item; `search … page=2` turns the page; "
        "`search … category=tents filters=price_max=200 brand=NAME sort=price` narrows it down.",
        "open_item": "`spec`, `reviews` and `desc` show details; `choose #1 red, 45` shows price "
        "and stock of a variant; then `add #1 red, 45`.",
        "ask_user": "Customers answer what they are asked, a thing or two at a time; idle and "
        "repeated questions cost patience.",
        "choose_options": "`add` with the same words puts it into the cart; with a customer, "
        "`offer` it first.",
        "offer": "Once the customer agrees: `add` the same variant, then `checkout`.",
        "add_to_cart": "`checkout` orders; `list_coupons` and `read_rules` show how to pay less.",
        "read_policy": "`find_customer EMAIL`, or `find_customer name=… postcode=…`; then "
        "`show_customer ID` and `show_order ID`.",
        "find_customer": "`show_customer` with this id lists the orders.",
        "show_customer": "`show_order #1` lists the lines of an order.",
        "show_order": "`return_items ORDER 1 PAYMENT`, `cancel_order ORDER mistake` and so on; "
        "with a customer, `propose return_items ORDER 1 PAYMENT` first; at the end `finish`, or "
        "`report_impossible REASON RECORD PARAGRAPH`.",
        "read_memos": "Then `find_customer`, `show_customer`, `show_order` and `show_history`.",
        "show_orders": "`finish_case AMOUNT` closes the case with the net amount in cents.",
        "list_offers": "`show_offers` opens up to four of them, `read_reviews` what buyers say; "
        "then `place_order` and `finish_request` with what is left of the budget.",
        "anything_else": "Ask until that is all; bookings are final. `finish_case AMOUNT` closes "
        "the case with the net amount in cents.",
        "records": "A record was not as agreed when a case was closed, or another one changed.",
        "declines": "A refusal is wrong, missing or superfluous.",
        "amounts": "The net amount that a customer was told is wrong.",
        "ledger": "The order differs from the request.",
        "unchanged": "The records differ from the expected ones.",
        "answer": "The answer is wrong, missing or superfluous: the request was refused instead of "
        "carried out, or the other way round.",
        "dialogue": "The customer had not agreed to it.",
        "ended": "The task was not finished.",
        "category": "Nothing bought has the requested kind, brand and line.",
        "attribute": "The purchase meets no requested property.",
        "option": "The purchase has none of the requested options.",
        "price": "The price is outside the requested range.",
        "fault_category": "The kind, brand or line is not the requested one.",
        "fault_attribute": "A property is wrong: see specification and reviews.",
        "fault_option": "The wrong option was chosen.",
        "fault_price": "The price is outside the requested range.",
        "fault_personal_ignored": "A fact from the profile or the order history was ignored.",
        "fault_personal_overused": "The profile was followed where the request says otherwise.",
        "fault_bought_unseen": "The item was bought without opening its page.",
        "fault_bought_after_rejection": "It was done although the customer had refused it.",
        "fault_unconfirmed": "The customer was never asked to agree.",
        "fault_nothing_done": "Nothing was done.",
        "fault_other_change": "Quantity, coupon, address, delivery or a record is wrong, or there "
        "is a further change.",
        "fault_wrong_answer": "The refusal's reason, record or paragraph is wrong, or the request "
        "could have been carried out.",
    }
)
