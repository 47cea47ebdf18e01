"""An online games shop: players, games, sessions and tournaments."""

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
    "games",
    (
        Entity("territory", "territories", "lookup", 2, (
            listed("nordic", "iberia", "benelux", "alpine", "baltic", "adriatic"),
        )),
        Entity("developer", "developers", "entity", 1, (
            name("developer"), link("territory"), year("founding year", 1985, 2020),
            rating("partner rating", null=0.1),
        ), weight=0.4),
        Entity("game", "games", "entity", 0, (
            name("title"), code("game code", "GM"), link("developer", null=0.05),
            category("genre", "puzzle", "racing", "strategy", "adventure", "sports"),
            money("store price", 0, 80, null=0.05), day("release date", 3000),
            measure("download size", 0.25, 90, "GB"), flag("multiplayer"),
            link("game", "predecessor", null=0.6, barren=0.6),
        ), weight=0.8),
        Entity("player", "players", "entity", 0, (
            name("person"), code("player tag", "PT"), link("territory", null=0.06),
            category("membership", "free", "plus", "family", null=0.06), day("sign-up date", 2000),
            money("wallet balance", 0, 200, null=0.12),
            link("player", "inviter", null=0.5, barren=0.6), flag("suspended"),
        ), weight=1.8),
        Entity("device", "devices", "entity", 1, (
            code("device number", "DV"), link("player", barren=0.1),
            category("platform", "console", "phone", "computer"), year("model year", 2012, 2024),
            measure("screen width", 0.25, 2, "m", null=0.1),
        ), weight=2.0),
        Entity("purchase", "purchases", "event", 0, (
            link("player", barren=0.2), link("game", barren=0.1),
            day("purchase date", 900, after="player"), money("paid amount", 0, 80),
            category("payment method", "card", "voucher", "wallet", null=0.04),
            status("purchase status", "completed", "refunded", "disputed"),
        ), weight=1.0),
        Entity("session", "sessions", "event", 0, (
            link("player", barren=0.1), link("game", barren=0.1), link("device", null=0.1),
            day("session date", 600), measure("play time", 0.25, 12, "h"),
            count("points", 0, 900, null=0.06),
            category("mode", "solo", "team", "ranked", "practice"),
        ), weight=2.0),
        Entity("achievement", "achievements", "entity", 1, (
            name("title"), link("game", skew=0.5), count("point value", 5, 100),
            category("rarity", "common", "rare", "epic"),
        ), weight=1.5),
        Entity("unlock", "unlocks", "event", 1, (
            link("achievement", barren=0.2), link("player", barren=0.2), day("unlock date", 700),
            link("session", null=0.2, barren=0.3, skew=0.0),
        ), weight=1.0),
        Entity("guild", "guilds", "entity", 2, (
            name("title"), link("territory"), day("founding date", 1800),
            count("member limit", 10, 90),
        ), weight=0.4),
        Entity("guild membership", "guild memberships", "entity", 2, (
            link("guild", barren=0.1, skew=0.5), link("player", barren=0.3),
            category("rank", "leader", "officer", "member"), day("joining date", 900),
        ), pairs=True, weight=1.5),
        Entity("tournament", "tournaments", "entity", 2, (
            name("campaign"), link("game"), day("start date", 900), money("prize fund", 100, 20000),
            status("tournament status", "finished", "open", "cancelled"),
        ), weight=0.5),
        Entity("tournament entry", "tournament entries", "event", 2, (
            link("tournament", barren=0.1, skew=0.5), link("player", barren=0.3),
            count("final rank", 1, 64, null=0.1), money("prize", 0, 2000, null=0.5),
        ), weight=0.7),
        Entity("review", "reviews", "event", 3, (
            link("game", barren=0.2), link("player", barren=0.4), rating(), day("review date", 800),
            count("helpful votes", 0, 90), note("comment"),
        ), weight=0.6),
        Entity("report", "reports", "event", 3, (
            link("player", "reported player", barren=0.6), link("session", null=0.2),
            category("reason", "cheating", "insult", "spam"), day("report date", 500),
            status("report status", "open", "upheld", "dismissed"),
        ), weight=0.4),
    ),
)  # fmt: skip
