"""A public library: branches lend copies of books to members."""

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
    "library",
    (
        Entity("quarter", "quarters", "lookup", 2, (
            listed("centre", "docks", "heights", "meadows", "station", "old mills"),
        )),
        Entity("branch", "branches", "entity", 0, (
            name("place"), link("quarter"), count("seat count", 10, 260),
            year("opening year", 1930, 2021), flag("has lift"),
            money("yearly budget", 8000, 240000, unique=True),
        ), weight=0.3),
        Entity("publisher", "publishers", "entity", 2, (
            name("publisher"), category("region", "europe", "asia", "america", "africa", null=0.1),
            year("founding year", 1880, 2015),
        ), weight=0.4),
        Entity("author", "authors", "entity", 1, (
            name("person"), year("birth year", 1890, 1998),
            category("language", "english", "french", "german", "spanish", "dutch"),
            link("author", "teacher", null=0.7, barren=0.6),
        ), weight=0.8),
        Entity("genre", "genres", "lookup", 1, (
            listed("crime", "poetry", "history", "science", "travel", "romance", "essays"),
        )),
        Entity("book", "books", "entity", 0, (
            name("title"), code("shelf mark", "B"), link("author", null=0.05), link("publisher"),
            link("genre"), year("publication year", 1950, 2023), count("page count", 40, 900),
            money("replacement price", 5, 140, null=0.07),
            category("binding", "hardback", "paperback", "large print", null=0.06),
        ), weight=1.5),
        Entity("copy", "copies", "event", 1, (
            link("book", barren=0.1), link("branch", barren=0.1),
            category("condition", "new", "good", "worn", "damaged"), day("purchase date", 3000),
            measure("copy weight", 0.25, 3, "kg", null=0.05),
        ), weight=0.8),
        Entity("member", "members", "entity", 0, (
            name("person"), code("card number", "M"), link("branch", "home branch", null=0.06),
            category("member group", "adult", "child", "student", "senior"),
            day("joining date", 2200), money("unpaid fees", 0, 60, null=0.2), flag("blocked"),
            link("member", "guarantor", null=0.7, barren=0.7),
        )),
        Entity("loan", "loans", "event", 0, (
            link("member", barren=0.2), link("copy", barren=0.2), link("book", barren=0.1),
            day("loan date", 900, after="member"),
            day("return date", 60, after="loan date", null=0.1),
            status("loan status", "returned", "open", "overdue", "lost"),
            count("renewal count", 0, 6), money("fine", 0, 30, null=0.3),
        ), weight=2.0),
        Entity("reservation", "reservations", "event", 2, (
            link("member", barren=0.5), link("book", barren=0.4), day("request date", 500),
            status("state", "waiting", "ready", "collected", "expired"),
            count("queue position", 1, 20),
        ), weight=0.7),
        Entity("librarian", "librarians", "entity", 2, (
            name("person"), link("branch"), money("monthly pay", 1500, 4200),
            day("hire date", 4000), link("librarian", "supervisor", null=0.2, barren=0.6),
        ), weight=0.4),
        Entity("event", "events", "event", 2, (
            link("branch"), link("librarian", "organiser", null=0.1), day("event date", 700),
            category("audience", "children", "adults", "everyone"), count("visitor count", 0, 180),
            money("event cost", 0, 900, null=0.1), note("remark"),
        ), weight=0.5),
        Entity("book rating", "book ratings", "event", 3, (
            link("book", barren=0.5), link("member", barren=0.5), rating(), day("rating date", 600),
            note("comment"),
        ), weight=0.7),
        Entity("co-authorship", "co-authorships", "entity", 3, (
            link("book", barren=0.6), link("author"),
            category("part", "editor", "translator", "illustrator"),
        ), pairs=True),
        Entity("acquisition", "acquisitions", "event", 3, (
            link("publisher"), link("branch"), day("order date", 800), count("volume count", 1, 90),
            money("total cost", 20, 4000, null=0.05),
        ), weight=0.5),
    ),
)  # fmt: skip
