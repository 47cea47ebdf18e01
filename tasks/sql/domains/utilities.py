"""A power, gas and water company: households, meters, readings and bills."""

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
    year,
)  # fmt: skip

DOMAIN = Domain(
    "utilities",
    (
        Entity("area", "areas", "lookup", 2, (
            listed("lowlands", "uplands", "valley", "coast", "city"),
        )),
        Entity("substation", "substations", "entity", 1, (
            name("place"), link("area"), measure("capacity", 5, 400, "MWh"),
            year("build year", 1955, 2022), category("grid level", "high", "medium", "low"),
            link("substation", "feeding substation", null=0.2, barren=0.5),
        ), weight=0.35),
        Entity("household", "households", "entity", 0, (
            name("person", "contact name"), code("household code", "H"), link("area", null=0.05),
            category("dwelling", "flat", "house", "farm", "shop"), count("person count", 1, 8),
            day("contract date", 2400), money("deposit", 0, 400, null=0.15), flag("solar panels"),
        ), weight=1.6),
        Entity("tariff", "tariffs", "entity", 0, (
            name("tariff"), category("energy", "electricity", "gas", "water", "heat"),
            money("standing charge", 2, 60), money("unit charge", 0.25, 6), day("valid from", 1800),
            flag("green", optional=False),
        ), weight=0.3),
        Entity("meter", "meters", "entity", 1, (
            code("meter number", "MT"), link("household", barren=0.1),
            link("substation", null=0.08), category("meter kind", "smart", "analogue", "prepaid"),
            year("calibration year", 2008, 2024), link("tariff"),
            status("meter status", "active", "faulty", "removed"),
        ), weight=2.0),
        Entity("reading", "readings", "event", 1, (
            link("meter", barren=0.1), day("reading date", 900),
            measure("consumption", 0, 90, "MWh", null=0.06),
            category("reading source", "remote", "field", "customer", "estimate"),
        ), weight=1.6),
        Entity("bill", "bills", "event", 0, (
            link("household", barren=0.12), link("tariff"),
            day("bill date", 900, after="household"), money("billed amount", 10, 900),
            day("due date", 45, after="bill date"),
            status("bill status", "paid", "open", "overdue", "disputed"),
            category("delivery", "post", "mail", "portal", null=0.05),
        ), weight=1.4),
        Entity("payment", "payments", "event", 0, (
            link("bill", barren=0.25, skew=0.5), day("payment date", 800),
            money("paid amount", 5, 900),
            category("method", "direct debit", "transfer", "cash", "card"), note("remark"),
        ), weight=1.0),
        Entity("technician", "technicians", "entity", 2, (
            name("person"), link("area"), category("trade", "electric", "gas", "water"),
            money("hourly pay", 12, 60), day("hire date", 4000),
        ), weight=0.4),
        Entity("outage", "outages", "event", 2, (
            link("substation", barren=0.3), day("outage date", 900),
            measure("duration", 0.25, 48, "h", null=0.05),
            category("cause", "storm", "overload", "digging", "ageing", null=0.1),
            count("households affected", 1, 900),
        ), weight=0.4),
        Entity("field job", "field jobs", "event", 2, (
            link("technician", barren=0.15), link("meter", null=0.2), day("job date", 700),
            status("job status", "done", "planned", "failed"),
            money("material cost", 0, 400, null=0.15), rating("customer rating", null=0.3),
        ), weight=0.6),
        Entity("subsidy", "subsidies", "entity", 3, (
            name("campaign"), money("grant", 20, 900), day("start date", 1200),
        ), weight=0.2),
        Entity("subsidy grant", "subsidy grants", "entity", 3, (
            link("subsidy", skew=0.5), link("household"), day("grant date", 800),
            money("granted amount", 10, 600, null=0.05),
        ), pairs=True, weight=1.2),
        Entity("complaint", "complaints", "event", 3, (
            link("household", barren=0.6), link("bill", null=0.3), day("complaint date", 600),
            category("topic", "price", "meter", "service", "outage"), flag("justified"),
        ), weight=0.4),
    ),
)  # fmt: skip
