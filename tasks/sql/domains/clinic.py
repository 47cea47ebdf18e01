"""A group of clinics: patients see doctors, stay in wards and are billed."""

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
    "clinic",
    (
        Entity("district", "districts", "lookup", 2, (
            listed("harbour", "old town", "hillside", "riverside", "airport", "university"),
        )),
        Entity("clinic site", "clinic sites", "entity", 1, (
            name("place"), link("district"), count("bed count", 4, 120),
            category("kind", "hospital", "day clinic", "practice"),
            year("opening year", 1960, 2020),
        ), weight=0.3),
        Entity("ward", "wards", "entity", 2, (
            name("place"), link("clinic site", skew=0.5), count("bed count", 4, 40),
            category("ward type", "surgical", "medical", "maternity", "intensive"),
        ), weight=0.5),
        Entity("specialty", "specialties", "lookup", 1, (
            listed("cardiology", "neurology", "paediatrics", "oncology", "surgery", "dermatology"),
        )),
        Entity("doctor", "doctors", "entity", 0, (
            name("person"), link("specialty"), link("clinic site", null=0.08),
            code("licence number", "L"), money("consultation fee", 40, 320), day("hire date", 3500),
            rating("peer rating", null=0.1), link("doctor", "mentor", null=0.4, barren=0.6),
        ), weight=0.6),
        Entity("insurer", "insurers", "entity", 2, (
            name("insurer"), category("plan kind", "public", "private", "mixed"),
            money("yearly ceiling", 2000, 60000, null=0.1), flag("direct billing"),
        ), weight=0.25),
        Entity("patient", "patients", "entity", 0, (
            name("person"), code("patient number", "P"), link("insurer", null=0.12),
            category("sex", "female", "male", "other", null=0.05),
            category("blood group", "a", "b", "ab", "o", null=0.1, optional=True),
            measure("body height", 1.25, 2.25, "m", null=0.08), day("registration date", 2000),
            flag("smoker"), year("birth year", 1935, 2020),
        ), weight=1.4),
        Entity("appointment", "appointments", "event", 0, (
            link("patient", barren=0.15), link("doctor", barren=0.1),
            day("appointment date", 900, after="patient"),
            status("outcome", "attended", "missed", "cancelled", "moved"),
            category("booking channel", "phone", "web", "desk", null=0.06),
            count("minutes waited", 0, 120, null=0.08), note("remark"),
        ), weight=1.6),
        Entity("diagnosis", "diagnoses", "event", 1, (
            link("appointment", barren=0.4, skew=0.5), day("diagnosis date", 800),
            category("severity", "mild", "moderate", "severe", "critical"),
            code("diagnosis code", "D"), flag("chronic", optional=False),
        ), weight=0.8),
        Entity("medicine", "medicines", "entity", 1, (
            name("medicine"), link("insurer", "covering insurer", null=0.3),
            money("pack price", 2, 260), measure("pack weight", 0.25, 3, "kg"),
            category("form", "tablet", "syrup", "injection", "cream"), flag("prescription only"),
        ), weight=0.5),
        Entity("prescription", "prescriptions", "event", 1, (
            link("appointment", barren=0.45, skew=0.5), link("medicine", barren=0.15),
            count("dose count", 1, 60), money("patient share", 0, 90, null=0.1),
            day("issue date", 800), flag("renewable"),
        ), weight=1.0),
        Entity("stay", "stays", "event", 2, (
            link("patient", barren=0.5), link("ward"), day("admission date", 700),
            day("discharge date", 30, after="admission date", null=0.1),
            money("stay cost", 300, 9000), rating("satisfaction rating", null=0.2),
        ), weight=0.6),
        Entity("invoice", "invoices", "event", 2, (
            link("appointment", barren=0.3, skew=0.0), money("billed amount", 30, 900),
            money("paid amount", 0, 600, null=0.12), day("invoice date", 700),
            status("invoice status", "open", "paid", "disputed", "written off"),
        ), weight=0.8),
        Entity("allergy", "allergies", "entity", 3, (
            link("patient", barren=0.5), link("medicine"),
            category("reaction", "rash", "nausea", "shock"),
        ), pairs=True, weight=1.2),
        Entity("laboratory test", "laboratory tests", "event", 3, (
            link("appointment", barren=0.6), day("sample date", 600),
            measure("sample volume", 0.25, 4, "l", null=0.05),
            status("result", "normal", "raised", "low", "unclear"),
        ), weight=0.7),
    ),
)  # fmt: skip
