import pytest

from hexathlon.tasks.web.templates.table import TEMPLATES
from support.web_pages import check_scripts, screens, task_ids

PAGES = (
    "/articles",
    "/articles?status=review&page=2",
    "/plan",
    "/articles/new",
    "/articles/1001",
    "/articles/1004",
    "/articles/1001/edit",
    "/articles/1001/schedule",
    "/media",
    "/media/new",
    "/media/3",
    "/menu",
    "/team",
    "/policies",
    "/policies/1",
    "/errata",
    "/nowhere",
)
TASKS = [
    (template.name, level)
    for template in TEMPLATES.values()
    if template.name.startswith("cms_")
    for level in template.levels
]


def test_every_page_renders_in_every_look_and_language():
    for where, text in screens("cms", PAGES).items():
        assert text.strip(), where


@pytest.mark.parametrize(("template", "level"), TASKS)
def test_scripts(template, level):
    for task_id in task_ids(template, level, count=2):
        check_scripts(task_id)
