"""A letting agency: flats, tenants, rents and repairs."""

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
    "housing",
    (
        Entity("borough", "boroughs", "lookup", 2, (
            listed("eastside", "westside", "midtown", "parkland", "waterfront", "hilltop"),
        )),
        Entity("street", "streets", "entity", 2, (
            name("place"), link("borough"), measure("length", 0.25, 9, "km"), flag("pedestrian"),
        ), weight=0.6),
        Entity("building", "buildings", "entity", 1, (
            code("building code", "BD"), link("street"), year("build year", 1890, 2023),
            category("building kind", "block", "villa", "tower", "terrace"),
            count("storey count", 1, 24), measure("plot area", 100, 4000, "m2", null=0.05),
        ), weight=0.8),
        Entity("owner", "owners", "entity", 1, (
            name("person"), code("owner number", "OW"),
            category("owner kind", "private", "fund", "company", "city", null=0.05),
            day("contract date", 3000), link("owner", "representative", null=0.6, barren=0.7),
        ), weight=0.6),
        Entity("flat", "flats", "entity", 0, (
            code("flat code", "FL"), link("building"), link("owner", barren=0.1),
            measure("floor area", 18, 220, "m2"), count("room count", 1, 7),
            money("list rent", 300, 3600),
            category("heating", "gas", "district", "electric", "oil", null=0.06), flag("balcony"),
            rating("condition rating", null=0.05),
        ), weight=1.6),
        Entity("tenant", "tenants", "entity", 0, (
            name("person"), code("tenant number", "TN"),
            money("monthly income", 900, 9000, null=0.1),
            category("employment", "employed", "student", "retired", "self employed", null=0.06),
            count("household size", 1, 7), day("first contact date", 2200), flag("has pets"),
            link("tenant", "guarantor", null=0.6, barren=0.7),
        ), weight=1.5),
        Entity("tenancy", "tenancies", "event", 0, (
            link("flat", barren=0.12), link("tenant", barren=0.15),
            day("start date", 1500, after="tenant"),
            day("end date", 700, after="start date", null=0.3), money("monthly rent", 280, 3800),
            money("deposit", 200, 6000, null=0.08),
            status("tenancy status", "running", "ended", "terminated", "disputed"),
        ), weight=0.9),
        Entity("rent payment", "rent payments", "event", 0, (
            link("tenancy", barren=0.06, skew=0.5), day("payment date", 1000),
            money("paid amount", 50, 3800),
            category("method", "transfer", "debit", "cash", null=0.04),
            flag("late", optional=False), note("remark"),
        ), weight=2.0),
        Entity("contractor", "contractors", "entity", 2, (
            name("company"), category("trade", "plumbing", "painting", "electric", "roofing"),
            money("hourly rate", 25, 140), rating("quality rating", null=0.1),
        ), weight=0.3),
        Entity("repair", "repairs", "event", 1, (
            link("flat", barren=0.4), link("contractor", null=0.1), day("request date", 900),
            day("repair date", 60, after="request date", null=0.1), money("repair cost", 20, 2600),
            status("repair status", "done", "ordered", "refused"),
            measure("labour time", 0.5, 40, "h", null=0.05),
        ), weight=0.6),
        Entity("agent", "agents", "entity", 2, (
            name("person"), link("borough", null=0.05), day("hire date", 3000),
            money("monthly pay", 1500, 5200), link("agent", "team lead", null=0.2, barren=0.6),
        ), weight=0.4),
        Entity("viewing", "viewings", "event", 2, (
            link("flat", barren=0.25), link("agent"), link("tenant", "visitor", null=0.2),
            day("viewing date", 800), category("result", "interested", "declined", "undecided"),
            rating("interest rating", null=0.2),
        ), weight=0.7),
        Entity("meter reading", "meter readings", "event", 2, (
            link("flat", barren=0.2), day("reading date", 900), measure("energy", 0.25, 20, "MWh"),
            category("medium", "heat", "water", "power"),
        ), weight=0.7),
        Entity("inspection", "inspections", "event", 3, (
            link("building", barren=0.4), day("inspection date", 1500), count("fault count", 0, 30),
            status("verdict", "clear", "minor", "major"),
        ), weight=0.3),
        Entity("amenity", "amenities", "lookup", 3, (
            listed("lift", "garage", "garden", "sauna", "playground", "roof terrace"),
        )),
        Entity("building amenity", "building amenities", "entity", 3, (
            link("building", barren=0.2), link("amenity"),
            money("yearly upkeep", 20, 4000, null=0.1),
        ), pairs=True, weight=1.2),
    ),
)  # fmt: skip
