"""AndroidWorld's metadata: every field, what each template needs, and its tasks."""

import json

import pytest

from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.gui.loaders.android_world import AndroidWorldSource, android_world_templates
from hexathlon.tasks.gui.loaders.android_world_format import parse_template

ENTRY = {
    "task_name": "MarkorCreateNoteAndSms",
    "task_template": 'Write "{text}" to {file_name} and send {text}.',
    "difficulty": "medium",
    "tags": ["multi_app", "requires_setup"],
    "optimal_steps": "12",
}


def test_a_template_names_its_needs():
    template = parse_template(ENTRY)
    assert template.steps == 12
    assert template.needs.apps == ("Markor", "Simple SMS Messenger")
    assert template.needs.parameters == ("text", "file_name")
    assert template.needs.setup and not template.needs.screen


@pytest.mark.parametrize(
    ("field", "value"), [("difficulty", "extreme"), ("optimal_steps", "many"), ("colour", "red")]
)
def test_an_unknown_value_is_an_error_that_names_the_template(field, value):
    with pytest.raises(MissingData, match=f"MarkorCreateNoteAndSms.*{field}"):
        parse_template({**ENTRY, field: value})


def test_every_published_template_is_read_and_its_apps_are_known(shared_data):
    templates = android_world_templates(shared_data / "android_world")
    assert len(templates) == 116
    grades = [template.difficulty for template in templates]
    assert [grades.count(grade) for grade in ("easy", "medium", "hard")] == [61, 36, 19]
    unknown = [each.task_name for each in templates if not each.needs.apps]
    assert unknown == ["OpenAppTaskEval"]  # its app is a parameter
    assert len({app for each in templates for app in each.needs.apps}) >= 18


def test_templates_without_parameters_are_tasks(shared_data):
    source = AndroidWorldSource(shared_data / "android_world")
    templates = android_world_templates(shared_data / "android_world")
    fixed = [each for each in templates if not each.needs.parameters]
    assert source.size("test") == len(fixed) > 0
    task = source.build(source.address("test", 0))
    assert task.instruction == fixed[0].task_template and task.limits.turns >= 10
    assert "{" not in "".join(
        source.build(source.address("test", i)).instruction for i in range(len(fixed))
    )


def test_given_values_make_tasks_of_the_others(tmp_path):
    (tmp_path / "task_metadata.json").write_text(json.dumps([ENTRY]), "utf-8")
    source = AndroidWorldSource(tmp_path)
    assert source.size("test") == 0
    rows = [
        {"task_name": ENTRY["task_name"], "seed": 3, "params": {"text": "a{b}", "file_name": "c"}}
    ]
    (tmp_path / "parameters.json").write_text(json.dumps(rows), "utf-8")
    source = AndroidWorldSource(tmp_path)
    task = source.build(source.address("test", 0))
    assert task.instruction == 'Write "a{b}" to c and send a{b}.'
    assert task.params["android_world"]["seed"] == 3
    del rows[0]["params"]["text"]
    (tmp_path / "parameters.json").write_text(json.dumps(rows), "utf-8")
    with pytest.raises(MissingData, match="MarkorCreateNoteAndSms needs values for text"):
        AndroidWorldSource(tmp_path).size("test")
