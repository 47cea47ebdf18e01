import pytest

from hexathlon.tasks.web.templates.table import TEMPLATES
from support.web_pages import check_scripts, screens, task_ids

PAGES = (
    "/",
    "/pages",
    "/pages?kind=redirect",
    "/categories",
    "/recent",
    "/protections",
    "/pages/1",
    "/pages/30",
    "/pages/30/history",
    "/pages/30/links",
    "/pages/30/talk",
    "/pages/30/infobox",
    "/pages/30/move",
    "/sections/60",
    "/revisions/1",
    "/pages/70?stay=1",
    "/nowhere",
)
TASKS = [
    (template.name, level)
    for template in TEMPLATES.values()
    if template.name.startswith("wiki_")
    for level in template.levels
]


def test_every_page_renders_in_every_look_and_language():
    for where, text in screens("wiki", PAGES).items():
        assert text.strip(), where


@pytest.mark.parametrize(("template", "level"), TASKS)
def test_scripts(template, level):
    for task_id in task_ids(template, level, count=2):
        check_scripts(task_id)
