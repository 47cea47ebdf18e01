"""Film production and cinemas: films, people, roles, screenings and prizes."""

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
    "film",
    (
        Entity("country", "countries", "lookup", 1, (
            listed("france", "japan", "brazil", "india", "sweden", "canada", "kenya"),
        )),
        Entity("studio", "studios", "entity", 1, (
            name("studio"), link("country"), year("founding year", 1910, 2015),
            link("studio", "parent studio", null=0.5, barren=0.6),
        ), weight=0.4),
        Entity("film", "films", "entity", 0, (
            name("title"), code("film code", "FM"), link("studio", null=0.06),
            year("release year", 1960, 2024), count("running time", 62, 210),
            money("production budget", 20000, 900000, null=0.1),
            category("genre", "drama", "comedy", "thriller", "animation", "documentary"),
            category("age limit", "all", "six", "twelve", "sixteen", null=0.06),
            flag("black and white"),
        ), weight=1.4),
        Entity("person", "people", "entity", 0, (
            name("person"), link("country", "birth country", null=0.05),
            year("birth year", 1920, 2004),
            category("gender", "female", "male", "other", null=0.05, optional=True),
            day("agency contract date", 3000), money("day fee", 100, 9000, null=0.12),
            link("person", "agent", null=0.5, barren=0.7),
        ), weight=1.6),
        Entity("role", "roles", "event", 0, (
            link("film", barren=0.08, skew=0.5), link("person", barren=0.15),
            category("task", "actor", "director", "writer", "composer", "editor"),
            money("salary", 500, 60000, null=0.1), count("billing position", 1, 30),
            count("shooting days", 1, 120),
        ), weight=1.0),
        Entity("city", "cities", "entity", 2, (
            name("city"), link("country"), count("population", 20, 900),
        ), weight=0.4),
        Entity("cinema", "cinemas", "entity", 1, (
            name("place"), link("city"), count("screen count", 1, 16),
            category("cinema kind", "multiplex", "art house", "open air"),
            day("opening date", 6000),
        ), weight=0.5),
        Entity("screening", "screenings", "event", 1, (
            link("film", barren=0.15), link("cinema", barren=0.1), day("screening date", 900),
            count("visitor count", 0, 320, null=0.04), money("ticket price", 4, 24),
            category("version", "dubbed", "subtitled", "original"), flag("three d"),
        ), weight=1.4),
        Entity("award", "awards", "lookup", 2, (
            listed("best film", "best script", "best music", "best actor", "audience prize"),
        )),
        Entity("nomination", "nominations", "event", 2, (
            link("film", barren=0.5), link("award"), link("person", null=0.3, barren=0.5),
            day("ceremony date", 1500), status("result", "won", "nominated", "withdrawn"),
        ), weight=0.4),
        Entity("review", "reviews", "event", 0, (
            link("film", barren=0.2), rating(), day("review date", 1000),
            category("outlet", "press", "radio", "blog", "television", null=0.05),
            count("word count", 20, 900), note("comment"),
        ), weight=0.8),
        Entity("distributor", "distributors", "entity", 2, (
            name("studio"), link("country"), money("yearly fee", 500, 20000, null=0.1),
        ), weight=0.3),
        Entity("licence", "licences", "entity", 2, (
            link("distributor", skew=0.5), link("film", barren=0.3), day("start date", 1500),
            money("licence fee", 200, 30000, null=0.05),
            category("territory", "home", "abroad", "world"),
        ), pairs=True, weight=1.5),
        Entity("festival entry", "festival entries", "event", 3, (
            link("film", barren=0.5), link("city"), day("festival date", 1200),
            category("section", "main", "panorama", "shorts"),
        ), weight=0.4),
        Entity("print", "prints", "event", 3, (
            link("film", barren=0.3), link("cinema", "holding cinema", null=0.3),
            measure("print weight", 2, 40, "kg"), category("condition", "new", "good", "scratched"),
        ), weight=0.4),
    ),
)  # fmt: skip
