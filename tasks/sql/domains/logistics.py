"""A carrier: consignments of clients travel as parcels on trips between depots."""

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
    "logistics",
    (
        Entity("zone", "zones", "lookup", 2, (
            listed("coast", "inland", "mountain", "capital", "border", "island"),
        )),
        Entity("depot", "depots", "entity", 0, (
            name("city"), link("zone"), measure("storage area", 200, 9000, "m2"),
            category("depot class", "hub", "regional", "local"), year("opening year", 1970, 2022),
            link("depot", "parent depot", null=0.3, barren=0.5),
        ), weight=0.4),
        Entity("client", "clients", "entity", 0, (
            name("company"), code("client code", "K"), link("zone", null=0.05),
            category("contract", "standard", "premium", "spot", null=0.05),
            money("credit line", 500, 40000, null=0.08), day("contract date", 1800),
            flag("paperless"),
        )),
        Entity("driver", "drivers", "entity", 1, (
            name("person"), link("depot", "home depot"), day("licence date", 4500),
            money("monthly pay", 1600, 4200), rating("safety rating", null=0.08),
            category("licence class", "b", "c", "ce"),
            link("driver", "trainer", null=0.5, barren=0.6),
        ), weight=0.7),
        Entity("vehicle type", "vehicle types", "lookup", 2, (
            listed("van", "truck", "trailer", "cargo bike", "tanker"),
        )),
        Entity("vehicle", "vehicles", "entity", 1, (
            code("plate number", "V"), link("vehicle type"), link("depot"),
            measure("payload", 0.5, 24, "t"), year("build year", 2005, 2023),
            category("fuel", "diesel", "electric", "gas", "hybrid"),
            money("purchase price", 9000, 160000, unique=True),
        ), weight=0.8),
        Entity("trip", "trips", "event", 1, (
            link("driver", barren=0.1), link("vehicle", barren=0.15), link("depot", "start depot"),
            day("departure date", 900), measure("distance", 5, 900, "km"),
            measure("fuel used", 1, 300, "l", null=0.1),
            status("trip status", "completed", "delayed", "aborted", "planned"),
        ), weight=0.8),
        Entity("consignment", "consignments", "event", 0, (
            link("client", barren=0.15), link("depot", "origin depot"), link("trip", null=0.12),
            measure("gross weight", 1, 900, "kg", null=0.05),
            day("pick-up date", 900, after="client"),
            day("delivery date", 25, after="pick-up date", null=0.12),
            status("status", "delivered", "in transit", "lost", "refused", "waiting"),
            money("freight charge", 8, 1400), category("priority", "normal", "express", "economy"),
        ), weight=1.4),
        Entity("parcel", "parcels", "event", 1, (
            link("consignment", barren=0.1, skew=0.5), measure("weight", 0.25, 60, "kg"),
            category("packaging", "box", "pallet", "crate", "sack"),
            money("declared value", 5, 3000, null=0.15), flag("fragile", optional=False),
        ), weight=1.6),
        Entity("scan", "scans", "event", 2, (
            link("parcel", barren=0.3, skew=0.5), link("depot"), day("scan date", 800),
            category("scan kind", "inbound", "outbound", "damage", "delivery"), note("remark"),
        ), weight=1.0),
        Entity("claim", "claims", "event", 2, (
            link("consignment", barren=0.7, skew=0.0), day("claim date", 600),
            money("claimed amount", 20, 2500), money("settled amount", 0, 1800, null=0.3),
            status("claim status", "open", "accepted", "rejected"),
        ), weight=0.4),
        Entity("repair", "repairs", "event", 2, (
            link("vehicle", barren=0.3), link("depot", "workshop depot"), day("repair date", 900),
            money("repair cost", 40, 5200, null=0.06), measure("downtime", 1, 90, "h"),
            category("cause", "wear", "accident", "recall", null=0.1),
        ), weight=0.4),
        Entity("route permit", "route permits", "entity", 3, (
            link("driver", skew=0.5), link("depot"), day("issue date", 900),
            count("valid months", 1, 36),
        ), pairs=True),
        Entity("toll", "tolls", "event", 3, (
            link("trip", barren=0.4, skew=0.5), day("toll date", 700), money("toll amount", 1, 90),
        ), weight=0.5),
    ),
)  # fmt: skip
