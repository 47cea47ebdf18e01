"""A personnel office: employees, departments, projects and time worked."""

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
)  # fmt: skip

DOMAIN = Domain(
    "hr",
    (
        Entity("site", "sites", "entity", 1, (
            name("city"), category("climate", "mild", "cold", "hot"), count("floor count", 1, 30),
            day("opening date", 6000), money("monthly rent", 2000, 60000, null=0.15),
        ), weight=0.25),
        Entity("division", "divisions", "lookup", 2, (
            listed("sales", "research", "production", "finance", "support", "legal"),
        )),
        Entity("department", "departments", "entity", 0, (
            name("department"), link("division"), link("site"),
            money("yearly budget", 20000, 800000, unique=True),
            link("department", "parent department", null=0.2, barren=0.5),
        ), weight=0.4),
        Entity("job grade", "job grades", "lookup", 2, (
            listed("trainee", "junior", "senior", "lead", "director"),
        )),
        Entity("employee", "employees", "entity", 0, (
            name("person"), code("staff number", "E"), link("department", null=0.04),
            link("job grade"), link("employee", "manager", null=0.05, barren=0.6),
            category("gender", "female", "male", "other", null=0.05, optional=True),
            money("monthly salary", 1500, 9800), day("hire date", 3600), flag("remote"),
            category("contract", "permanent", "temporary", "freelance", null=0.04),
        ), weight=1.8),
        Entity("client", "clients", "entity", 1, (
            name("company"), code("client code", "CL"),
            category("sector", "public", "industry", "retail", "health", null=0.08),
            link("site", "serving site", null=0.1), money("yearly volume", 1000, 400000, null=0.1),
        ), weight=0.6),
        Entity("project", "projects", "entity", 1, (
            name("title"), link("client", null=0.1), link("department", "owning department"),
            day("start date", 1500), money("budget", 2000, 300000),
            status("project status", "running", "closed", "on hold", "cancelled"),
            category("billing", "fixed", "hourly", "internal"),
        ), weight=0.9),
        Entity("absence", "absences", "event", 0, (
            link("employee", barren=0.2), day("start date", 900, after="employee"),
            count("day count", 1, 30), category("kind", "sick", "holiday", "parental", "training"),
            status("approval status", "approved", "rejected", "pending"), note("remark"),
        ), weight=1.0),
        Entity("timesheet", "timesheets", "event", 0, (
            link("employee", barren=0.1), link("project", null=0.1), day("work date", 900),
            measure("time worked", 0.5, 12, "h"), flag("overtime", optional=False),
            status("sheet status", "approved", "submitted", "returned"),
        ), weight=2.0),
        Entity("appraisal", "appraisals", "event", 1, (
            link("employee", barren=0.3), link("employee", "appraiser", barren=0.5),
            day("appraisal date", 1100), rating("overall rating", null=0.04),
            money("bonus", 0, 6000, null=0.25), note("comment"),
        ), weight=0.7),
        Entity("course", "courses", "entity", 2, (
            name("course"), money("course fee", 0, 2400, null=0.1), measure("duration", 2, 60, "h"),
            category("course form", "online", "classroom", "mixed"),
        ), weight=0.4),
        Entity("training", "trainings", "event", 2, (
            link("employee", barren=0.4), link("course", barren=0.15), day("training date", 900),
            flag("certified", optional=False), rating(null=0.2),
        ), weight=0.6),
        Entity("skill", "skills", "lookup", 2, (

            listed("sql", "welding", "accounting", "spanish", "first aid", "presenting"),
        )),
        Entity("employee skill", "employee skills", "entity", 2, (
            link("employee", barren=0.2), link("skill", barren=0.1), rating("skill level"),
        ), pairs=True, weight=3.0),
        Entity("applicant", "applicants", "entity", 3, (
            name("person"), link("department", "wanted department"), day("application date", 700),
            status("stage", "received", "interview", "offer", "hired", "declined"),
            money("salary wish", 1500, 8000, null=0.2),
            link("employee", "recommender", null=0.6, barren=0.7),
        ), weight=1.0),
        Entity("expense claim", "expense claims", "event", 3, (
            link("employee", barren=0.4), link("project", null=0.3), day("expense date", 800),
            money("claimed amount", 3, 1200), money("refunded amount", 0, 1000, null=0.2),
            category("expense type", "travel", "meals", "hotel", "equipment"),
        ), weight=0.8),
    ),
)  # fmt: skip
