import pytest

from hexathlon.envs.web.twin.twin import TwinBrowser
from hexathlon.tasks.web.templates import (
    bank_claims,
    bank_fees,
    bank_payments,
    bank_simple,
    shop_bank,
    shop_bank_claims,
)
from hexathlon.tasks.web.world.looks import LOOKS
from hexathlon.tasks.web.world.network import Network, WorldPlan
from support.web_pages import check_scripts, screens, task_ids

MODULES = (bank_simple, bank_payments, bank_fees, bank_claims, shop_bank, shop_bank_claims)
TEMPLATES = [template for module in MODULES for template in module.TEMPLATES]
PAGES = ("/", "/transfer", "/transfer/confirm", "/payees", "/payees?q=a&page=2", "/payees/1",
         "/payees/new", "/standing", "/standing/1", "/cards", "/claims", "/claims?state=approved",
         "/claims/new", "/projects", "/messages", "/messages/1", "/rules", "/rules/fees",
         "/rules/expenses", "/bookings/1", "/nowhere")  # fmt: skip
START = "2026-03-02T09:00:00"
APPROVER = (
    ("bank", "UPDATE _accounts SET role = 'approver' WHERE rowid = 1", ()),
    ("bank", "UPDATE claims SET state = 'submitted' WHERE id < 4", ()),
)


def opened(browser, path):
    browser.act("goto", {"url": f"http://bank.hexathlon.test{path}"})
    return browser.view().text


def number_of(text, element):
    return text.partition(f"] {element}")[0].rpartition("[")[2]


@pytest.fixture
def bank():
    plan = WorldPlan(
        ("bank",), 5, "train", "en", 2, START, session_actions=6, files={"receipt.txt": "Green Wok"}
    )
    network, browser = Network(plan, LOOKS["harbour"]), TwinBrowser()
    browser.open(network)
    yield network, browser
    network.close()


def test_every_page_renders_in_every_look_and_language():
    for where, text in screens("bank", PAGES).items():
        assert text.strip(), where


def test_account_and_approval_pages_render_in_every_look():
    for look in LOOKS.values():
        plan = WorldPlan(("bank",), 5, "dev", "zh", 2, START, edits=APPROVER)
        network, browser = Network(plan, look), TwinBrowser()
        browser.open(network)
        number = network.store("bank").value("SELECT number FROM accounts").replace(" ", "")
        card = network.store("bank").value("SELECT number FROM cards")
        for path in (
            f"/accounts/{number}?kind=card&page=2",
            f"/cards/{card}",
            "/approvals",
            "/approvals?state=submitted",
            "/approvals/1",
        ):
            assert len(opened(browser, path).splitlines()) > 10, (look.name, path)
        network.close()


def test_the_overview_shows_only_the_ends_of_account_numbers(bank):
    network, browser = bank
    rows = network.store("bank").rows("SELECT number FROM accounts")
    overview = opened(browser, "/")
    for number in (row["number"] for row in rows):
        assert f"•••• {number[-4:]}" in overview and number[:-4].strip() not in overview
        assert number in opened(browser, f"/accounts/{number.replace(' ', '')}")


def test_only_approvers_see_claims_of_others(bank):
    network, browser = bank
    assert "You are not allowed" in opened(browser, "/approvals")
    others = network.store("bank").value(
        "SELECT id FROM claims WHERE person != ?",
        (
            network.store("bank").value(
                "SELECT person FROM cards c JOIN accounts a ON a.number = c.account"
            ),
        ),
    )
    assert "Page not found" in opened(browser, f"/claims/{others}")


def test_no_more_leaves_a_savings_account_than_its_month_allows(bank):
    network, browser = bank
    store = network.store("bank")
    savings = store.row("SELECT * FROM accounts WHERE kind = 'savings'")
    page = opened(browser, "/transfer")
    browser.act(
        "select_option",
        {"bid": number_of(page, 'combobox "From account"'), "options": savings["number"]},
    )
    browser.act("fill", {"bid": number_of(page, 'textbox "Amount"'), "text": "2999.00"})
    browser.act("fill", {"bid": number_of(page, 'textbox "Purpose"'), "text": "x"})
    browser.act("select_option", {"bid": number_of(page, 'combobox "Payee"'), "options": "1"})
    browser.act("click", {"bid": number_of(browser.view().text, 'button "Continue"')})
    assert "may still leave this savings account" in browser.view().text


def test_a_session_that_expires_asks_to_sign_in_again(bank):
    network, browser = bank
    opened(browser, "/cards")
    for _ in range(8):
        network.after_action()
    assert "Your session has expired" in opened(browser, "/cards")


def test_a_claim_above_the_limit_needs_its_receipt(bank):
    network, browser = bank
    page = opened(browser, "/claims/new")
    for label, value in (("Subject", "Lunch"), ("Amount", "80.00"), ("City", "Aldham")):
        browser.act("fill", {"bid": number_of(page, f'textbox "{label}"'), "text": value})
    browser.act("click", {"bid": number_of(page, 'button "Hand in"')})
    assert "A receipt is needed for this amount." in browser.view().text
    assert network.final_state()["changes"] == {}


@pytest.mark.parametrize(
    ("template", "level"),
    [(template.name, level) for template in TEMPLATES for level in template.levels],
)
def test_scripts(template, level):
    for task_id in task_ids(template, level, count=2):
        check_scripts(task_id)
