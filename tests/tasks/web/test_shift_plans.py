"""Plans of a shift, and what its synchronisation undoes."""

from dataclasses import replace
from datetime import date

import pytest

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.templates.shifts.ledger import DayLedger, DayStatement, DayStep
from hexathlon.tasks.web.templates.shifts.plans import (
    OfferLimits,
    WorkOffer,
    best_plan,
    draw_limits,
    draw_offers,
    hasty_plan,
    listed_plans,
    priced_anew,
)
from hexathlon.tasks.web.templates.shifts.records import JobTarget, RecordJob
from hexathlon.tasks.web.templates.shifts.rules import DayRules, Mandate, RegisterEntry
from hexathlon.tasks.web.world.people import Person

TODAY = date(2026, 3, 12)
HEAD = Person("h.ead", "Hanna Ead", "h.ead@ostra.test")
KEEPER = Person("k.eep", "Kai Eep", "k.eep@ostra.test")


def scene(seed=1):
    return WebScene(generator_for("plans", seed), "hard", "test", "en", True, seed)


def offer(number, work, firm, price, days, author=HEAD.name):
    return WorkOffer(f"O-{number}", work, firm, price, days, author)


SMALL = (
    offer(11, "roof", "A", 100, 9),
    offer(12, "roof", "B", 150, 3),
    offer(21, "doors", "A", 100, 9),
    offer(22, "doors", "B", 170, 4),
    offer(31, "lamps", "A", 100, 9),
    offer(32, "lamps", "B", 180, 2),
)


@pytest.mark.parametrize(
    ("days", "per_firm", "plan"),
    [
        (27, 3, "O-11 O-21 O-31"),  # nothing binds
        (27, 2, "O-12 O-21 O-31"),  # one firm may not have all
        (20, 3, "O-11 O-21 O-32"),  # the days: 32 saves most of them
        (9, 2, ""),  # only firm B is fast enough, three times
        (15, 2, "O-12 O-21 O-32"),
    ],
)
def test_a_small_plan(days, per_firm, plan):
    limits = OfferLimits(days, per_firm)
    assert " ".join(best_plan(SMALL, limits)) == plan
    assert listed_plans(SMALL, limits) == ([tuple(plan.split())] if plan else [])


def test_two_cheapest_plans_are_none():
    twice = (*SMALL, offer(13, "roof", "C", 100, 9))
    assert best_plan(twice, OfferLimits(27, 3)) == ()
    assert len(listed_plans(twice, OfferLimits(27, 3))) == 2


@pytest.mark.parametrize("seed", range(6))
def test_branch_and_bound_agrees_with_all_choices(seed):
    offers = draw_offers(scene(seed), ["Hanna Ead"])
    limits = draw_limits(scene(seed), offers)
    assert len(offers) == 49 and len({each.work for each in offers}) == 7
    assert listed_plans(offers, limits) == [best_plan(offers, limits)]


@pytest.mark.parametrize("seed", range(6))
def test_single_exchanges_lead_to_a_plan_that_is_allowed_and_dearer(seed):
    offers = draw_offers(scene(seed), ["Hanna Ead"])
    limits = draw_limits(scene(seed), offers)
    best, hasty = best_plan(offers, limits), hasty_plan(offers, limits)
    price = {each.number: each.price for each in offers}
    if hasty:
        assert limits.allow([each for each in offers if each.number in hasty])
        assert sum(map(price.get, hasty)) > sum(map(price.get, best))


def test_a_change_of_offers_leaves_the_others():
    drawn = scene()
    offers = draw_offers(drawn, ["Hanna Ead"])
    plan = best_plan(offers, draw_limits(drawn, offers))
    for _ in range(20):
        after = priced_anew(drawn, offers, offers, plan)
        assert len(set(offers) - set(after)) + len(set(after) - set(offers)) in (1, 2)
        assert len({each.number for each in after}) == len(after)


# In the books ----------------------------------------------------------------------------------


def rules(**changes):
    mandates = (Mandate(KEEPER.name, KEEPER.email, "mail", TODAY, TODAY, HEAD.name),)
    plain = DayRules(
        TODAY, {}, 8, HEAD, KEEPER, mandates=mandates, offers=SMALL, limits=OfferLimits(20, 3)
    )
    return replace(plain, **changes)


def sent(steps, slip=""):
    ledger, plans = DayLedger(slip), []
    for number, step in enumerate(steps, 1):
        done = ledger.step(number, step)
        plans.append((" ".join(done.again), " ".join(done.plan)))
    return plans


CHEAPER = (*SMALL, offer(33, "lamps", "C", 90, 2, KEEPER.name))
DAY = [
    DayStep(rules(offers=CHEAPER)),  # nobody has asked yet
    DayStep(rules(), plan=True),
    DayStep(rules()),  # the same plan
    DayStep(rules(offers=CHEAPER)),
    DayStep(rules(offers=CHEAPER, mandates=())),  # the author's mandate is gone
]


def test_the_plan_is_sent_when_asked_for_and_when_another_one_holds():
    first, cheaper = "O-11 O-21 O-32", "O-11 O-21 O-33"
    assert sent(DAY) == [("", ""), ("", first), (first, ""), ("", cheaper), ("", first)]


def test_mistakes_with_plans():
    first, cheaper = "O-11 O-21 O-32", "O-11 O-21 O-33"
    assert sent(DAY, "plan_sent_once") == [("", ""), ("", first), (first, ""), ("", ""), ("", "")]
    assert sent(DAY, "undelivered_left")[2] == ("", "")
    assert sent(DAY, "offers_trusted")[4] == ("", "")
    assert sent(DAY)[3] == ("", cheaper)


# Synchronisation -------------------------------------------------------------------------------


def noted(label):
    target = JobTarget(label, f"#{label}", {"note": "old"}, ({"note": "new"}, {"note": "other"}))
    return RecordJob("mail", "contacts", "contact", f"group {label}", ("",), ("",), (target,),
                     lambda pilot: iter(()), lambda pilot, target, values: iter(()))  # fmt: skip


def test_what_a_synchronisation_undoes_is_done_again_and_what_others_change_is_not():
    job = noted("1")
    (target,) = job.targets
    asked = DayStep(rules(), (DayStatement("ask", "1", 0, "", job),))
    undone = DayStep(rules(), undone=((job, target, target.before),))
    others = DayStep(rules(), others=((job, target, target.values[1]),))
    ledger = DayLedger()
    days = enumerate((asked, undone, others), 1)
    counts = [len(ledger.step(number, step).writings) for number, step in days]
    assert counts == [1, 1, 0]
    assert ledger.differing("mail") == []
    mistaken = DayLedger("undone_left")
    mistaken.step(1, asked)
    assert not mistaken.step(2, undone).writings


def test_a_held_record_that_was_undone_is_reported():
    job = noted("1")
    (target,) = job.targets
    held = rules(entries=(RegisterEntry("hold", "mail", "contact", "#1", TODAY, KEEPER.name),))
    ledger = DayLedger()
    ledger.step(1, DayStep(rules(), (DayStatement("ask", "1", 0, "", job),)))
    done = ledger.step(2, DayStep(held, undone=((job, target, target.before),)))
    assert done.pending == ["#1"] and not done.writings
    assert ledger.differing("mail") == []
