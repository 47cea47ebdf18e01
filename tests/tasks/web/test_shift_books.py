"""The ledger of a shift: valid entries and mandates, and the expected value of every record."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.templates.shifts.choosing import best_parts, draw_choice, largest_first
from hexathlon.tasks.web.templates.shifts.handbook import draw_numbers, pages_of
from hexathlon.tasks.web.templates.shifts.ledger import DayLedger, DayMail, DayStatement, DayStep
from hexathlon.tasks.web.templates.shifts.records import JobTarget, RecordJob
from hexathlon.tasks.web.templates.shifts.replay import reread
from hexathlon.tasks.web.templates.shifts.rules import (
    DayRules,
    Mandate,
    RecordClosure,
    RegisterEntry,
)
from hexathlon.tasks.web.world.people import Person

TODAY = date(2026, 3, 12)
HEAD = Person("h.ead", "Hanna Ead", "h.ead@ostra.test")
KEEPER = Person("k.eep", "Kai Eep", "k.eep@ostra.test")
SECOND = Person("s.econd", "Sia Econd", "s.econd@ostra.test")
STRANGER = Person("s.tranger", "Sam Tranger", "s.tranger@ostra.test")


def ago(days):
    return TODAY - timedelta(days=days)


def mandate(person, granter, site="mail", first=30, last=-30):
    return Mandate(person.name, person.email, site, ago(first), ago(last), granter.name)


def entry(label, kind="hold", days=2, author=KEEPER, site="mail"):
    return RegisterEntry(kind, site, "contact", label, ago(days), author.name)


def closure(group="group of A", first=3, last=-3, author=KEEPER):
    return RecordClosure("C-41", "mail", group, ago(first), ago(last), author.name)


def scene():
    return WebScene(generator_for("books"), "hard", "train", "en", True, 5)


def rules(**changes):
    plain = DayRules(TODAY, draw_numbers(scene()), 8, HEAD, KEEPER, True,
                     mandates=(mandate(KEEPER, HEAD), mandate(SECOND, KEEPER)))  # fmt: skip
    return replace(plain, **changes)


def job(letter="A", first=1):
    targets = tuple(
        JobTarget(
            first + place,
            f"#{first + place}",
            {"note": "old"},
            tuple({"note": f"{letter}{choice}"} for choice in range(4)),
            "odd" if place % 2 == 0 else "even",
        )
        for place in range(3)
    )
    return RecordJob(
        "mail", "contacts", "contact", f"group of {letter}", ("",) * 3, ("",) * 3, targets,
        lambda pilot: iter(()), lambda pilot, target, values: iter(()),
    )  # fmt: skip


def ask(source, what, choice=0, trait=""):
    return DayStatement("ask", source, choice, trait, what)


def mail(reference, sender, statement, what):
    return DayMail(reference, sender, statement, what, 1)


def notes(ledger):
    return [ledger.values["mail", "contacts", key]["note"] for key in "123"]


# What counts -----------------------------------------------------------------------------------


def test_a_mandate_counts_with_the_whole_chain_behind_it():
    force = rules().in_force()
    assert force.entitles(HEAD.email, "bank")
    assert force.entitles(SECOND.email, "mail") and not force.entitles(SECOND.email, "bank")
    broken = rules(mandates=(mandate(KEEPER, HEAD, last=1), mandate(SECOND, KEEPER)))
    assert not broken.in_force().entitles(SECOND.email, "mail")
    circle = rules(mandates=(mandate(KEEPER, SECOND), mandate(SECOND, KEEPER)))
    assert circle.in_force().mandates == frozenset({(HEAD.email, "mail")})


@pytest.mark.parametrize(("first", "last", "counts"), [
    (0, -5, True), (5, 0, True), (5, 1, False), (-1, -5, False),
])  # fmt: skip
def test_the_first_and_the_last_day_of_a_mandate_are_included(first, last, counts):
    force = rules(mandates=(mandate(KEEPER, HEAD, first=first, last=last),)).in_force()
    assert force.entitles(KEEPER.email, "mail") is counts


@pytest.mark.parametrize(
    ("entries", "held"),
    [
        ([entry("#1", days=8)], True),
        ([entry("#1", days=9)], False),
        ([entry("#1", author=STRANGER)], False),
        ([entry("#1", days=5), entry("#1", "release", 3)], False),
        ([entry("#1", days=5), entry("#1", "release", 3, STRANGER)], True),
        ([entry("#1", "release", 5), entry("#1", days=3, author=SECOND)], True),
        ([entry("#1", days=20), entry("#1", days=3, author=STRANGER)], False),
        ([entry("#1", days=3), entry("#1", days=20)], True),
    ],
)
def test_the_latest_entry_that_counts_decides(entries, held):
    assert (("mail", "#1") in rules(entries=tuple(entries)).in_force().held) is held


def test_pages_read_as_texts_say_the_same():
    told = rules(
        entries=(entry("#1"), entry("#2", days=9), entry("#3", author=STRANGER)),
        closures=(closure(), replace(closure("others", author=STRANGER), number="C-42")),
    )
    assert reread(scene(), [DayStep(told)])


def test_a_page_with_another_statement_is_detected(monkeypatch):
    told = rules(entries=(entry("#1"),))
    shown = replace(told, days=1)
    monkeypatch.setattr(
        "hexathlon.tasks.web.templates.shifts.replay.pages_of",
        lambda _, about: pages_of(shown, about),
    )
    assert not reread(scene(), [DayStep(told)])


# What is done ----------------------------------------------------------------------------------


def test_changes_postponed_by_a_hold_are_made_when_it_ends():
    ledger, what = DayLedger(), job()
    first = ledger.step(1, DayStep(rules(entries=(entry("#2"),)), (ask("1", what),)))
    assert notes(ledger) == ["A0", "old", "A0"] and first.pending == ["#2"]
    ledger.step(2, DayStep(rules(entries=(entry("#2"),)), (DayStatement("correct", "1", 1),)))
    assert notes(ledger) == ["A1", "old", "A1"]
    third = ledger.step(3, DayStep(rules()))
    assert notes(ledger) == ["A1", "A1", "A1"] and not third.pending
    assert ledger.counts == [(1, 2), (2, 2), (3, 1)]


def test_a_withdrawal_uncovers_what_another_request_names():
    ledger, what = DayLedger(), job()
    ledger.step(1, DayStep(rules(), (ask("1", what),)))
    rival = mail("77", KEEPER, ask("m77", what, 2, "odd"), what)
    ledger.step(2, DayStep(rules(), (), (rival,)))
    assert notes(ledger) == ["A2", "A0", "A2"]
    ledger.step(3, DayStep(rules(), (DayStatement("withdraw", "1", 0, "odd"),)))
    assert notes(ledger) == ["A2", "A0", "A2"]
    ledger.step(4, DayStep(rules(), (DayStatement("withdraw", "m77"),)))
    assert notes(ledger) == ["old", "A0", "old"]
    ledger.step(5, DayStep(rules(), (DayStatement("restore", "m77"),)))
    assert notes(ledger) == ["A2", "A0", "A2"]


def test_a_correction_counts_as_made_later_than_a_rival():
    ledger, what = DayLedger(), job()
    ledger.step(1, DayStep(rules(), (ask("1", what),)))
    rival = mail("77", KEEPER, ask("m77", what, 2), what)
    ledger.step(2, DayStep(rules(), (DayStatement("correct", "1", 1, "even"),), (rival,)))
    assert notes(ledger) == ["A2", "A1", "A2"]


def test_records_changed_by_others_are_left_alone_and_not_reported():
    ledger, what = DayLedger(), job()
    ledger.step(1, DayStep(rules(), (ask("1", what),)))
    other = (what, what.targets[0], {"note": "theirs"})
    held = rules(entries=(entry("#1", days=0),))
    done = ledger.step(2, DayStep(held, (DayStatement("correct", "1", 1),), (), (other,)))
    assert notes(ledger) == ["theirs", "A1", "A1"] and done.pending == []
    assert ledger.differing("mail") == ["#2", "#3"]


def test_a_closure_refuses_new_requests_only():
    ledger, what, closed = DayLedger(), job(), rules(closures=(closure(),))
    ledger.step(1, DayStep(rules(), (ask("1", what),)))
    ledger.step(2, DayStep(closed, (DayStatement("correct", "1", 1),)))
    assert notes(ledger) == ["A1", "A1", "A1"]
    late = DayLedger()
    assert late.step(1, DayStep(closed, (ask("1", what),))).refused == "C-41"
    assert late.records("1") == []
    void = rules(closures=(closure(author=STRANGER),))
    assert late.step(2, DayStep(void, (ask("2", what),))).refused == ""


@pytest.mark.parametrize(("sender", "counted"), [(KEEPER, 1), (SECOND, 0), (STRANGER, 0)])
def test_a_mail_for_closed_records_counts_from_the_author_only(sender, counted):
    ledger, what = DayLedger(), job()
    step = DayStep(rules(closures=(closure(),)), (), (mail("5", sender, ask("m5", what), what),))
    assert ledger.step(1, step).counted == counted


def test_a_mail_may_only_correct_what_came_from_its_own_address():
    ledger, what = DayLedger(), job()
    ledger.step(1, DayStep(rules(), (), (mail("5", SECOND, ask("m5", what), what),)))
    other = mail("", KEEPER, DayStatement("withdraw", "m5"), what)
    assert ledger.step(2, DayStep(rules(), (), (other,))).counted == 0
    own = mail("", SECOND, DayStatement("correct", "m5", 1), what)
    assert ledger.step(3, DayStep(rules(), (), (own,))).counted == 1
    assert notes(ledger) == ["A1", "A1", "A1"] and ledger.mails == 2


@pytest.mark.parametrize(("entries", "after"), [((entry("#2"),), "old"), ((), "A1")])
def test_a_condition_looks_at_holds_in_force_now(entries, after):
    ledger, what = DayLedger(), job()
    ledger.step(1, DayStep(rules(entries=(entry("#2"),)), (ask("1", what),)))
    ledger.step(2, DayStep(rules(entries=entries), (DayStatement("unless", "1", 1),)))
    assert notes(ledger)[0] == after


# The pace --------------------------------------------------------------------------------------


def test_records_beyond_the_pace_wait_by_their_numbers_and_are_reported():
    ledger, slow = DayLedger(), rules(pace=2)
    first = ledger.step(1, DayStep(slow, (ask("1", job("B", 8)), ask("2", job("A", 1)))))
    assert [target.label for _, target, _ in first.writings] == ["#1", "#2"]
    assert sorted(first.pending) == ["#10", "#3", "#8", "#9"]
    second = ledger.step(2, DayStep(slow))
    assert [target.label for _, target, _ in second.writings] == ["#8", "#3"]
    third = ledger.step(3, DayStep(rules(pace=3)))
    assert [target.label for _, target, _ in third.writings] == ["#9", "#10"]
    assert not third.pending and ledger.counts == [(1, 2), (2, 2), (3, 2)]


def test_what_is_withdrawn_while_it_waits_is_never_written():
    ledger, slow, what = DayLedger(), rules(pace=1), job()
    ledger.step(1, DayStep(slow, (ask("1", what),)))
    done = ledger.step(2, DayStep(slow, (DayStatement("withdraw", "1"),)))
    assert [target.label for _, target, _ in done.writings] == ["#1"] and not done.pending
    assert notes(ledger) == ["old"] * 3 and [*ledger.given] == [("mail", "contacts", "1")]


def test_neither_holds_nor_other_people_use_up_the_pace():
    ledger, what = DayLedger(), job()
    held = rules(pace=1, entries=(entry("#1"),))
    first = ledger.step(1, DayStep(held, (ask("1", what),)))
    assert notes(ledger) == ["old", "A0", "old"] and sorted(first.pending) == ["#1", "#3"]
    other = (what, what.targets[1], {"note": "theirs"})
    correct = DayStatement("correct", "1", 1)
    second = ledger.step(2, DayStep(held, (correct,), (), (other,)))
    assert notes(ledger) == ["old", "theirs", "A1"] and second.pending == ["#1"]


def test_every_site_has_a_pace_of_its_own():
    ledger, what = DayLedger(), job()
    there = replace(job("C"), site="tracker", table="issues")
    done = ledger.step(1, DayStep(rules(pace=2), (ask("1", what), ask("2", there))))
    assert len(done.writings) == 4 and done.pending == ["#3", "#3"]


def test_waiting_records_that_were_set_before_are_looked_at():
    ledger, what = DayLedger(), job()
    ledger.step(1, DayStep(rules(pace=3), (ask("1", what),)))
    done = ledger.step(2, DayStep(rules(pace=2), (DayStatement("correct", "1", 1),)))
    assert done.watched == [("mail", "contacts", "3")]


def test_mistakes_with_the_pace():
    steps = [DayStep(rules(pace=2), (ask("1", job("B", 8)), ask("2", job("A", 1)))),
             DayStep(rules(pace=2))]  # fmt: skip

    def counts(slip):
        ledger = DayLedger(slip)
        return [[target.label for _, target, _ in ledger.step(number, step).writings]
                for number, step in enumerate(steps, 1)]  # fmt: skip

    assert counts("pace_ignored") == [["#8", "#9", "#10", "#1", "#2", "#3"], []]
    assert counts("pace_by_request") == [["#8", "#9"], ["#10", "#1"]]
    assert counts("never_made_up") == [["#1", "#2"], []]


def test_the_pace_that_a_page_states_is_read(monkeypatch):
    assert reread(scene(), [DayStep(rules(pace=3))])
    monkeypatch.setattr(
        "hexathlon.tasks.web.templates.shifts.replay.pages_of",
        lambda rules, about: pages_of(replace(rules, pace=4), about),
    )
    assert not reread(scene(), [DayStep(rules(pace=3))])


# Choices ---------------------------------------------------------------------------------------


def weighed(*weights):
    plain = job()
    targets = tuple(
        JobTarget(place, f"#{place}", {"note": "old"}, plain.targets[0].values, "", weight)
        for place, weight in enumerate(weights, 1)
    )
    return replace(plain, targets=targets, limit=lambda bound: f" up to {bound}")


@pytest.mark.parametrize(
    ("weights", "bound", "best", "hasty"),
    [
        ((60, 50, 40, 5), 95, [{"#2", "#3", "#4"}], {"#1", "#4"}),
        ((60, 50, 40, 5), 59, [{"#2", "#4"}], {"#2", "#4"}),
        ((30, 30, 20), 50, [{"#1", "#3"}, {"#2", "#3"}], {"#1", "#3"}),
        ((30, 30), 10, [], set()),
    ],
)
def test_the_best_part_fills_the_bound_and_a_hasty_one_need_not(weights, bound, best, hasty):
    targets = weighed(*weights).targets
    assert sorted(best_parts(targets, bound), key=sorted) == sorted(best, key=sorted)
    assert largest_first(targets, bound) == hasty


def test_a_drawn_choice_is_the_only_best_one_and_no_hasty_one():
    drawn = [
        draw_choice(scene(), "1", weighed(*weights))
        for weights in ((610, 505, 390, 120), (75, 64, 41, 33, 20), (900, 310, 290, 280))
    ]
    assert any(drawn)
    for statement in filter(None, drawn):
        targets = statement.job.targets
        assert best_parts(targets, statement.bound) == [statement.chosen]
        assert statement.largest == largest_first(targets, statement.bound) != statement.chosen
    assert draw_choice(scene(), "1", weighed(5, 5, 5)) is None


def test_a_request_for_a_part_concerns_no_other_record():
    statement = DayStatement("ask", "1", 0, "", job(), frozenset({"#2"}), 10, frozenset({"#1"}))
    right, hasty = DayLedger(), DayLedger("largest_chosen")
    right.step(1, DayStep(rules(), (statement,)))
    hasty.step(1, DayStep(rules(), (statement,)))
    assert [*right.given] == [("mail", "contacts", "2")]
    assert [*hasty.given] == [("mail", "contacts", "1")]
