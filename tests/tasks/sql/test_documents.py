"""Documents agree with the schema's structure, and the newer one takes precedence."""

import pytest

from hexathlon.tasks.sql.world.world import world_for, world_id

WORLDS = [world_id("dev", index, level) for level in ("medium", "hard") for index in range(6)]


@pytest.fixture(params=WORLDS)
def schema(request):
    return world_for(request.param).schema


def _dictionary(schema):
    return "\n".join(d.text for d in schema.documents if d.kind == "dictionary")


def test_stated_dirt_is_in_the_dictionary_and_the_rest_is_not(schema):
    text = _dictionary(schema)
    for table in schema.asked():
        entry = text[text.index(f"{table.name}: one row per") :].split("\n\n")[0]
        for column in table.columns:
            if column.dirt is not None:
                lines = [x for x in entry.splitlines() if x.startswith(f"  {column.name}:")]
                assert (column.dirt.note in "".join(lines)) == column.dirt.stated


def test_units_and_flags_are_in_the_dictionary(schema):
    text, flags, units = _dictionary(schema), 0, 0
    for table in schema.asked():
        entry = text[text.index(f"{table.name}: one row per") :].split("\n\n")[0]
        for column in table.columns:
            line = "".join(x for x in entry.splitlines() if x.startswith(f"  {column.name}:"))
            own_units = column.dirt is not None and column.dirt.kind == "row_units"
            assert ("1 = yes, 0 = no" in line) == (column.role == "flag")
            if column.unit:
                assert (f"in {column.unit}" in line) != own_units, line
            flags, units = flags + (column.role == "flag"), units + bool(column.unit)
    assert flags and units


def test_rules_name_every_mark_and_every_duplicate(schema):
    rules = "\n".join(d.text for d in schema.documents if d.kind == "rules")
    for table in schema.asked():
        if table.soft_delete:
            assert f"Rows of {table.name} with {table.soft_delete} = 1 were deleted" in rules
        if table.natural_key:
            assert f"{table.name} contains duplicates: " in rules


def test_every_metric_text_follows_from_its_rule(schema):
    metrics = [document for document in schema.documents if document.metric]
    assert metrics
    for document in metrics:
        metric, table = document.metric, schema.table(document.metric.table)
        assert metric.name in document.text
        for condition in metric.conditions:
            assert table.column(condition.column).noun in document.text
            values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
            assert all(str(value) in document.text for value in values)


def test_the_newer_definition_differs_is_later_and_says_so(schema):
    old = [document for document in schema.documents if document.superseded_by]
    assert old
    for document in old:
        new = schema.document(document.superseded_by)
        assert new.metric.conditions != document.metric.conditions
        assert new.metric.name == document.metric.name
        assert new.dated > document.dated
        assert f"in force since {new.dated}" in new.text
        assert "replaces all earlier definitions" in new.text
        assert document.name.endswith(document.dated[:4])
        assert new.name.endswith(new.dated[:4])


def test_names_of_documents_are_unique(schema):
    names = [document.name for document in schema.documents]
    assert len(set(names)) == len(names)
