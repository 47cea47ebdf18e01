import pytest

from hexathlon.envs.web.twin.twin import TwinBrowser
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.web.templates import (
    shop_buying,
    shop_choosing,
    shop_returning,
    shop_simple,
    shop_staff,
)
from hexathlon.tasks.web.world.looks import LOOKS
from hexathlon.tasks.web.world.network import Network, WorldPlan
from support.web_pages import check_scripts, screens, task_ids

MODULES = (shop_simple, shop_buying, shop_choosing, shop_returning, shop_staff)
TEMPLATES = [template for module in MODULES for template in module.TEMPLATES]
PAGES = (
    "/",
    "/products?page=2&sort=price&rated=4",
    "/products?q=nothing+at+all",
    "/cart",
    "/offers",
    "/checkout",
    "/orders",
    "/orders?status=delivered",
    "/returns",
    "/addresses",
    "/addresses/1",
    "/addresses/new",
    "/contact",
    "/help",
    "/help/returns",
    "/wishes",
    "/nowhere",
)
STAFF = ("/admin/goods", "/admin/goods?sort=stock&page=2", "/admin/orders", "/admin/returns",
         "/admin/reviews", "/help/refunds")  # fmt: skip


@pytest.fixture
def shop():
    plan = WorldPlan(("shop",), 5, "train", "en", 2, "2026-03-02T09:00:00")
    network, browser = Network(plan, LOOKS["harbour"]), TwinBrowser()
    browser.open(network)
    yield network, browser
    network.close()


def opened(browser, path):
    browser.act("goto", {"url": f"http://shop.hexathlon.test{path}"})
    return browser.view().text


def number_of(text, element):
    return text.partition(f"] {element}")[0].rpartition("[")[2]


def test_every_page_renders_in_every_look_and_language():
    for where, text in screens("shop", PAGES).items():
        assert text.strip(), where


def test_product_order_and_staff_pages_render_in_every_look():
    for look in LOOKS.values():
        plan = WorldPlan(
            ("shop",),
            5,
            "dev",
            "zh",
            2,
            "2026-03-02T09:00:00",
            edits=(
                ("shop", "UPDATE _accounts SET role = 'admin'", ()),
                ("shop", "UPDATE reviews SET flagged = 1 WHERE id < 4", ()),
                (
                    "shop",
                    "INSERT INTO returns SELECT 1, id, 1, 'changed', 'opened', 'dropoff', "
                    "'requested', "
                    "100, '', '', '2026-03-01 09:00:00' FROM items LIMIT 1",
                    (),
                ),
            ),
        )
        network, browser = Network(plan, look), TwinBrowser()
        browser.open(network)
        store = network.store("shop")
        key, variant = (
            store.value("SELECT product FROM variants"),
            store.value("SELECT id FROM variants"),
        )
        number = store.value(
            "SELECT number FROM orders WHERE status = 'delivered' AND person = ?",
            (
                network.start_cookies()
                and store.value("SELECT person FROM cart")
                or store.value("SELECT person FROM addresses"),
            ),
        )
        paths = (
            *STAFF,
            f"/products/{key}",
            f"/orders/{number}",
            f"/orders/{number}/return",
            f"/admin/goods/{variant}",
            f"/admin/orders/{number}",
            "/admin/returns/1",
        )
        for path in paths:
            assert len(opened(browser, path).splitlines()) > 8, (look.name, path)
        network.close()


def test_staff_pages_are_closed_to_customers(shop):
    network, browser = shop
    for path in STAFF:
        assert "You are not allowed" in opened(browser, path)
    browser.act("goto", {"url": "http://shop.hexathlon.test/admin/goods"})
    assert network.final_state()["changes"] == {}


def test_a_cart_takes_no_more_than_the_stock(shop):
    network, browser = shop
    variant = network.store("shop").row("SELECT * FROM variants WHERE stock BETWEEN 1 AND 15")
    page = opened(browser, f"/products/{variant['product']}")
    browser.act(
        "select_option", {"bid": number_of(page, 'combobox "Variant"'), "options": variant["id"]}
    )
    browser.act(
        "fill", {"bid": number_of(page, 'spinbutton "Quantity"'), "text": str(variant["stock"] + 1)}
    )
    browser.act("click", {"bid": number_of(page, 'button "Add to cart"')})
    assert f"Only {variant['stock']} in stock." in browser.view().text
    assert network.final_state()["changes"] == {}


def test_saving_for_later_is_shown_at_once_and_fails_when_the_list_is_full(shop):
    network, browser = shop
    store = network.store("shop")
    keys = [row["id"] for row in store.rows("SELECT id FROM products LIMIT 16")]
    for key in keys:
        page = opened(browser, f"/products/{key}")
        browser.act("click", {"bid": number_of(page, 'button "Save for later"')})
        assert 'button "Saved"' in browser.view().text
    assert store.value("SELECT count(*) FROM wishes") == 15
    assert "Your list is full" in opened(browser, "/orders")


def test_a_filter_returns_to_the_first_page_and_keeps_what_was_chosen(shop):
    _, browser = shop
    page = opened(browser, "/products?page=3&sort=price_down")
    browser.act("click", {"bid": number_of(page, 'button "Filter"')})
    url = browser.view().tabs[0][1]
    assert "page=" not in url and "sort=price_down" in url


@pytest.mark.parametrize(
    ("template", "level"),
    [(template.name, level) for template in TEMPLATES for level in template.levels],
)
def test_scripts(template, level):
    for task_id in task_ids(template, level, count=2):
        check_scripts(task_id)


def test_a_return_that_needs_many_attempts_exists():
    assert get_source("web").build("web/shop_returns/medium/test/00130").instruction
