import pytest

from hexathlon.envs.web.env import WebEnv
from hexathlon.envs.web.errors import ActionError
from hexathlon.envs.web.twin.twin import TwinBrowser
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import play
from hexathlon.tasks.web.templates.table import TEMPLATES
from hexathlon.tasks.web.world.looks import LOOKS
from hexathlon.tasks.web.world.network import Network, WorldPlan
from hexathlon.tasks.web.world.sites.mail.search import parse_query
from support.web_pages import check_scripts, screens, task_ids

PAGES = (
    "/folder/inbox", "/folder/sent?page=2", "/starred", "/search?q=has:attachment", "/threads/1015",
    "/compose", "/contacts?page=2", "/labels", "/filters", "/filters/new", "/absence", "/failed",
    "/handbook", "/handbook/opening", "/nowhere",
)  # fmt: skip


def test_every_page_renders_in_every_look_and_language():
    for where, text in screens("mail", PAGES).items():
        assert text.strip(), where


@pytest.mark.parametrize(
    ("template", "level"),
    [
        (name, level)
        for name, template in TEMPLATES.items()
        if name.startswith("mail_")
        for level in template.levels
    ],
)
def test_scripts(template, level):
    for task_id in task_ids(template, level, count=2):
        check_scripts(task_id)


def test_parts_of_a_shift_are_terms_of_their_own():
    source, env = get_source("web"), WebEnv()
    task = source.build(task_ids("mail_calendar_shift", "medium", count=1)[0])
    terms = {}

    def respond(action):
        observation, _, terminated, truncated, info = env.step(action)
        terms.update(info["reward_terms"])
        return None if terminated or truncated else observation

    env.reset(seed=7, options={"task": task.id})
    play(source.mutants(task)["not_archived"], respond)
    env.close()
    parts = {name: met for name, met in terms.items() if name.startswith("part ")}
    missing = [name for name, met in parts.items() if not met]
    assert missing == ["part archived"]
    assert len(parts) == 6 and terms["changes"] == 0.0


def test_search_operators():
    condition, values = parse_query(
        'from:ada subject:"new lamp" before:2026-01-31 -quote in:archive'
    )
    assert condition == (
        "(m.sender LIKE ? OR m.sender_name LIKE ?) AND m.subject LIKE ? AND date(m.sent) < ? AND "
        "NOT (m.subject LIKE ? OR m.body LIKE ? OR m.sender_name LIKE ? OR m.files LIKE ?) AND "
        "lower(m.folder) = lower(?)"
    )
    assert values == ["%ada%"] * 2 + ["%new lamp%", "2026-01-31"] + ["%quote%"] * 4 + ["archive"]


def test_without_a_folder_spam_and_trash_are_left_out():
    assert parse_query("lamp")[0].endswith("m.folder NOT IN ('spam', 'trash')")
    assert parse_query("in:anywhere") == ("1", [])


@pytest.fixture
def mailbox():
    plan = WorldPlan(("mail",), 5, "train", "en", 2, "2026-03-02T09:00:00")
    network, browser = Network(plan, LOOKS["harbour"]), TwinBrowser()
    browser.open(network)
    yield network, browser
    network.close()


def send(browser, **fields):
    browser.act("goto", {"url": "http://mail.hexathlon.test/compose"})
    for name, value in fields.items():
        browser.act("fill", {"bid": number(browser, f'textbox "{name}"'), "text": value})
    browser.act("click", {"bid": number(browser, 'button "Send"')})


def number(browser, element):
    line = next(each for each in browser.view().text.splitlines() if f"] {element}" in each)
    return line.partition(f"] {element}")[0].rpartition("[")[2]


def test_a_mail_without_recipient_is_refused_and_keeps_its_text(mailbox):
    network, browser = mailbox
    send(browser, Subject="Hello", Message="Text")
    assert "This field is required." in browser.view().text
    assert 'value "Text"' in browser.view().text
    assert network.store("mail").value("SELECT count(*) FROM messages WHERE subject = 'Hello'") == 0


def test_names_of_several_contacts_are_refused(mailbox):
    network, browser = mailbox
    row = network.store("mail").row("SELECT * FROM contacts")
    network.store("mail").insert("contacts", name=row["name"], email="other@example.test",
                                 company="", role="", phone="", note="")  # fmt: skip
    send(browser, To=row["name"], Subject="Hello")
    assert f"several contacts named {row['name']}" in browser.view().text


def test_a_mail_to_a_removed_address_bounces_and_can_be_corrected(mailbox):
    network, browser = mailbox
    store = network.store("mail")
    store.insert("_dead", address="old@example.test")
    send(browser, To="old@example.test", Subject="Hello", Message="Text")
    assert store.value("SELECT state FROM messages WHERE subject = 'Hello'") == "sending"
    for _ in range(4):
        network.after_action()
    browser.act("goto", {"url": "http://mail.hexathlon.test/failed"})
    assert "old@example.test does not exist any more" in browser.view().text
    assert store.value("SELECT count(*) FROM messages WHERE subject = 'Hello'") == 0
    browser.act("click", {"bid": number(browser, 'button "Edit and send again"')})
    browser.act("fill", {"bid": number(browser, 'textbox "To"'), "text": "new@example.test"})
    browser.act("click", {"bid": number(browser, 'button "Send"')})
    row = store.row("SELECT * FROM messages WHERE subject = 'Hello'")
    assert (row["folder"], row["state"], row["recipients"]) == ("sent", "sent", "new@example.test")


def test_sending_a_mail_can_be_undone_for_a_while(mailbox):
    network, browser = mailbox
    send(browser, To="new@example.test", Subject="Hello")
    browser.act("click", {"bid": number(browser, 'button "Undo send"')})
    assert (
        network.store("mail").value("SELECT folder FROM messages WHERE subject = 'Hello'")
        == "drafts"
    )
    send(browser, To="new@example.test", Subject="Again")
    for _ in range(10):
        network.after_action()
    browser.act("click", {"bid": number(browser, 'button "Undo send"')})
    assert "too late" in browser.view().text


def test_mail_that_has_not_arrived_is_not_shown(mailbox):
    network, browser = mailbox
    network.store("mail").insert(
        "messages", thread=9000, id=9000, folder="inbox", sender="a@example.test", sender_name="A",
        recipients="", cc="", subject="From the future", body="", sent="2026-03-02 09:01:00",
    )  # fmt: skip
    browser.act("goto", {"url": "http://mail.hexathlon.test/folder/inbox"})
    assert "From the future" not in browser.view().text
    browser.act("goto", {"url": "http://mail.hexathlon.test/threads/9000"})
    assert "From the future" not in browser.view().text
    for _ in range(3):
        network.after_action()
    browser.act("goto", {"url": "http://mail.hexathlon.test/folder/inbox"})
    assert "From the future" in browser.view().text


def test_a_button_in_a_designed_mail_leaves_a_trace(mailbox):
    network, browser = mailbox
    store = network.store("mail")
    spam = store.row("SELECT * FROM messages WHERE kind = 'designed'")
    browser.act("goto", {"url": f"http://mail.hexathlon.test/threads/{spam['thread']}"})
    label = spam["body"].partition("[[")[2].removesuffix("]]")
    browser.act("click", {"bid": number(browser, f'button "{label}"')})
    assert store.value("SELECT message FROM link_clicks") == spam["id"]


def test_an_unknown_element_is_refused(mailbox):
    _, browser = mailbox
    with pytest.raises(ActionError, match="no element"):
        browser.act("click", {"bid": "9999"})
