"""Words of questions: names along references, clauses, flags, adjectives, and notes."""

import doctest

import pytest

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql import english
from hexathlon.tasks.sql.dirt import Dirt
from hexathlon.tasks.sql.domains import DOMAINS
from hexathlon.tasks.sql.domains.grammar import Field
from hexathlon.tasks.sql.schema import (
    Column,
    Condition,
    Document,
    Law,
    Metric,
    Schema,
    Table,
)
from hexathlon.tasks.sql.templates import wording
from hexathlon.tasks.sql.templates.conditions import PhrasedCondition, condition
from hexathlon.tasks.sql.templates.dates import _span_notes
from hexathlon.tasks.sql.templates.drawing import Unbindable
from hexathlon.tasks.sql.templates.scene import Measure, QueryScene
from hexathlon.tasks.sql.templates.shapes import by_category, by_parent, kind, varies
from hexathlon.tasks.sql.templates.wording import clause, flag_words, listed, owned

KEY = Column("id", "INTEGER", "key", "id", unique=True)


def named(pool: str = "city") -> Column:
    return Column("name", "TEXT", "name", "name", unique=True, law=Law("name", pool=pool))


def link(noun: str, target: str) -> Column:
    return Column(noun.replace(" ", "_"), "INTEGER", "foreign_key", noun, references=(target, "id"))


def number(noun: str, role: str = "amount", unit: str | None = None, **more) -> Column:
    return Column(noun.replace(" ", "_"), "REAL", role, noun, unit=unit, **more)


def table(noun: str, plural: str, *columns: Column, scale: str = "entity") -> Table:
    return Table(plural, noun, plural, (KEY, *columns), primary_key=("id",), scale=scale)


STATUS = Column("status", "TEXT", "status", "status", values=("open", "paid", "void"))
SEGMENT = Column("segment", "TEXT", "category", "segment", values=("home", "firm"))
FINE = number("fine", unit="USD", nullable=True)
WEIGHT = number("weight", unit="kg", nullable=True, law=Law("number", low=0.25, high=30))
CITY = table("city", "cities", named())
CUSTOMER = table("customer", "customers", named("person"), link("city", "cities"), SEGMENT)
ORDER = table("order", "orders", link("customer", "customers"), STATUS, FINE, WEIGHT, scale="event")
KEY_CUSTOMER = Document(
    "key_customer", "Key customer", "metric", "", "2024-01-01",
    Metric("key customer", "customers", (Condition("segment", "=", "firm"),), ""),
)  # fmt: skip


def scene(*tables: Table, documents: tuple[Document, ...] = (), seed: int = 0) -> QueryScene:
    schema = Schema("none", "none", tables or (CITY, CUSTOMER, ORDER), documents)
    return QueryScene(schema, "easy", generator_for("wording", seed), {})


def climbed(made: QueryScene, *steps: tuple[str, str]):
    """The fact of a path, given as tables and the nouns of their references."""
    path = [
        next(
            edge for edge in made.edges()
            if edge.child == child and made.schema.column(child, edge.column).noun == noun
        )
        for child, noun in steps
    ]  # fmt: skip
    return made.climb(path)


def on(fact, column: Column, place: int = 0) -> PhrasedCondition:
    source = fact.sources[place]
    return PhrasedCondition(source.value(column), "that fit", f"{source.alias}.{column.name}")


@pytest.mark.parametrize("module", [english, wording])
def test_examples_of_the_modules_hold(module):
    outcome = doctest.testmod(module)
    assert outcome.attempted >= 3
    assert outcome.failed == 0


# -- names and clauses -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prefix", "noun", "name", "group"),
    [
        ("", "status", "status", "status"),
        ("customer", "segment", "customer's segment", "customer segment"),
        ("meter", "meter kind", "meter kind", "meter kind"),
        ("farm", "farming style", "farm's farming style", "farming style"),
        ("home branch", "branch class", "home branch class", "home branch class"),
        ("home branch", "home branch class", "home branch class", "home branch class"),
        ("section's course", "course level", "course level of the section's course",
         "course level of the section's course"),
    ],
)  # fmt: skip
def test_properties_are_named_by_their_owner_without_repeating_it(prefix, noun, name, group):
    assert owned(prefix, noun) == name
    assert kind(prefix, noun) == group


def test_clauses_agree_with_their_noun():
    assert clause("", "delay minutes", "at most 4") == "whose delay minutes are at most 4"
    assert clause("member", "unpaid fees", "3") == "whose member's unpaid fees are 3"
    assert (
        clause("trip's depot", "status", "'x'") == "for which the status of the trip's depot is 'x'"
    )


def test_clauses_are_joined_like_a_list():
    assert [listed(list("abc")[:count]) for count in (1, 2, 3)] == ["a", "a and b", "a, b and c"]


def test_flags_with_words_of_their_own_exist_in_a_domain():
    fields = (
        part for domain in DOMAINS.values() for each in domain.entities for part in each.parts
    )
    flags = {part.words for part in fields if isinstance(part, Field) and part.role == "flag"}
    assert {*wording._HAVE, *wording._VERBS, *wording._PREDICATES} <= flags


@pytest.mark.parametrize(
    ("noun", "texts"),
    [
        ("tenured", ("is tenured", "is not tenured", "are tenured", "are not tenured")),
        ("passed", ("is a pass", "is not a pass", "are passes", "are not passes")),
        ("balcony", ("has a balcony", "has no balcony", "have a balcony", "have no balcony")),
        ("solar panels", ("has solar panels", "has no solar panels", "have solar panels",
                          "have no solar panels")),
        ("smoker", ("smokes", "does not smoke", "smoke", "do not smoke")),
        ("online banking", ("uses online banking", "does not use online banking",
                            "use online banking", "do not use online banking")),
    ],
)  # fmt: skip
def test_flags_are_predicates(noun, texts):
    assert texts == tuple(
        flag_words(noun, value, plural) for plural in (False, True) for value in (True, False)
    )


# -- paths -----------------------------------------------------------------------------------------


def test_a_path_is_shortened_to_its_end_if_no_other_leads_there():
    fact = climbed(scene(), ("orders", "customer"), ("customers", "city"))
    assert fact.prefixes == ["", "customer", "city"]
    assert (fact.called(-1), fact.called(-1, plural=True)) == ("city", "cities")


def test_a_path_is_spelt_out_if_another_leads_there_or_the_reference_has_a_name():
    order = table("order", "orders", link("customer", "customers"), link("city", "cities"))
    fact = climbed(scene(CITY, CUSTOMER, order), ("orders", "customer"), ("customers", "city"))
    assert fact.prefixes == ["", "customer", "customer's city"]
    assert (fact.called(-1), fact.called(-1, plural=True)) == ("customer city", "customer cities")
    moved = table("customer", "customers", named("person"), link("home city", "cities"))
    fact = climbed(scene(CITY, moved, ORDER), ("orders", "customer"), ("customers", "home city"))
    assert fact.prefixes[-1] == "customer's home city"
    assert fact.called(-1, plural=True) == "customer home cities"
    owner = table("customer", "customers", named("person"), link("seat", "cities"))
    fact = climbed(scene(CITY, owner, ORDER), ("orders", "customer"), ("customers", "seat"))
    assert fact.called(-1, plural=True) == "customer seats"


def test_a_path_does_not_repeat_a_word():
    sort = table("account type", "account types", named(), scale="lookup")
    account = table("account", "accounts", link("account type", "account types"))
    payment = table("payment", "payments", link("account", "accounts"),
                    link("payee account", "accounts"))  # fmt: skip
    made = scene(sort, account, payment)
    for noun in ("account", "payee account"):
        fact = climbed(made, ("payments", noun), ("accounts", "account type"))
        assert fact.called(-1) == f"{noun} type"
        assert fact.called(-1, plural=True) == f"{noun} types"


def test_people_have_a_pronoun_of_their_own():
    tenured = Column("vip", "INTEGER", "flag", "tenured", values=(0, 1))
    texts = set()
    for pool in ("person", "city"):
        made = scene(table("one", "ones", named(pool), tenured))
        source = made.open("ones")
        texts.add(condition(made, source, "", ("flag",), False, set()).text.split()[0])
    assert texts == {"who", "that"}


# -- measures --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "counted", "words"),
    [
        (number("price", unit="USD"), True, ("lowest", "highest")),
        (number("rating", "rating"), True, ("lowest", "highest")),
        (number("weight", unit="kg"), True, ("smallest", "largest")),
        (number("seat count", "quantity"), True, ("smallest", "largest")),
        (number("delay minutes", "quantity"), True, ("fewest", "most")),
        (number("delay minutes", "quantity"), False, ("lowest", "highest")),
        (number("unpaid fees", unit="USD"), True, ("lowest", "highest")),
    ],
)
def test_the_adjective_of_the_last_in_order_fits_the_measure(column, counted, words):
    measure = Measure(ORDER_SOURCE.value(STATUS), column)
    assert tuple(measure.extreme(most, counted) for most in (False, True)) == words


ORDER_SOURCE = scene().open("orders")


def test_a_unit_is_named_except_for_money():
    texts = [Measure(ORDER_SOURCE.value(each), each).text for each in (FINE, WEIGHT, STATUS)]
    assert texts == ["fine", "weight (in kg)", "status"]


def test_missing_values_are_mentioned_only_where_there_can_be_any():
    fact = climbed(scene(), ("orders", "customer"))
    fine = Measure(fact.child.value(FINE), FINE)
    sure = Measure(fact.child.value(FINE), number("fine", unit="USD"))
    assert fact.without(fine) == ("Leave out orders without a known fine.",)
    assert fact.without(sure) == ()
    fact.conditions.append(on(fact, FINE))
    assert fact.without(fine) == ()


def test_values_are_called_known_where_zero_is_one():
    delay = number("delay minutes", "quantity", nullable=True)
    measures = [Measure(ORDER_SOURCE.value(each), each) for each in (WEIGHT, FINE, delay)]
    assert [each.known for each in measures] == ["a weight", "a known fine", "known delay minutes"]


def test_only_what_adds_up_is_summed_and_conditions_are_on_other_columns():
    priced = table("order", "orders", number("unit price", unit="USD"), FINE,
                   number("final rank", "quantity"), number("rating", "rating"))  # fmt: skip
    nouns = set()
    for seed in range(20):
        made = scene(priced, seed=seed)
        nouns.add(made.summed(made.open("orders")).noun)
    assert nouns == {"fine"}
    for seed in range(20):
        made = scene(ORDER, seed=seed)
        fact = made.alone(ORDER)
        made._compared.add(f"{fact.child.alias}.fine")
        assert made.measure(fact.child).noun == "weight"
    made = scene(table("order", "orders", number("unit price", unit="USD")))
    with pytest.raises(Unbindable):
        made.summed(made.open("orders"))


# -- conditions within groups ----------------------------------------------------------------------


def test_a_condition_on_what_rows_are_grouped_by_cannot_vary():
    made = scene(documents=(KEY_CUSTOMER,))
    fact = climbed(made, ("orders", "customer"))
    dim = by_parent(made, fact)
    with pytest.raises(Unbindable):
        varies(made, dim, on(fact, SEGMENT, 1))
    with pytest.raises(Unbindable):
        varies(made, dim, PhrasedCondition(fact.top.value(SEGMENT), "", "key customer"))
    varies(made, dim, on(fact, STATUS))


def test_of_a_group_by_category_only_that_category_is_the_same():
    made = scene(table("order", "orders", STATUS, SEGMENT, FINE))
    fact = made.alone()
    dim = by_category(made, fact)
    same, other = (STATUS, SEGMENT) if dim.column is STATUS else (SEGMENT, STATUS)
    with pytest.raises(Unbindable):
        varies(made, dim, on(fact, same))
    varies(made, dim, on(fact, other))
    varies(made, dim, on(fact, FINE))


# -- conditions ------------------------------------------------------------------------------------


def conditioned(column: Column, values: list, seeds: int = 30) -> set[str]:
    """The texts of conditions on a column that has these values."""
    one = table("order", "orders", column)
    texts = set()
    for seed in range(seeds):
        schema = Schema("none", "none", (one,))
        rows = [(place, value) for place, value in enumerate(values)]
        made = QueryScene(schema, "easy", generator_for("wording", seed), {"orders": rows})
        texts.add(condition(made, made.open("orders"), "", (column.role,), False, set()).text)
    return texts


def test_years_are_compared_as_points_in_time():
    year = Column("built", "INTEGER", "year", "build year")
    texts = conditioned(year, list(range(1990, 2020)))
    assert texts and all(text.startswith("whose build year is ") for text in texts)
    words = {text.removeprefix("whose build year is ").replace(",", "") for text in texts}
    assert {word.strip("0123456789 ") for word in words} == {
        "after", "or later", "before", "or earlier",
    }  # fmt: skip


def test_a_bound_is_given_in_the_larger_unit_if_rows_have_their_own():
    dirt = Dirt("row_units", "", mapping=(("kg", 1000), ("g", 1)), partner="unit")
    weight = number("weight", unit="g", dirt=dirt)
    unit = Column("unit", "TEXT", "text", "weight unit")
    one = table("order", "orders", weight, unit)
    for seed in range(10):
        rows = [(place, 0.25 * place + 5, "kg") for place in range(40)]
        made = QueryScene(
            Schema("none", "none", (one,)), "easy", generator_for("wording", seed), {"orders": rows}
        )
        text = condition(made, made.open("orders"), "", ("amount",), False, set()).text
        assert text.endswith(" kg"), text
        assert 5 <= float(text.split()[-2]) <= 15


@pytest.mark.parametrize(
    ("first", "second", "after", "expected"),
    [
        (False, False, ("sent", ""), ()),
        (True, False, ("sent", ""), ("Leave out orders without one of the two dates.",)),
        (False, False, None, ("The number is negative where the second date is the earlier one.",)),
    ],
)
def test_notes_on_two_dates_say_what_can_occur(first, second, after, expected):
    sent = Column("sent", "TEXT", "date", "dispatch date", nullable=first)
    law = Law("date", after=after)
    come = Column("come", "TEXT", "date", "arrival date", nullable=second, law=law)
    made = scene(table("order", "orders", sent, come, FINE))
    assert _span_notes(made.alone(), sent, come, "") == expected
