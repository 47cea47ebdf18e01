"""An airline: passengers book flights that aircraft and crews fly between airports."""

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
    "airline",
    (
        Entity("continent", "continents", "lookup", 2, (
            listed("europe", "asia", "africa", "america", "oceania"),
        )),
        Entity("airport", "airports", "entity", 0, (
            name("city"), code("airport code", "AP"), link("continent"),
            count("runway count", 1, 6), measure("elevation", 0, 900, "m", null=0.05),
            category("airport size", "small", "medium", "large"), flag("night curfew"),
        ), weight=0.6),
        Entity("manufacturer", "manufacturers", "entity", 2, (
            name("company"), year("founding year", 1920, 2000), link("continent"),
        ), weight=0.2),
        Entity("aircraft model", "aircraft models", "entity", 2, (
            name("aircraft"), link("manufacturer", skew=0.5), count("seat count", 19, 420),
            measure("range", 500, 9000, "km"), category("engine", "jet", "turboprop"),
        ), weight=0.4),
        Entity("aircraft", "aircraft", "entity", 1, (
            code("tail number", "T"), link("aircraft model"), link("airport", "base airport"),
            year("build year", 1998, 2023), money("monthly lease", 9000, 240000, null=0.2),
            category("ownership", "owned", "leased", "wet lease"),
        ), weight=0.7),
        Entity("flight", "flights", "event", 0, (
            code("flight number", "F"), link("airport", "origin airport"),
            link("airport", "destination airport"), link("aircraft"), day("flight date", 900),
            measure("distance", 150, 9000, "km"), count("delay minutes", 0, 240, null=0.08),
            status("flight status", "landed", "cancelled", "diverted", "planned"),
        ), weight=1.0),
        Entity("passenger", "passengers", "entity", 0, (
            name("person"), code("passenger number", "PX"),
            link("airport", "home airport", null=0.06),
            category("tier", "blue", "silver", "gold", "black", null=0.08),
            count("bonus miles", 0, 9000, null=0.1), day("joining date", 2000),
            year("birth year", 1940, 2015), link("passenger", "companion", null=0.6, barren=0.6),
        ), weight=1.6),
        Entity("booking", "bookings", "event", 0, (
            link("passenger", barren=0.15), link("flight", barren=0.12, skew=0.5),
            day("booking date", 900, after="passenger"), money("fare", 30, 1900),
            category("cabin", "economy", "premium", "business", "first"),
            status("booking status", "flown", "no show", "refunded", "open"),
            category("sales channel", "web", "agency", "app", "desk", null=0.05),
            money("ancillary charge", 0, 160, null=0.25),
        ), weight=2.0),
        Entity("bag", "bags", "event", 1, (
            link("booking", barren=0.4, skew=0.5), measure("weight", 2, 40, "kg", null=0.04),
            category("bag type", "cabin", "hold", "bulky"), flag("lost", optional=False),
        ), weight=1.0),
        Entity("crew member", "crew members", "entity", 1, (
            name("person"), link("airport", "base airport"), day("hire date", 4000),
            category("duty", "captain", "first officer", "purser", "cabin crew"),
            money("monthly pay", 1800, 14000),
            link("crew member", "supervisor", null=0.2, barren=0.6),
        ), weight=0.9),
        Entity("assignment", "assignments", "entity", 2, (
            link("flight", barren=0.2, skew=0.5), link("crew member"),
            measure("duty time", 1, 14, "h"),
        ), pairs=True, weight=2.0),
        Entity("maintenance check", "maintenance checks", "event", 2, (
            link("aircraft", barren=0.2), link("airport"), day("check date", 900),
            category("check class", "a", "b", "c", "d"), money("check cost", 200, 40000, null=0.06),
            measure("ground time", 2, 200, "h"), note("finding"),
        ), weight=0.4),
        Entity("survey answer", "survey answers", "event", 2, (
            link("booking", barren=0.6, skew=0.0), rating(), day("answer date", 700),
            category("topic", "crew", "food", "seat", "boarding"),
        ), weight=0.5),
        Entity("voucher", "vouchers", "event", 3, (
            link("passenger", barren=0.6), money("voucher value", 10, 400), day("issue date", 700),
            status("voucher status", "open", "used", "expired"),
        ), weight=0.3),
        Entity("lounge visit", "lounge visits", "event", 3, (
            link("passenger", barren=0.5), link("airport"), day("visit date", 600),
            count("guest count", 0, 4),
        ), weight=0.4),
    ),
)  # fmt: skip
