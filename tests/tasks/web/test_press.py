import pytest

from hexathlon.tasks.web.templates.table import TEMPLATES
from support.web_pages import check_scripts, task_ids


@pytest.mark.parametrize("template", [name for name in TEMPLATES if name.startswith("press_")])
def test_scripts(template):
    for task_id in task_ids(template, "medium", count=2):
        check_scripts(task_id)
