"""A university: students enrol in sections of courses and sit exams."""

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
    "university",
    (
        Entity("campus", "campuses", "lookup", 2, (
            listed("main", "north", "medical", "lakeside", "technology"),
        )),
        Entity("faculty", "faculties", "entity", 1, (
            name("course"), link("campus"), money("yearly budget", 90000, 900000, unique=True),
            year("founding year", 1850, 2010),
        ), weight=0.25),
        Entity("institute", "institutes", "entity", 2, (
            name("course"), link("faculty", skew=0.5), count("room count", 3, 80),
            category("field", "science", "humanities", "engineering", "medicine"),
        ), weight=0.4),
        Entity("lecturer", "lecturers", "entity", 0, (
            name("person"), link("institute", null=0.05), money("monthly pay", 2400, 9000),
            category("rank", "professor", "reader", "lecturer", "assistant"),
            day("hire date", 5000), link("lecturer", "supervisor", null=0.3, barren=0.6),
            flag("tenured"),
        ), weight=0.7),
        Entity("course", "courses", "entity", 0, (
            name("course"), code("course code", "CRS"), link("lecturer", null=0.06),
            link("institute"), count("credits", 2, 12),
            category("course level", "bachelor", "master", "doctoral"),
            money("material fee", 0, 120, null=0.15), flag("elective"),
            link("course", "prerequisite", null=0.5, barren=0.5),
        )),
        Entity("programme", "programmes", "lookup", 1, (
            listed("arts", "law", "physics", "informatics", "economics", "nursing"),
        )),
        Entity("student", "students", "entity", 0, (
            name("person"), code("matriculation number", "S"), link("programme"),
            category("gender", "female", "male", "other", null=0.06, optional=True),
            category("residence", "dormitory", "private", "parents", null=0.1),
            year("entry year", 2015, 2023), money("scholarship", 0, 1200, null=0.35),
            flag("part time"), link("student", "mentor", null=0.5, barren=0.6),
        ), weight=1.8),
        Entity("section", "sections", "event", 1, (
            link("course", barren=0.1), link("lecturer", "teacher"), count("seat count", 8, 200),
            category("term", "autumn", "spring", "summer"), day("start date", 1400),
        ), weight=0.5),
        Entity("enrolment", "enrolments", "event", 0, (
            link("student", barren=0.1), link("section", barren=0.15, skew=0.5),
            link("course", barren=0.1), day("enrolment date", 1300),
            count("final points", 0, 100, null=0.12),
            status("enrolment status", "completed", "dropped", "running", "failed"),
            category("grading", "graded", "pass only"),
        ), weight=2.2),
        Entity("exam", "exams", "event", 2, (
            link("section", barren=0.2, skew=0.5), day("exam date", 1000),
            measure("duration", 0.5, 6, "h"), category("exam form", "written", "oral", "project"),
        ), weight=0.4),
        Entity("exam result", "exam results", "event", 2, (
            link("exam", barren=0.15, skew=0.5), link("student", barren=0.2),
            count("points", 0, 100, null=0.06), flag("passed", optional=False), note("remark"),
        ), weight=1.0),
        Entity("tuition payment", "tuition payments", "event", 1, (
            link("student", barren=0.2), day("payment date", 1100), money("paid amount", 50, 3500),
            category("method", "transfer", "card", "cash", null=0.05),
            status("payment status", "booked", "returned", "pending"),
        ), weight=0.9),
        Entity("course evaluation", "course evaluations", "event", 2, (
            link("section", barren=0.3), rating(), count("answer count", 1, 120),
            day("survey date", 900),
        ), weight=0.4),
        Entity("club", "clubs", "entity", 3, (
            name("title"), link("campus"), day("founding date", 5000),
            money("membership fee", 0, 60, null=0.2),
        ), weight=0.3),
        Entity("club membership", "club memberships", "entity", 3, (
            link("club", skew=0.5), link("student"), day("joining date", 900),
            category("office", "member", "treasurer", "chair"),
        ), pairs=True, weight=1.5),
    ),
)  # fmt: skip
