"""Refusals and delayed events of the forum, the wiki and the editorial system."""

import pytest

from hexathlon.tasks.web.world.exchange import WebRequest
from hexathlon.tasks.web.world.looks import LOOKS
from hexathlon.tasks.web.world.network import Network, WorldPlan


class Visit:
    """A signed-in user of one site, without a browser."""

    def __init__(self, site: str) -> None:
        plan = WorldPlan((site,), 5, "train", "en", 2, "2026-03-02T09:00:00")
        self.network = Network(plan, LOOKS["harbour"])
        self.host = f"{site}.hexathlon.test"
        self.cookies = self.network.start_cookies()[self.host]
        self.store = self.network.store(site)

    def get(self, path: str):
        url = f"http://{self.host}{path}"
        return self.network.handle(WebRequest.get(url, self.cookies))

    def post(self, path: str, **form: object):
        fields = tuple((name.replace("_", "-"), str(value)) for name, value in form.items())
        self.network.after_action()
        return self.network.handle(
            WebRequest("POST", self.host, path, (), fields, cookies=self.cookies)
        )

    def notice(self, path: str) -> str:
        return self.get(path).body


@pytest.fixture
def wiki():
    return Visit("wiki")


@pytest.fixture
def cms():
    return Visit("cms")


@pytest.fixture
def forum():
    return Visit("forum")


def test_a_protection_applies_until_its_last_day(wiki):
    page = wiki.store.value("SELECT page FROM facts ORDER BY id")
    insert = "INSERT INTO protections VALUES (?, ?, 'disputes', 'x', '2026-01-01', ?)"
    wiki.store.execute(insert, (7, page, "2026-03-01"))
    assert wiki.get(f"/pages/{page}/infobox").status == 200
    wiki.store.execute(insert, (8, page, "2026-03-02"))
    refused = wiki.get(f"/pages/{page}/infobox")
    assert refused.status == 403 and "protection 8" in refused.body
    assert wiki.post(f"/pages/{page}/categories", name="Bridges").status == 403


def test_an_edit_conflict_shows_the_other_text_and_can_be_merged(wiki):
    section = wiki.store.row("SELECT * FROM sections ORDER BY id DESC")
    body = section["body"] + " More."
    wiki.store.insert("_pending", part=section["id"], author="x", summary="", body="Other text.")
    base = wiki.store.value("SELECT max(id) FROM revisions WHERE part = ?", (section["id"],)) or 0
    assert wiki.get(f"/sections/{section['id']}").status == 200
    refused = wiki.post(f"/sections/{section['id']}", body=body, base=base)
    assert refused.status == 422 and "Other text." in refused.body
    latest = wiki.store.value("SELECT max(id) FROM revisions WHERE part = ?", (section["id"],))
    merged = wiki.post(f"/sections/{section['id']}", body="Other text. More.", base=latest)
    assert merged.status == 303
    now = wiki.store.value("SELECT body FROM sections WHERE id = ?", (section["id"],))
    assert now == "Other text. More."


def test_a_move_leaves_a_redirect_and_needs_a_free_title(wiki):
    first, second = wiki.store.rows("SELECT * FROM pages WHERE kind = 'article' LIMIT 2")
    assert wiki.post(f"/pages/{first['id']}/move", title=second["title"]).status == 422
    assert wiki.post(f"/pages/{first['id']}/move", title="A new name").status == 303
    redirect = wiki.store.row("SELECT * FROM pages WHERE title = ?", (first["title"],))
    assert redirect["redirect"] == "A new name"
    assert wiki.get(f"/pages/{redirect['id']}").location.startswith(f"/pages/{first['id']}?")


def test_a_revert_is_refused_after_a_later_change_of_the_same_part(wiki):
    fact = wiki.store.row("SELECT * FROM facts ORDER BY id")
    for value in ("1 m", "2 m"):
        wiki.post(f"/pages/{fact['page']}/infobox", **{f"value_{fact['id']}": value})
    first, second = wiki.store.rows("SELECT id FROM revisions ORDER BY id DESC LIMIT 2")[::-1]
    wiki.post(f"/revisions/{first['id']}/revert")
    assert f"revision {second['id']}" in wiki.notice(f"/revisions/{first['id']}")
    wiki.post(f"/revisions/{second['id']}/revert")
    assert wiki.store.value("SELECT value FROM facts WHERE id = ?", (fact["id"],)) == "1 m"


def test_a_schedule_needs_a_reviewer_and_a_free_slot(cms):
    row = cms.store.row("SELECT * FROM articles WHERE status = 'review'")
    path = f"/articles/{row['id']}/schedule"
    when = {"day": "2026-03-20", "time": "12:00"}
    assert "reviewer other than the author" in cms.post(path, **when).body
    editor = cms.store.value("SELECT login FROM authors WHERE role = 'chief'")
    picture = cms.store.value("SELECT id FROM media WHERE alt <> ''")
    cms.store.execute(
        "UPDATE articles SET reviewer = ?, image = ? WHERE id = ?", (editor, picture, row["id"])
    )
    other = cms.store.value("SELECT id FROM articles WHERE status = 'published'")
    cms.store.execute(
        "UPDATE articles SET status = 'scheduled', publish_at = '2026-03-20 12:00' WHERE id = ?",
        (other,),
    )
    assert f"article {other}" in cms.post(path, **when).body
    assert cms.post(path, day="2026-02-01", time="12:00").status == 422
    assert cms.post(path, day="2026-03-21", time="12:00").status == 303


def test_a_failing_scheduler_reports_it_later(cms):
    row = cms.store.row("SELECT * FROM articles WHERE status = 'scheduled'")
    picture = cms.store.value("SELECT id FROM media WHERE alt <> ''")
    cms.store.execute(
        "UPDATE articles SET status = 'review', publish_at = '', image = ? WHERE id = ?",
        (picture, row["id"]),
    )
    cms.store.insert("_faults", article=row["id"])
    path, when = f"/articles/{row['id']}/schedule", {"day": "2026-03-21", "time": "12:34"}
    assert cms.post(path, **when).status == 303
    assert "passed to the scheduler" in cms.notice(f"/articles/{row['id']}")
    cms.network.after_action()
    assert "could not take article" in cms.notice("/plan")
    assert cms.store.value("SELECT status FROM articles WHERE id = ?", (row["id"],)) == "review"
    cms.post(path, **when)
    assert cms.store.value("SELECT status FROM articles WHERE id = ?", (row["id"],)) == "scheduled"


def test_forms_of_the_editorial_system_name_missing_fields(cms):
    assert cms.post("/articles/new", title="", section="news").status == 422
    assert cms.post("/media/new", alt="x").status == 422
    row = cms.store.row("SELECT * FROM articles WHERE status = 'published'")
    cms.post(f"/articles/{row['id']}/submit")
    assert "present status" in cms.notice(f"/articles/{row['id']}")


def test_a_locked_thread_takes_no_reply_and_a_reported_one_cannot_move(forum):
    post = forum.store.row(
        "SELECT p.* FROM posts p JOIN threads t ON t.id = p.thread "
        "WHERE t.locked = 0 AND t.board = 1"
    )
    forum.post(f"/threads/{post['thread']}/lock")
    forum.post(f"/threads/{post['thread']}/reply", body="Hello")
    assert forum.store.value("SELECT count(*) FROM posts WHERE body = 'Hello'") == 0
    forum.store.insert("reports", id=999, post=post["id"], reporter=5, reason="spam",
                       created="2026-03-01 10:00:00", state="open", remark="")  # fmt: skip
    forum.post(f"/threads/{post['thread']}/move", board=2)
    assert "report #999" in forum.notice(f"/threads/{post['thread']}")
    forum.post("/reports/999", state="dismissed")
    forum.post(f"/threads/{post['thread']}/move", board=2)
    board = forum.store.value("SELECT board FROM threads WHERE id = ?", (post["thread"],))
    assert board == 2


def test_a_sanction_needs_days_for_mutes_only_and_a_post_of_the_member(forum):
    post = forum.store.row("SELECT * FROM posts WHERE author > 5")
    path, base = f"/members/{post['author']}/sanction", {"rule": "spam", "post": post["id"]}
    assert forum.post(path, kind="mute", **base).status == 422
    assert forum.post(path, kind="ban", days=3, **base).status == 422
    assert forum.post(path, kind="ban", rule="spam", post=1).status == 422
    assert forum.post(path, kind="mute", days=3, **base).status == 303


def test_a_lost_vote_looks_counted_at_first(forum):
    post = forum.store.value("SELECT id FROM posts ORDER BY id")
    forum.store.insert("_faults", post=post)
    forum.post(f"/posts/{post}/vote")
    assert forum.store.value("SELECT count(*) FROM votes") == 0
    forum.network.after_action()
    assert f"post #{post} could not be saved" in forum.notice("/boards")
    forum.post(f"/posts/{post}/vote")
    forum.post(f"/posts/{post}/vote")
    assert forum.store.value("SELECT count(*) FROM votes WHERE post = ?", (post,)) == 1


def test_messages_need_a_known_member_and_are_private(forum):
    assert forum.post("/messages/new", recipient="nobody", body="x").status == 422
    handle = forum.store.value("SELECT handle FROM members WHERE id = 9")
    assert forum.post("/messages/new", recipient=handle, body="x").status == 303
    between = forum.store.insert(
        "messages", sender=8, recipient=9, subject="", body="secret", created="2026-03-01 10:00:00"
    )
    assert forum.get(f"/messages/{between}").status == 404
