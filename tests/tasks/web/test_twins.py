"""Twins: both explain how to refuse, though only one of them is infeasible."""

import pytest

from hexathlon.tasks.registry import get_source
from hexathlon.tasks.web.templates.table import TEMPLATES
from support.web_pages import task_ids


@pytest.mark.parametrize("template", [name for name, each in TEMPLATES.items() if each.twins])
def test_both_twins_name_the_status_of_a_refusal(template):
    source, level = get_source("web"), TEMPLATES[template].levels[-1]
    tasks = [source.build(task_id) for task_id in task_ids(template, level, count=2)]
    refusal = TEMPLATES[template].refusal
    statuses = {task.checks[0].params["answer"]["status"] for task in tasks}
    assert statuses == {"SUCCESS", refusal}
    assert all(refusal in task.instruction for task in tasks)
