"""A bank: customers hold accounts, cards and loans."""

from hexathlon.tasks.sql.domains.grammar import (
    Domain,
    Entity,
    category,
    code,
    count,
    day,
    flag,
    link,
    listed,
    measure,
    money,
    name,
    note,
    rating,
    status,
)  # fmt: skip

DOMAIN = Domain(
    "bank",
    (
        Entity("country", "countries", "lookup", 2, (
            listed("austria", "belgium", "denmark", "finland", "italy", "norway", "portugal"),
        )),
        Entity("town", "towns", "entity", 2, (
            name("city"), link("country"), count("population", 3, 900),
        ), weight=0.4),
        Entity("branch", "branches", "entity", 1, (
            name("place"), link("town"), count("counter count", 1, 14), day("opening date", 6000),
            category("branch class", "full", "advice", "self service"),
        ), weight=0.4),
        Entity("customer", "customers", "entity", 0, (
            name("person"), code("customer number", "C"), link("branch", null=0.05),
            category("segment", "retail", "private", "business", "youth"),
            category("risk class", "low", "medium", "high", null=0.08),
            money("yearly income", 9000, 140000, null=0.1), day("joining date", 2500),
            flag("online banking"), link("customer", "referrer", null=0.6, barren=0.6),
        )),
        Entity("account type", "account types", "lookup", 1, (
            listed("current", "savings", "deposit", "joint", "escrow"),
        )),
        Entity("account", "accounts", "entity", 0, (
            code("account number", "AC"), link("customer", barren=0.15), link("account type"),
            money("balance", 0, 60000), money("overdraft limit", 0, 4000, null=0.2),
            day("opening date", 2000, after="customer"),
            category("currency", "euro", "dollar", "pound", "krone"), flag("frozen"),
        ), weight=1.6),
        Entity("transaction", "transactions", "event", 0, (
            link("account", barren=0.1), day("booking date", 900, after="account"),
            money("amount", 1, 2500), category("kind", "card", "transfer", "cash", "fee", "salary"),
            status("status", "booked", "pending", "reversed", "blocked"),
            link("account", "counterparty account", null=0.4, barren=0.3), note("purpose"),
        ), weight=2.2),
        Entity("card", "cards", "entity", 1, (
            code("card number", "CD"), link("account", barren=0.25),
            category("scheme", "debit", "credit", "prepaid"),
            money("monthly limit", 200, 8000, null=0.06), day("issue date", 1400), flag("locked"),
        ), weight=1.2),
        Entity("card payment", "card payments", "event", 1, (
            link("card", barren=0.2), day("payment date", 700), money("paid amount", 1, 900),
            category("merchant sector", "food", "travel", "fuel", "clothing", "online"),
            flag("contactless", optional=False),
        ), weight=1.2),
        Entity("adviser", "advisers", "entity", 2, (
            name("person"), link("branch"), day("hire date", 4000),
            money("monthly pay", 2000, 7000), link("adviser", "team lead", null=0.2, barren=0.6),
        ), weight=0.5),
        Entity("loan", "loans", "event", 2, (
            link("customer", barren=0.5), link("adviser", null=0.1),
            money("principal", 1000, 90000), count("term months", 6, 240), day("start date", 1500),
            status("loan status", "running", "repaid", "late", "defaulted"),
            category("purpose", "home", "car", "studies", "renovation", null=0.05),
        ), weight=0.4),
        Entity("instalment", "instalments", "event", 2, (
            link("loan", barren=0.1, skew=0.5), day("due date", 900), money("due amount", 30, 1500),
            money("received amount", 0, 1500, null=0.1),
        ), weight=1.0),
        Entity("complaint", "complaints", "event", 3, (
            link("customer", barren=0.7), link("branch"), day("complaint date", 700),
            category("topic", "fees", "service", "fraud", "delay"),
            rating("settlement rating", null=0.3),
        ), weight=0.3),
        Entity("mandate", "mandates", "entity", 3, (
            link("customer"), link("account", skew=0.5),
            category("mandate type", "full", "view only", "limited"),
        ), pairs=True),
        Entity("exchange rate", "exchange rates", "event", 3, (
            link("country"), day("rate date", 500), measure("rate", 0.25, 12, "index points"),
        ), weight=0.3),
    ),
)  # fmt: skip
