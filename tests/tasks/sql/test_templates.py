"""Templates: enough of them, over all levels, each yielding instances that pass screening."""

from collections import Counter

import pytest

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.bench import HIDDEN, bench_for
from hexathlon.tasks.sql.composing import compose, recompose
from hexathlon.tasks.sql.phenomena import LEAST, phenomena
from hexathlon.tasks.sql.programs import evaluate
from hexathlon.tasks.sql.programs.relations import is_ordered
from hexathlon.tasks.sql.programs.walk import scans
from hexathlon.tasks.sql.screening import LEAST_MUTANTS, same_answer
from hexathlon.tasks.sql.templates.catalogue import all_templates
from hexathlon.tasks.sql.templates.scene import QueryScene
from hexathlon.tasks.sql.world.world import world_id
from hexathlon.tasks.task import LEVELS

STRATA = [(item.name, level) for item in all_templates().values() for level in item.levels]
WORLDS = {level: [world_id("train", 5 + n, level) for n in range(16)] for level in LEVELS}


def test_there_are_more_than_forty_question_templates():
    names = list(all_templates())
    assert len(names) >= 40
    assert len(set(names)) == len(names)


def test_every_level_has_templates_and_twins_point_at_each_other():
    count = Counter(level for _, level in STRATA)
    assert min(count[level] for level in LEVELS) >= 8
    templates = all_templates()
    for item in templates.values():
        if item.twin:
            assert templates[item.twin].twin == item.name
            assert templates[item.twin].levels == item.levels


@pytest.mark.parametrize(("name", "level"), STRATA[::4])
def test_an_instance_passes_and_proves_itself(name: str, level: str):
    made = compose(name, WORLDS[level], 11)
    bench = bench_for(made.world)
    ordered = is_ordered(made.draft.program)
    assert made.kept.ordered == ordered
    assert len(bench.hidden) == HIDDEN >= 5
    assert len(made.kept.mutants) >= LEAST_MUTANTS
    assert made.kept.alternatives
    answers = []
    for population in bench.hidden:
        right = population.answer(made.kept.gold)
        second = evaluate(made.draft.program, population.rows, bench.columns)
        assert same_answer(second.rows, right, ordered)
        answers.append(right)
        for text in made.kept.alternatives.values():
            assert same_answer(population.answer(text), right, ordered)
    for label, text in made.kept.mutants.items():
        differs = [
            not same_answer(population.answer(text), right, ordered)
            for population, right in zip(bench.hidden, answers, strict=True)
        ]
        assert any(differs), label
    assert len(phenomena(made.draft.program)) >= LEAST[level]


def test_no_constant_answers_the_hidden_databases():
    made = compose("group_count", WORLDS["easy"], 3)
    answers = [population.answer(made.kept.gold) for population in bench_for(made.world).hidden]
    assert sum(same_answer(answers[0], other, False) for other in answers) <= 2


def test_recomposing_gives_the_same_without_the_search():
    made = compose("anti_join", WORLDS["medium"], 5)
    recompose.cache_clear()
    again = recompose("anti_join", made.world, 5, made.attempt)
    assert again == made


def test_the_outdated_document_gives_another_answer():
    seen = 0
    for seed in range(60):
        made = compose("group_count", WORLDS["hard"], seed)
        seen += "outdated_document" in made.kept.mutants
        if seen:
            return
    pytest.fail("no hard question was about a definition that replaced another")


def test_the_text_form_of_rows_that_count_is_what_the_schema_says():
    checked = 0
    for number in range(8):
        bench = bench_for(world_id("train", number, "hard"))
        population = bench.hidden[0]
        for table in bench.schema.asked():
            if not table.live_sql("t"):
                continue
            scene = QueryScene(bench.schema, "hard", generator_for("test", number), population.rows)
            relation = scene.rows_of(scene.open(table))
            names = {scan.table for scan in scans(relation)}
            assert names == {table.name}
            found = evaluate(relation, population.rows, bench.columns).rows
            assert sorted(map(repr, found)) == sorted(
                map(repr, table.live_rows(population.rows[table.name]))
            )
            checked += 1
    assert checked > 3


def test_canonical_values_are_those_of_the_schema():
    kinds = set()
    for number in range(8):
        bench = bench_for(world_id("train", number, "hard"))
        population = bench.hidden[0]
        scene = QueryScene(bench.schema, "hard", generator_for("test", number), population.rows)
        for table in bench.schema.asked():
            for column in table.columns:
                if column.dirt is None or column.dirt.kind == "orphans":
                    continue
                kinds.add(column.dirt.kind)
                _check_cleaning(scene, population.rows[table.name], table, column)
    assert len(kinds) >= 5


def _check_cleaning(scene, rows, table, column):
    from hexathlon.tasks.sql.programs.relations import Project

    source = scene.open(table)
    names = [item.name for item in table.columns]
    program = Project(source.scan(), (("value", source.value(column)),))
    found = evaluate(program, {table.name: rows}, {table.name: names}).rows
    right = [(column.canonical(dict(zip(names, row, strict=True))),) for row in rows]
    assert same_answer(found, right, True), (table.name, column.name, column.dirt)
