"""Write templates: expected tables derived twice, near misses distinguished."""

import re
from dataclasses import replace
from functools import cache

import pytest

from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.schema import Column, Condition, Table
from hexathlon.tasks.sql.world.database import with_tables
from hexathlon.tasks.sql.world.digest import differing
from hexathlon.tasks.sql.world.world import world_for, world_id
from hexathlon.tasks.sql.writes.definitions import _meets
from hexathlon.tasks.sql.writes.hidden import HIDDEN, LONGEST, fails_somewhere, repeated_rows
from hexathlon.tasks.sql.writes.instances import write_templates
from hexathlon.tasks.sql.writes.plan import LEAST_MUTANTS, run_statements, scene_for, settle
from hexathlon.tasks.sql.writes.updates import _money, _shared, rename_value

TEMPLATES = write_templates()
PLACES = [(name, level) for name, template in TEMPLATES.items() for level in template.levels]


@cache
def _instance(name, level, index):
    """A template's instance in a world, with the world; None if it does not fit there."""
    world = world_for(world_id("dev", index, level))
    try:
        rng = generator_for("test", name, level, index)
        return world, TEMPLATES[name].instance(world, level, rng)
    except GenerationExhausted:
        return None


def _image(world, made):
    """The database of an instance or of a hidden change, before the change."""
    image = world.sqlite_bytes(made.population, made.size)
    return with_tables(image, [table.params() for table in made.tables]) if made.tables else image


def _instances(name, level, worlds=4):
    for index in range(worlds):
        if found := _instance(name, level, index):
            yield found


def test_there_are_enough_templates():
    assert len(TEMPLATES) >= 8


@pytest.mark.parametrize(("name", "level"), PLACES)
def test_gold_alternative_and_mutants(name, level):
    # A template of several levels is seen in another world at each of them.
    worlds = 2 if level == TEMPLATES[name].levels[-1] else 1
    for world, instance in _instances(name, level, worlds):
        image = _image(world, instance)
        assert run_statements(image, instance.gold) == instance.digests
        assert run_statements(image, instance.alternative) == instance.digests
        assert run_statements(image, ()) == instance.before != instance.digests
        assert run_statements(image, instance.gold, instance.before) == instance.digests
        again = instance.gold * instance.runs
        assert run_statements(image, again, instance.before) == instance.digests
        assert instance.gold != instance.alternative
        assert len(instance.mutants) >= LEAST_MUTANTS
        for number, statements in enumerate(instance.mutants.values()):
            found = run_statements(image, statements, instance.before)
            seen = found is not None and bool(differing(found, instance.digests))
            assert seen or any(
                _differs(world, hidden, statements, instance.gold) for hidden in instance.hidden
            )
            if number == 0 and found is not None:
                assert found == run_statements(image, statements)


def _differs(world, hidden, statements, gold):
    image = _image(world, hidden)
    right, found = run_statements(image, gold), run_statements(image, statements)
    return found is None or bool(differing(right, found))


SCRIPTED = [name for name in TEMPLATES if TEMPLATES[name].scripted]


@pytest.mark.parametrize("name", SCRIPTED)
def test_scripts_are_checked_on_hidden_databases(name):
    world, instance = next(_instances(name, TEMPLATES[name].levels[-1], worlds=10))
    assert len(instance.hidden) == HIDDEN
    assert len({change.population for change in instance.hidden}) == HIDDEN
    for change in instance.hidden:
        image = _image(world, change)
        before, right = run_statements(image, ()), run_statements(image, instance.gold)
        assert before != right == run_statements(image, instance.alternative)
    assert "will also be run on other databases" in instance.instruction


@pytest.mark.parametrize("name", SCRIPTED)
def test_a_script_of_the_visible_rows_fails_elsewhere_whatever_its_length(name):
    level = TEMPLATES[name].levels[-1]
    world, instance = next(_instances(name, level, worlds=10))
    scene = scene_for(world, instance.population, instance.size, generator_for("unused"))
    for table in instance.tables:
        names = [column for column, _ in table.columns]
        scene.content[table.name] = [dict(zip(names, row, strict=True)) for row in table.rows]
    plan = _drawn_again(name, level, world, instance)
    repeated = repeated_rows(plan, scene, instance.tables)
    image = _image(world, instance)
    assert run_statements(image, repeated) == instance.digests
    assert fails_somewhere(repeated, world, instance.hidden)
    assert not fails_somewhere(instance.alternative, world, instance.hidden)
    assert (sum(map(len, repeated)) <= LONGEST) == ("repeated_rows" in instance.mutants)


def _drawn_again(name, level, world, instance):
    """The plan of an instance: the draws of its seed, up to the one with its statements."""
    index = int(world.id.rpartition("-")[2])
    plans = []
    template = replace(
        TEMPLATES[name], draw=lambda s: plans.append(TEMPLATES[name].draw(s)) or plans[-1]
    )
    template.instance(world, level, generator_for("test", name, level, index))
    assert plans[-1].gold == instance.gold
    return plans[-1]


def test_only_money_is_raised_and_only_funds_are_moved():
    columns = [
        Column(noun.replace(" ", "_"), "REAL", "amount", noun, unit=unit, unique=unique)
        for noun, unit, unique in (
            ("balance", "USD", False), ("yearly budget", "USD", True),
            ("credit line", "USD", False), ("unit price", "USD", False),
            ("refund amount", "USD", False), ("volume", "l", False),
        )
    ]  # fmt: skip
    table = Table("accounts", "account", "accounts", tuple(columns))
    assert [column.noun for column in _money(table)] == [
        "balance", "yearly budget", "credit line", "unit price", "refund amount",
    ]  # fmt: skip
    assert [column.noun for column in _shared(table)] == ["balance", "credit line"]


def test_listed_amounts_are_usual_for_their_column():
    seen = 0
    for level in TEMPLATES["write_upsert"].levels:
        for world, instance in _instances("write_upsert", level, worlds=6):
            noun, plural = re.match(
                "Set the (.+) of these (.+?), identified", instance.instruction
            ).groups()
            [column] = [
                column
                for table in world.schema.asked() if table.plural == plural
                for column in table.columns if column.noun == noun
            ]  # fmt: skip
            for value in re.findall(r"' to (\d+\.\d\d)", instance.instruction):
                assert max(column.law.low, 0.25) <= float(value) <= max(column.law.high, 10)
                seen += 1
    assert seen >= 9


def test_above_tiny_only_requests_about_named_rows_change_the_database_itself():
    named = {"write_insert_derived", "write_upsert", "write_transfer", "write_reassign"}
    above = {n for n, t in TEMPLATES.items() if set(t.levels) - {"tiny"} and not t.scripted}
    assert above == named


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_every_template_fits_some_world_at_its_levels(name):
    levels = TEMPLATES[name].levels
    for level in levels:
        assert next(_instances(name, level, worlds=10), None) is not None, level


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_only_requested_changes_are_made_with_only_the_stated_rights(name):
    level = TEMPLATES[name].levels[-1]
    for _, instance in _instances(name, level, worlds=3):
        changed = differing(instance.before, instance.digests)
        assert 1 <= len(changed) <= 2
        verb = r"(?:WITH counted AS.*?|WITH winners AS.*?)?\b(INSERT|UPDATE|DELETE|CREATE|ALTER)\b"
        rights = {"create": "create_table", "alter": "alter_table"}
        words = [re.match(verb, sql)[1].lower() for sql in instance.gold]
        used = {rights.get(word, word) for word in words}
        assert used <= set(instance.writes)


def test_instances_are_a_function_of_their_seed():
    world = world_for("university-easy-dev-10")
    template = TEMPLATES["write_reassign"]
    first, second, other = (template.instance(world, "easy", generator_for(n)) for n in "aab")
    assert first == second != other


def test_a_world_that_does_not_fit_is_refused():
    world = world_for("retail-tiny-dev-8")
    with pytest.raises(GenerationExhausted, match="script_dedupe"):
        TEMPLATES["script_dedupe"].instance(world, "tiny", generator_for("x"))


def test_an_invalid_plan_is_refused():
    world = world_for("bank-easy-dev-1")
    rng = generator_for("plan")
    scene = scene_for(world, 1, 200, rng)
    image = world.sqlite_bytes(1, 200)
    plan = next(plan for _ in range(20) if (plan := rename_value(scene)) is not None)
    assert settle(plan, scene, image) is not None
    wrong = next(iter(plan.mutants.values()))
    kept = dict(list(plan.mutants.items())[:2])
    for broken in (
        {"gold": wrong}, {"alternative": wrong}, {"gold": ()}, {"change": lambda content: None},
        {"alternative": ("SELECT nothing FROM nowhere",)}, {"mutants": kept},
        {"mutants": {str(n): plan.gold for n in range(5)}},
    ):  # fmt: skip
        assert settle(type(plan)(**{**vars(plan), **broken}), scene, image) is None


@pytest.mark.parametrize(("value", "operator", "wanted", "meets"), [
    (3, ">=", 3, True), (3, ">", 3, False), (None, "<>", "x", False), ("a", "IN", ("a", "b"), True),
    ("c", "IN", ("a", "b"), False), ("a", "=", "a", True), (2, "<=", 1, False), (1, "<", 2, True),
    (None, "IN", ("a",), False),
])  # fmt: skip
def test_conditions_in_python(value, operator, wanted, meets):
    assert _meets(value, Condition("c", operator, wanted)) is meets
