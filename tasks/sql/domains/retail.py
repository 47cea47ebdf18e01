"""A shop: customers order products in stores and online."""

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
    "retail",
    (
        Entity("region", "regions", "lookup", 2, (
            listed("north", "south", "east", "west", "overseas"),
        )),
        Entity("city", "cities", "entity", 1, (
            name("city"), link("region"), count("population", 20, 900),
        ), weight=0.5),
        Entity("customer", "customers", "entity", 0, (
            name("person"), code("customer code", "C"), link("city", null=0.05),
            category("segment", "consumer", "business", "public", "partner", null=0.05),
            category("gender", "female", "male", "other", null=0.08, optional=True),
            money("credit limit", 200, 9000, null=0.1), day("sign-up date", 1600),
            flag("newsletter"), link("customer", "referrer", null=0.55, barren=0.6),
        )),
        Entity("department", "departments", "lookup", 2, (
            listed("kitchen", "garden", "sports", "office", "toys", "travel", "pets"),
        )),
        Entity("supplier", "suppliers", "entity", 2, (
            name("company"), link("city", null=0.1), rating("reliability rating", null=0.1),
            year("founding year", 1950, 2020), flag("preferred"),
        ), weight=0.4),
        Entity("product", "products", "entity", 0, (
            name("product"), code("article code", "A"), link("department"),
            link("supplier", null=0.06),
            category("material", "steel", "wood", "cotton", "glass", "plastic", "paper"),
            money("list price", 2, 480), measure("weight", 0.25, 40, "kg", null=0.08),
            count("stock level", 0, 300), flag("discontinued"),
            year("launch year", 2008, 2023, optional=True),
        )),
        Entity("store", "stores", "entity", 1, (
            name("place"), link("city"), category("format", "flagship", "standard", "outlet"),
            measure("floor area", 80, 2400, "m2"), day("opening date", 5000),
        ), weight=0.5),
        Entity("employee", "employees", "entity", 3, (
            name("person"), link("store"), money("monthly pay", 1400, 6200),
            link("employee", "supervisor", null=0.2, barren=0.6), day("hire date", 3000),
        )),
        Entity("order", "orders", "event", 0, (
            link("customer", barren=0.2), link("store", null=0.15),
            day("order date", 900, after="customer"),
            status("status", "paid", "shipped", "returned", "cancelled", "pending"),
            category("channel", "web", "store", "phone", "app"),
            money("shipping fee", 0, 30, null=0.1),
            day("delivery date", 40, after="order date", null=0.15), note("remark"),
        ), weight=1.0),
        Entity("order line", "order lines", "event", 0, (
            link("order", barren=0.08, skew=0.5), link("product", barren=0.15),
            count("quantity", 1, 12), money("unit price", 1, 480),
            money("discount", 0, 40, null=0.2),
        ), weight=2.0),
        Entity("review", "reviews", "event", 1, (
            link("product", barren=0.4), link("customer", barren=0.4), rating(),
            day("review date", 700), flag("verified"), count("helpful votes", 0, 60),
            note("comment"),
        ), weight=0.6),
        Entity("promotion", "promotions", "entity", 3, (
            name("campaign"), day("start date", 800), count("discount percentage", 5, 60),
            category("audience", "everyone", "members", "newcomers"),
        ), weight=0.4),
        Entity("promotion item", "promotion items", "entity", 3, (
            link("promotion", skew=0.5), link("product"), count("units reserved", 5, 200),
        ), pairs=True, weight=1.5),
        Entity("return", "returns", "event", 2, (
            link("order line", barren=0.7, skew=0.0), day("return date", 300),
            category("reason", "damaged", "wrong size", "late", "not needed", null=0.1),
            money("refund amount", 1, 300, null=0.05), link("store", "receiving store", null=0.3),
        ), weight=0.4),
        Entity("shipment", "shipments", "event", 3, (
            link("order", barren=0.3, skew=0.5), category("carrier", "post", "courier", "freight"),
            day("dispatch date", 600), measure("parcel weight", 0.25, 30, "kg", null=0.05),
        ), weight=0.6),
    ),
)  # fmt: skip
