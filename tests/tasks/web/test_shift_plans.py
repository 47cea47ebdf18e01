"""Plans of a shift, and what its synchronisation undoes."""

from dataclasses import replace
from datetime import date
from itertools import product

import numpy as np
import pytest

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.templates.shifts.haste import (
    _costs,
    _double,
    _sets,
    _single,
    exchanged_plan,
    exchanged_plans,
    hasty_plan,
)
from hexathlon.tasks.web.templates.shifts.ledger import DayLedger, DayStatement, DayStep
from hexathlon.tasks.web.templates.shifts.offers import (
    changed_offers,
    changed_terms,
    draw_offers,
    draw_terms,
    out_of_reach,
)
from hexathlon.tasks.web.templates.shifts.plans import (
    MARGIN,
    NONE,
    PlanTerms,
    WorkOffer,
    best_plan,
    is_only_plan,
    plan_cost,
    plans_within,
    table_of,
)
from hexathlon.tasks.web.templates.shifts.records import JobTarget, RecordJob
from hexathlon.tasks.web.templates.shifts.rules import DayRules, Mandate, RegisterEntry
from hexathlon.tasks.web.world.people import Person

TODAY = date(2026, 3, 12)
HEAD = Person("h.ead", "Hanna Ead", "h.ead@ostra.test")
KEEPER = Person("k.eep", "Kai Eep", "k.eep@ostra.test")


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


def terms(days, works=3, charges=(), **more):
    return PlanTerms(days, works, tuple(zip("AB", charges, strict=False)), **more)


@pytest.mark.parametrize(
    ("limits", "plan", "cost"),
    [
        (terms(27), "O-11 O-21 O-31", 300),  # nothing binds
        (terms(27, 2), "O-12 O-21 O-31", 350),  # one firm may not have all
        (terms(18), "O-12 O-21 O-31", 350),  # its days are not enough for three
        (terms(9), "O-12 O-22 O-31", 420),  # nor for two
        (terms(8), "", 0),  # nor for one, and B's not for three
        (terms(18, 3, (10, 200)), "O-12 O-21 O-31", 560),  # B has to come all the same
        (terms(27, 3, (400, 50)), "O-12 O-22 O-32", 550),  # B's charge is lower
        (terms(27, 3, (400, 50), rebate=300), "O-12 O-22 O-32", 250),
        (terms(27, 3, apart=("doors", "lamps")), "O-11 O-22 O-31", 370),
        (terms(18, 3, together=("roof", "lamps")), "O-11 O-22 O-31", 370),
        (terms(27, savings=(("doors", "lamps", 30),)), "O-11 O-21 O-31", 270),
        (terms(27, 2, savings=(("doors", "roof", 31),)), "O-11 O-21 O-32", 349),
        (terms(27, 2, savings=(("doors", "lamps", -1),)), "O-12 O-21 O-31", 351),
        (terms(27, 2, savings=(("doors", "lamps", -21),)), "O-11 O-22 O-31", 370),
        # every pair counts: three savings outweigh the charge of a second firm
        (
            terms(
                27,
                3,
                (250, 0),
                savings=(("doors", "lamps", 20), ("doors", "roof", 20), ("lamps", "roof", 11)),
            ),
            "O-12 O-22 O-32",
            449,
        ),
        (terms(27, rebate=40, savings=(("doors", "lamps", 30),)), "O-11 O-21 O-31", 230),
        (terms(27, savings=(("doors", "paint", 500),)), "O-11 O-21 O-31", 300),  # nobody paints
    ],
)
def test_a_small_plan(limits, plan, cost):
    found = best_plan(SMALL, limits)
    assert " ".join(found) == plan
    if plan:
        assert plan_cost([each for each in SMALL if each.number in found], limits) == cost
        assert plans_within(SMALL, limits, cost) == [found]


def test_two_cheapest_plans_are_none():
    twice = (*SMALL, offer(13, "roof", "C", 100, 9))
    assert best_plan(twice, terms(27)) == ()
    assert len(plans_within(twice, terms(27), 300)) == 2


def test_a_plan_is_the_only_one_if_others_cost_more_by_a_margin():
    near = (*SMALL, offer(13, "roof", "C", 100 + MARGIN - 1, 9))
    far = (*SMALL, offer(13, "roof", "C", 100 + MARGIN, 9))
    plan = ("O-11", "O-21", "O-31")
    assert best_plan(near, terms(27)) == best_plan(far, terms(27)) == plan
    assert not is_only_plan(near, terms(27), plan)
    assert is_only_plan(far, terms(27), plan)
    assert not is_only_plan(SMALL, terms(27), ())


def test_a_firm_has_one_offer_for_a_work():
    with pytest.raises(ValueError, match="A has two offers for roof"):
        best_plan((*SMALL, offer(13, "roof", "A", 90, 9)), terms(27))


def drawn(seed, split="test"):
    """Return the scene, the offers and terms that make the plan hard."""
    at = WebScene(generator_for("plans", seed), "hard", split, "en", True, seed)
    while True:
        offers = draw_offers(at, ["Hanna Ead"])
        limits = draw_terms(at, offers, offers)
        if limits is not None:
            return at, offers, limits


@pytest.mark.parametrize("seed", range(6))
def test_sets_of_works_and_prices_per_work_lead_to_the_same_plan(seed):
    _, offers, limits = drawn(seed)
    assert len(offers) > 80 and len({each.work for each in offers}) == 11
    best = best_plan(offers, limits)
    taken = [each for each in offers if each.number in best]
    assert limits.allow(taken) and len({each.work for each in taken}) == len(taken) == 11
    cost = plan_cost(taken, limits)
    assert plans_within(offers, limits, cost - 1) == []
    assert plans_within(offers, limits, cost + MARGIN - 1) == [best]
    assert len(plans_within(offers, limits, cost + 400)) > 1


@pytest.mark.parametrize("limit", [10, 200, 400])
@pytest.mark.parametrize("seed", range(3))
def test_all_plans_within_an_amount_are_found(seed, limit):
    """Compared with every choice of offers, one after the other."""
    _, offers, limits = drawn(seed)
    works = sorted({each.work for each in offers})[:5]
    few = tuple(each for each in offers if each.work in works)
    firms = sorted({each.firm for each in few})[: 9 - seed]
    few = tuple(each for each in few if each.firm in firms)
    apart = tuple(works[:2]) if seed % 2 else ()
    limits = replace(
        limits, apart=apart, together=() if apart else tuple(works[3:]), days=9, works=3 + seed % 2
    )
    plans = {
        tuple(sorted(each.number for each in plan)): plan_cost(plan, limits)
        for plan in product(*([e for e in few if e.work == work] for work in works))
        if limits.allow(plan)
    }
    lowest = min(plans.values())
    found = plans_within(few, limits, lowest + limit)
    assert sorted(found) == sorted(e for e, cost in plans.items() if cost <= lowest + limit)
    assert len(found) == len(set(found))
    cheapest = [each for each, cost in plans.items() if cost == lowest]
    assert best_plan(few, limits) == (cheapest[0] if len(cheapest) == 1 else ())
    assert any(amount and {one, other} <= set(works) for one, other, amount in limits.savings), (
        "no pair of these works has an amount"
    )


@pytest.mark.parametrize("seed", range(3))
def test_costs_and_exchanges_of_choices_are_those_of_their_plans(seed):
    """Also of choices that are not allowed; the tables know sets of works, `plan_cost` groups."""
    _, offers, limits = drawn(seed)
    limits = replace(limits, days=9)
    table, numbers = table_of(offers, limits), {each.number: each for each in offers}
    works, firms = table.price.shape
    rng = np.random.default_rng(seed)
    choices = rng.integers(0, firms, (40, works))
    choices = choices[[all(table.numbers[w][f] for w, f in enumerate(row)) for row in choices]]
    choices = choices.astype(np.int32)
    assert len(choices) > 3

    def stated(row):
        if not all(table.numbers[work][firm] for work, firm in enumerate(row)):
            return None
        plan = [numbers[each] for each in table.plan(row)]
        return plan_cost(plan, limits), limits.allow(plan)

    cost, excess = _costs(table, choices)
    assert [(price, not over) for price, over in zip(cost, excess, strict=True)] == [
        stated(row) for row in choices
    ]
    cost, excess = _single(table, choices)
    first, second = np.triu_indices(works, 1)
    double = _double(table.allowed, _sets(table, choices), first, second)
    seen = set()
    for _ in range(300):
        row, work, firm = rng.integers((len(choices), works, firms))
        other = choices[row].copy()
        other[work] = firm
        after = stated(other)
        if after is None:
            assert cost[row, work, firm] >= NONE
        else:
            assert (cost[row, work, firm], not excess[row, work, firm]) == after
        pair, one, two = rng.integers((len(first), firms, firms))
        other = choices[row].copy()
        other[first[pair]], other[second[pair]] = one, two
        before, after = stated(choices[row]), stated(other)
        if before[1]:
            able = after is not None and after[1]
            seen.add(able)
            price = double[row, pair, one, two]
            assert price == after[0] if able else price >= NONE
    assert True in seen or not any(stated(row)[1] for row in choices)


@pytest.mark.parametrize("seed", range(6))
def test_which_works_go_together_matters(seed):
    """Without the amounts for pairs, another plan would be the best one; firms get up to four works."""
    _, offers, limits = drawn(seed)
    plain = replace(limits, savings=())
    assert best_plan(offers, plain) != best_plan(offers, limits)
    taken = [each for each in offers if each.number in best_plan(offers, limits)]
    assert plan_cost(taken, limits) < plan_cost(taken, plain)
    assert sorted(amount > 0 for *_, amount in limits.savings)[0] is False
    assert 20 <= len(limits.savings) <= 25


@pytest.mark.parametrize("seed", range(6))
def test_hurried_choices_and_exchanges_lead_to_dearer_plans(seed):
    _, offers, limits = drawn(seed)

    def cost(plan):
        taken = [each for each in offers if each.number in plan]
        assert len(taken) == 11 and limits.allow(taken)
        return plan_cost(taken, limits)

    best = cost(best_plan(offers, limits))
    hurried = [*exchanged_plans(offers, limits), hasty_plan(offers, limits)]
    assert len(set(hurried)) > 2
    assert min(cost(each) for each in hurried if each) > best
    assert cost(exchanged_plan(offers, limits)) <= cost(hasty_plan(offers, limits) or hurried[0])


def test_exchanges_mend_what_exchanges_can():
    limits = terms(18, 3, (10, 200))
    assert {best_plan(SMALL, limits)} <= set(exchanged_plans(SMALL, limits))
    assert not out_of_reach(SMALL, limits)


@pytest.mark.parametrize("seed", range(4))
def test_changes_keep_one_offer_for_each_work_and_firm(seed):
    at, offers, limits = drawn(seed)
    plan = best_plan(offers, limits)
    for _ in range(20):
        after = changed_offers(at, offers, offers, plan)
        assert after != offers and len({each.number for each in after}) == len(after)
        assert len({(each.work, each.firm) for each in after}) == len(after)
        other = changed_terms(at, limits, [each for each in offers if each.number in plan])
        assert other != limits and (other.apart, other.rebate) == (limits.apart, limits.rebate)


def test_savings_change_for_pairs_of_the_plan_and_for_others():
    at, offers, limits = drawn(0)
    taken = [each for each in offers if each.number in best_plan(offers, limits)]
    firms = {each.work: each.firm for each in taken}
    kinds = set()
    for _ in range(60):
        after = changed_terms(at, limits, taken)
        for (one, other, now), (*pair, before) in zip(after.savings, limits.savings, strict=True):
            assert [one, other] == pair and now
            if now != before:
                assert (now < before) == (firms[one] == firms[other])
                kinds.add(now < before)
    assert kinds == {True, False}


def test_charges_change_although_the_plan_uses_every_firm():
    at, offers, limits = drawn(0)
    every = [next(each for each in offers if each.firm == firm) for firm, _ in limits.charges]
    changed = [changed_terms(at, limits, every) for _ in range(20)]
    dearer = [each for each in changed if each.charges != limits.charges]
    assert dearer and all(each.days == limits.days for each in dearer)
    assert all(
        new >= old
        for each in dearer
        for (_, new), (_, old) in zip(each.charges, limits.charges, strict=True)
    )


def test_training_sees_one_kind_of_condition_only():
    kinds = {
        split: {
            (bool(each.apart), bool(each.together), bool(each.rebate))
            for each in (drawn(seed, split)[2] for seed in range(8))
        }
        for split in ("train", "test")
    }
    assert kinds["train"] == {(True, False, False)}
    assert len(kinds["test"]) > 1


# In the books ----------------------------------------------------------------------------------


def rules(**changes):
    mandates = (Mandate(KEEPER.name, KEEPER.email, "mail", TODAY, TODAY, HEAD.name),)
    plain = DayRules(TODAY, {}, 8, HEAD, KEEPER, mandates=mandates, offers=SMALL, terms=terms(18))
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
    first, cheaper = "O-12 O-21 O-31", "O-11 O-21 O-33"
    assert sent(DAY) == [("", ""), ("", first), (first, ""), ("", cheaper), ("", first)]


def test_mistakes_with_plans():
    first, cheaper = "O-12 O-21 O-31", "O-11 O-21 O-33"
    assert sent(DAY, "plan_sent_once") == [("", ""), ("", first), (first, ""), ("", ""), ("", "")]
    assert sent(DAY, "undelivered_left")[2] == ("", "")
    assert sent(DAY, "offers_trusted")[4] == ("", "")
    assert sent(DAY)[3] == ("", cheaper)


# Synchronisation -------------------------------------------------------------------------------


def noted(label):
    target = JobTarget(label, f"#{label}", {"note": "old"}, ({"note": "new"}, {"note": "other"}))
    return RecordJob(
        "mail",
        "contacts",
        "contact",
        f"group {label}",
        ("",),
        ("",),
        (target,),
        lambda pilot: iter(()),
        lambda pilot, target, values: iter(()),
    )


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
