"""Forum, wiki and CMS: every page in every look and language, and the scripts of their templates."""

import pytest

from hexathlon.tasks.web.templates.table import TEMPLATES
from hexathlon.tasks.web.world.words import wordings_of
from support.web_pages import check_scripts, screens, task_ids

PAGES = {
    "forum": (
        "/boards", "/boards/1", "/threads/5", "/threads/40", "/posts/5050", "/search",
        "/search?q=map", "/members", "/members/5", "/members/5/sanction?post=5001", "/messages",
        "/messages/1", "/messages/new", "/subscriptions", "/reports", "/reports?state=",
        "/reports/701", "/handbook", "/handbook/3", "/nowhere",
    ),
    "wiki": (
        "/", "/pages", "/pages?kind=redirect", "/categories", "/recent", "/protections", "/pages/1",
        "/pages/30", "/pages/30/history", "/pages/30/links", "/pages/30/talk", "/pages/30/infobox",
        "/pages/30/move", "/sections/60", "/revisions/1", "/pages/70?stay=1", "/nowhere",
    ),
    "cms": (
        "/articles", "/articles?status=review&page=2", "/plan", "/articles/new", "/articles/1001",
        "/articles/1004", "/articles/1001/edit", "/articles/1001/schedule", "/media", "/media/new",
        "/media/3", "/menu", "/team", "/policies", "/policies/1", "/errata", "/nowhere",
    ),
}  # fmt: skip
TASKS = [
    (template.name, level)
    for template in TEMPLATES.values()
    if template.name.startswith(("forum_", "wiki_", "cms_", "press_"))
    for level in template.levels
]


@pytest.mark.parametrize("site", PAGES)
def test_every_page_renders_in_every_look_and_language(site):
    for (language, look, path), text in screens(site, PAGES[site]).items():
        problems = (
            *wordings_of(site, "not_found", language),
            *wordings_of(site, "broken", language),
        )
        missing = any(
            f"# {problem}\n" in f"{text}\n" or f"› {problem}\n" in f"{text}\n"
            for problem in problems
        )
        assert missing == (path == "/nowhere"), (language, look, path)


@pytest.mark.parametrize(("template", "level"), TASKS)
def test_scripts(template, level):
    for task_id in task_ids(template, level, count=2):
        check_scripts(task_id)
