"""A support desk: organisations raise tickets about products and agents answer."""

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
    "support",
    (
        Entity("timezone", "timezones", "lookup", 2, (
            listed("pacific", "atlantic", "central", "eastern", "gulf"),
        )),
        Entity("organisation", "organisations", "entity", 0, (
            name("company"), code("organisation code", "O"), link("timezone"),
            category("plan", "basic", "team", "enterprise", "trial", null=0.05),
            money("monthly fee", 0, 4000, null=0.08), day("contract date", 1800),
            count("seat count", 1, 400), link("organisation", "reseller", null=0.6, barren=0.7),
        ), weight=0.8),
        Entity("contact", "contacts", "entity", 1, (
            name("person"), link("organisation", barren=0.08, skew=0.5), flag("administrator"),
            category("language", "english", "german", "polish", "turkish"),
            day("first contact date", 1500, after="organisation"),
        ), weight=1.8),
        Entity("team", "teams", "lookup", 1, (
            listed("billing", "network", "mobile", "platform", "security"),
        )),
        Entity("agent", "agents", "entity", 0, (
            name("person"), link("team"), day("hire date", 2500), money("monthly pay", 1600, 5600),
            category("shift", "early", "late", "night"),
            link("agent", "coach", null=0.3, barren=0.6), rating("quality rating", null=0.1),
        ), weight=0.6),
        Entity("product", "products", "entity", 1, (
            name("software"), category("product line", "hardware", "software", "service"),
            money("list price", 5, 900), year("launch year", 2005, 2023),
        ), weight=0.4),
        Entity("ticket", "tickets", "event", 0, (
            code("ticket number", "TK"), link("organisation", barren=0.12),
            link("contact", null=0.1), link("agent", null=0.08), link("product"),
            day("opening date", 900, after="organisation"),
            day("closing date", 40, after="opening date", null=0.15),
            status("status", "solved", "open", "waiting", "reopened"),
            category("priority", "low", "normal", "high", "urgent"),
            category("channel", "mail", "phone", "chat", "portal", null=0.04),
            measure("handling time", 0.25, 30, "h", null=0.08),
        ), weight=1.2),
        Entity("message", "messages", "event", 0, (
            link("ticket", barren=0.08, skew=0.5), link("agent", null=0.4, barren=0.1),
            day("message date", 900), count("word count", 3, 600), flag("internal", optional=False),
            category("tone", "calm", "angry", "thankful", null=0.1),
        ), weight=2.0),
        Entity("survey", "surveys", "event", 1, (
            link("ticket", barren=0.5, skew=0.0), rating("satisfaction rating"),
            day("answer date", 700), note("comment"),
        ), weight=0.5),
        Entity("escalation", "escalations", "event", 2, (
            link("ticket", barren=0.7, skew=0.0), link("agent", "escalating agent"),
            link("team", "receiving team"), day("escalation date", 700),
            category("cause", "outage", "expertise", "complaint"),
        ), weight=0.4),
        Entity("article", "articles", "entity", 2, (
            name("article"), link("product"), link("agent", "author"),
            day("publication date", 1600), count("view count", 0, 900), flag("public"),
        ), weight=0.7),
        Entity("article use", "article uses", "entity", 2, (
            link("article", barren=0.2), link("agent", barren=0.1), count("use count", 1, 60),
            day("last use date", 500),
        ), pairs=True, weight=2.0),
        Entity("incident", "incidents", "event", 2, (
            link("product"), day("start date", 800), measure("downtime", 0.25, 60, "h", null=0.05),
            category("severity", "minor", "major", "critical"),
            money("credit granted", 0, 3000, null=0.3),
        ), weight=0.3),
        Entity("incident ticket", "incident tickets", "event", 3, (
            link("incident", barren=0.2, skew=0.5), link("ticket", barren=0.5),
            day("link date", 700),
        ), weight=0.4),
        Entity("licence", "licences", "event", 3, (
            link("organisation", barren=0.1), link("product"), day("start date", 1200),
            count("unit count", 1, 200), money("yearly fee", 20, 9000, null=0.05),
        ), weight=0.6),
    ),
)  # fmt: skip
