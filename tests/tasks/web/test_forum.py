import pytest

from hexathlon.tasks.web.templates.table import TEMPLATES
from support.web_pages import check_scripts, screens, task_ids

PAGES = (
    "/boards",
    "/boards/1",
    "/threads/5",
    "/threads/40",
    "/posts/5050",
    "/search",
    "/search?q=map",
    "/members",
    "/members/5",
    "/members/5/sanction?post=5001",
    "/messages",
    "/messages/1",
    "/messages/new",
    "/subscriptions",
    "/reports",
    "/reports?state=",
    "/reports/701",
    "/handbook",
    "/handbook/3",
    "/nowhere",
)
TASKS = [
    (template.name, level)
    for template in TEMPLATES.values()
    if template.name.startswith("forum_")
    for level in template.levels
]


def test_every_page_renders_in_every_look_and_language():
    for where, text in screens("forum", PAGES).items():
        assert text.strip(), where


@pytest.mark.parametrize(("template", "level"), TASKS)
def test_scripts(template, level):
    for task_id in task_ids(template, level, count=2):
        check_scripts(task_id)
