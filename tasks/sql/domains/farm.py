"""Farms: fields, crops, animals, milk and sales."""

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
    "farm",
    (
        Entity("county", "counties", "lookup", 1, (
            listed("ashford", "brent", "calder", "dorne", "ellis", "fenton"),
        )),
        Entity("farm", "farms", "entity", 0, (
            name("farm"), code("farm number", "FA"), link("county"),
            measure("land area", 4, 900, "ha"),
            category("farming style", "organic", "conventional", "mixed", null=0.04),
            day("registration date", 4000), money("yearly subsidy", 0, 60000, null=0.12),
            flag("leased"),
        ), weight=0.8),
        Entity("field", "fields", "entity", 1, (
            code("parcel code", "PC"), link("farm", barren=0.08),
            measure("field area", 0.5, 60, "ha"),
            category("soil", "clay", "sand", "loam", "peat", null=0.06), flag("irrigated"),
        ), weight=1.6),
        Entity("crop", "crops", "lookup", 1, (
            listed("wheat", "barley", "maize", "potato", "rape", "beet", "oats"),
        )),
        Entity("animal", "animals", "entity", 0, (
            code("ear tag", "ET"), link("farm", barren=0.15),
            category("species", "cow", "sheep", "goat", "pig"), day("birth date", 2500),
            measure("live weight", 8, 700, "kg", null=0.06), category("sex", "female", "male"),
            link("animal", "mother", null=0.5, barren=0.5),
            status("herd status", "present", "sold", "slaughtered", "dead"),
        ), weight=2.0),
        Entity("worker", "workers", "entity", 2, (
            name("person"), link("farm"), money("daily pay", 40, 190), day("hire date", 2500),
            category("task", "milking", "field", "repair", "driving"),
            link("worker", "foreman", null=0.2, barren=0.6),
        ), weight=0.8),
        Entity("sowing", "sowings", "event", 1, (
            link("field", barren=0.12), link("crop"), day("sowing date", 1200),
            measure("seed used", 5, 900, "kg", null=0.05), money("seed cost", 20, 2500),
        ), weight=0.7),
        Entity("harvest", "harvests", "event", 1, (
            link("sowing", barren=0.2, skew=0.0), day("harvest date", 1000),
            measure("yield", 1, 120, "t"), rating("quality rating", null=0.08),
            link("worker", "harvest leader", null=0.2),
        ), weight=0.6),
        Entity("milking", "milkings", "event", 0, (
            link("animal", barren=0.3), day("milking date", 900, after="animal"),
            measure("milk volume", 1, 40, "l", null=0.04),
            category("session", "morning", "evening"), count("cell count", 20, 900, null=0.1),
            flag("rejected", optional=False),
        ), weight=1.6),
        Entity("treatment", "treatments", "event", 0, (
            link("animal", barren=0.5), day("treatment date", 900), money("treatment cost", 5, 400),
            category("reason", "vaccination", "injury", "infection", "birth", null=0.05),
            count("withdrawal days", 0, 40), note("remark"),
        ), weight=0.7),
        Entity("buyer", "buyers", "entity", 2, (
            name("company"), code("buyer code", "BY"), link("county", null=0.1),
            category("trade", "dairy", "mill", "butcher", "market"),
            money("credit limit", 500, 30000, null=0.1),
        ), weight=0.4),
        Entity("sale", "sales", "event", 2, (
            link("buyer", barren=0.15), link("farm"), day("sale date", 900),
            money("sale amount", 20, 6000),
            category("goods", "milk", "grain", "animal", "vegetables"),
            status("payment status", "paid", "open", "overdue"),
        ), weight=0.9),
        Entity("machine", "machines", "entity", 2, (
            code("machine number", "MA"), link("farm", barren=0.2),
            category("kind", "tractor", "harvester", "plough"), year("build year", 1985, 2023),
            money("purchase price", 900, 190000, unique=True),
        ), weight=0.8),
        Entity("inspection", "inspections", "event", 3, (
            link("farm", barren=0.3), day("inspection date", 1200), count("fault count", 0, 20),
            status("verdict", "passed", "warned", "failed"), money("penalty", 0, 2000, null=0.4),
        ), weight=0.4),
        Entity("grazing right", "grazing rights", "entity", 3, (
            link("farm", skew=0.5), link("field"), day("start date", 900), money("rent", 5, 500),
        ), pairs=True),
    ),
)  # fmt: skip
