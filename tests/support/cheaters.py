"""Shoppers and clerks that follow a surface pattern instead of solving the task.

They see what an agent sees: the opening and the tools' answers. None of them reads the request's
conditions.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, NamedTuple

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task

__all__ = ["CLERKS", "SHOPPERS"]

Steps = Generator[str, str, Any]
_HIT = re.compile(
    r"^ *\d+\. (?P<id>P\w{6})  \S+ [$¥](?P<price>[\d.]+)  (?P<stars>[\d.]+)★ \((?P<count>\d+)\)"
    r".*\n +(?P<title>.+)$",
    re.MULTILINE,
)
_CHOICE = re.compile(r"\((\w+)\): (.+)")
_ITEM = re.compile(r"\bP[0-9A-HJKMNP-TV-Z]{6}\b")
_ORDER = re.compile(r"\bO\d{8}\b")
_MAIL = re.compile(r"[\w.]+@example\.com")
_NAMED = re.compile(r"(\w+ \w+|\w+) ?[(（](?:postcode|邮编) (\d{5})[)）]")


class Hit(NamedTuple):
    """One line of a result page."""

    id: str
    price: float
    count: int
    title: str


def call(name: str, /, **arguments: Any) -> str:
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


def request_of(task: Task) -> str:
    return str(task.params.get("user", {}).get("agenda", {}).get("goal") or task.instruction)


def tokens(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]", text.casefold()))


def seen(query: str, pages: int = 3) -> Steps:
    """Return the hits of a query's first pages."""
    hits: list[Hit] = []
    for page in range(1, pages + 1):
        text = yield call("search", query=query[:300], page=page)
        hits += [Hit(m["id"], float(m["price"]), int(m["count"]), m["title"])
                 for m in _HIT.finditer(text)]  # fmt: skip
    return hits


def bought(task: Task, item: str | None, told: str = "") -> Steps:
    """Buy an item with the option values named in the request, in dialogue after an offer."""
    if item is None:
        return
    text = f"{request_of(task)} {told}".casefold()
    page = yield call("open_item", item=item)
    options = {}
    for name, values in _CHOICE.findall(page):
        known = [value.strip() for value in values.split(" | ")]
        said = [value for value in known if value.casefold() in text]
        options[name] = max(said, key=len, default=known[0])
    if "user" in task.params:
        yield call("offer", item=item, options=options)
    yield call("add_to_cart", item=item, options=options)
    yield call("checkout")


def chosen_by(rule: Callable[[Task, Sequence[Hit]], Hit]) -> Callable[[Task], Script]:
    """Return the shopper that buys the item selected by a rule from three pages of hits."""

    def shop(task: Task) -> Script:
        hits = yield from seen(request_of(task))
        if hits:
            yield from bought(task, rule(task, hits).id)

    return shop


def most_words_cheapest(task: Task, hits: Sequence[Hit]) -> Hit:
    said = tokens(request_of(task))
    return max(hits, key=lambda hit: (len(tokens(hit.title) & said), -hit.price))


def asking_until_told(task: Task) -> Script:
    """Try to get an id, or at least descriptive words, out of the customer."""
    told = ""
    if "user" in task.params:
        for question in (
            "Which item id do you want?", "Tell me everything that you want.", "What else?",
        ):  # fmt: skip
            told += (yield call("ask_user", question=question)) + " "
    hits = yield from seen(f"{request_of(task)} {told}")
    named = _ITEM.findall(told)
    if named or hits:
        yield from bought(task, named[0] if named else hits[0].id, told)


def compared(hits: Iterable[Hit]) -> Steps:
    """Return a table of values by item, from comparisons of four at a time."""
    ids = list(dict.fromkeys(hit.id for hit in hits))
    table: dict[str, list[str]] = {item: [] for item in ids}
    for start in range(0, len(ids), 4):
        text = yield call("compare", items=ids[start : start + 4])
        for line in text.splitlines()[2:]:
            for item, value in zip(ids[start : start + 4], line.split("  |  ")[1:], strict=False):
                table[item].append(value)
    return table


def by_rarity(most: bool) -> Callable[[Task], Script]:
    """Return the shopper that buys the item with the rarest, or the commonest, values."""

    def shop(task: Task) -> Script:
        hits = yield from seen(request_of(task), 8)
        table = yield from compared(hits)
        counts = Counter((i, v) for row in table.values() for i, v in enumerate(row))
        score = {key: sum(counts[i, v] for i, v in enumerate(row)) for key, row in table.items()}
        if score:
            yield from bought(task, (min if most else max)(score, key=score.__getitem__))

    return shop


def with_most_neighbours(task: Task) -> Script:
    """Buy the item with the most neighbours that differ in one or two rows: families surround
    targets.
    """
    hits = yield from seen(request_of(task), 8)
    table = yield from compared(hits)

    def near(item: str) -> int:
        rows = (other for key, other in table.items() if key != item)
        return sum(sum(a != b for a, b in zip(table[item], r, strict=False)) <= 4 for r in rows)

    if table:
        yield from bought(task, max(table, key=near))


def at_the_edge(last: bool) -> Callable[[Task], Script]:
    """Return the shopper that buys the first or last item of a brand in catalogue order."""

    def shop(task: Task) -> Script:
        hits = yield from seen(request_of(task), 1)
        if not hits:
            return
        page = yield call("open_item", item=hits[0].id)
        brand = hits[0].title.split()[0]
        listing = yield call("search", query="", filters={"brand": brand})
        pages = re.search(r"(?:of |共)(\d+)(?:$|页)", listing.splitlines()[0])
        if last and pages:
            listing = yield call("search", query="", filters={"brand": brand}, page=int(pages[1]))
        result = _ITEM.findall(listing) or _ITEM.findall(page)
        yield from bought(task, result[-1 if last else 0])

    return shop


def on_most_pages(task: Task) -> Script:
    """Search for each phrase of the request and buy the most frequent hit."""
    result: Counter[str] = Counter()
    for phrase in re.split(r"[,.;:，。；：]| and ", request_of(task))[:12]:
        if len(phrase.strip()) > 1:
            hits = yield from seen(phrase.strip(), 2)
            result.update({hit.id for hit in hits})
    if result:
        yield from bought(task, result.most_common(1)[0][0])


SHOPPERS: dict[str, Callable[[Task], Script]] = {
    "most words, cheapest": chosen_by(most_words_cheapest),
    "longest title": chosen_by(lambda _, hits: max(hits, key=lambda hit: len(hit.title))),
    "newest": chosen_by(lambda _, hits: min(hits, key=lambda hit: hit.count)),
    "most reviewed": chosen_by(lambda _, hits: max(hits, key=lambda hit: hit.count)),
    "dearest": chosen_by(lambda _, hits: max(hits, key=lambda hit: hit.price)),
    "smallest id": chosen_by(lambda _, hits: min(hits, key=lambda hit: hit.id)),
    "asks until told": asking_until_told,
    "rarest values": by_rarity(True),
    "commonest values": by_rarity(False),
    "most neighbours": with_most_neighbours,
    "first of the family": at_the_edge(False),
    "last of the family": at_the_edge(True),
    "on most pages": on_most_pages,
}

_REASONS = (
    (("exchange", "换成", "change the", "改成"), "out_of_stock"),
    (("return", "退"), "window_passed"),
    (("late", "晚"), "not_late"),
    (("cancel", "取消", "send my order", "改寄"), "already_shipped"),
)


def _customer(task: Task) -> Steps:
    """Find the customer and return their page."""
    text = task.instruction
    mail, named = _MAIL.search(text), _NAMED.search(text)
    who = {"name": named[1], "postcode": named[2]} if named else {}
    if "user" in task.params:
        mail = _MAIL.search((yield call("ask_user", question="What is your e-mail?")))
    result = yield call("find_customer", **({"email": mail[0]} if mail else who))
    return (yield call("show_customer", customer=result))


def _orders(task: Task) -> Steps:
    return _ORDER.findall((yield from _customer(task)))


def _paragraph(policy: str, starts: tuple[str, ...]) -> int:
    """Return the number of the policy's paragraph with this beginning."""
    lines = (line.partition(". ") for line in policy.splitlines())
    return next(int(number) for number, _, text in lines if text.startswith(starts))


def refusing_by_the_book(place: int) -> Callable[[Task], Script]:
    """Return the clerk that refuses by quoting a relevant paragraph, for an arbitrary order."""

    def serve(task: Task) -> Script:
        orders = yield from _orders(task)
        policy = yield call("read_policy")
        request = request_of(task).casefold()
        reason = next((r for words, r in _REASONS if any(w in request for w in words)), None)
        lines = [line for line in policy.splitlines() if reason and reason in line]
        if orders and lines:
            line = "/1" if reason == "window_passed" else ""
            yield call("report_impossible", reason=reason, record=orders[place] + line,
                       paragraph=int(lines[-1].partition(".")[0]))  # fmt: skip

    return serve


def doing_all_that_goes(task: Task) -> Script:
    """Cancel the first order that can be cancelled, or else return its first line."""
    orders = yield from _orders(task)
    for order in orders:
        done = yield call("cancel_order", order=order, reason="not_needed")
        if not done.startswith("Error"):
            break
    yield call("finish_case")


def going_by_number(task: Task) -> Script:
    """Cancel the order with the lowest number, or refuse that."""
    orders = yield from _orders(task)
    policy = yield call("read_policy")
    request = request_of(task).casefold()
    mistaken = any(word in request for word in ("mistake", "下错单"))
    order = min(orders, default="")
    done = yield call("cancel_order", order=order, reason="mistake" if mistaken else "not_needed")
    if not done.startswith("Error"):
        yield call("finish_case")
    yield call("report_impossible", reason="already_shipped", record=order,
               paragraph=_paragraph(policy, ("Cancel", "取消")))  # fmt: skip


def refusing_what_has_left(task: Task) -> Script:
    """Refuse for an order in transit, if there is one, without looking at the goods."""
    text = task.instruction
    shown = yield from _customer(task)
    policy = yield call("read_policy")
    subject = ("Cancel", "取消") if "ancel" in text or "取消" in text else ("Change", "修改")
    orders = [_ORDER.findall(line)[0] for line in shown.splitlines() if "  shipped" in line]
    for order in orders[:1]:
        yield call("report_impossible", reason="already_shipped", record=order,
                   paragraph=_paragraph(policy, subject))  # fmt: skip


CLERKS: dict[str, Callable[[Task], Script]] = {
    "refuses the first": refusing_by_the_book(0),
    "refuses the last": refusing_by_the_book(-1),
    "cancels what can be": doing_all_that_goes,
    "goes by number": going_by_number,
    "refuses what has left": refusing_what_has_left,
}
