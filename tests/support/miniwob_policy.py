"""Scripts that solve MiniWoB++ pages from the agent's view, through the public actions.

`SOLVERS` has a script by page; several pages share one.
"""

import re
from collections.abc import Callable

from hexathlon.tasks.source import Script
from hexathlon.tasks.web.pilot import ElementMissing, Pilot

ACTIVE = r'\[(\d+)\] (\w+(?: zone)?)(?: "((?:[^"\\]|\\.)*)")?'


class Page:
    """The agent's view of a page, and the text of its task."""

    def __init__(self, goal: str) -> None:
        self.goal = goal
        self.pilot = Pilot("en")

    @property
    def screen(self) -> str:
        """The tree without the repeated instruction."""
        tree = self.pilot.screen.partition("\nPage:\n")[2]
        return tree.removeprefix(self.goal)

    @property
    def quoted(self) -> list[str]:
        return re.findall(r'"([^"]*)"', self.goal)

    def all(self, role: str = r"\w+", name: str = ".*") -> list[tuple[str, str]]:
        """Numbers and names of elements whose role and name match."""
        rows = [(bid, kind, label) for bid, kind, label in re.findall(ACTIVE, self.screen)]
        return [
            (bid, label) for bid, kind, label in rows
            if re.fullmatch(role, kind) and re.fullmatch(name, label, re.DOTALL)
        ]  # fmt: skip

    def one(self, role: str = r"\w+", name: str = ".*", nth: int = 0) -> str:
        found = self.all(role, name)
        if len(found) <= nth:
            raise ElementMissing(f"{role} {name} {nth}:\n{self.screen}")
        return found[nth][0]

    def do(self, tool: str, **arguments: object) -> Script:
        yield from self.pilot.act(tool, **arguments)

    def click(self, role: str = r"\w+", name: str = ".*", nth: int = 0) -> Script:
        yield from self.do("click", bid=self.one(role, name, nth))

    def fill(self, text: str, role: str = "textbox", name: str = ".*", nth: int = 0) -> Script:
        yield from self.do("fill", bid=self.one(role, name, nth), text=text)

    def submit(self, name: str = "(?i)submit") -> Script:
        yield from self.click(r"button|clickable|tab", name)


def exact(text: str) -> str:
    return re.escape(text)


def places(page: Page, name: str = ".*") -> list[tuple[str, str, int, int, int, int]]:
    """Number, name, centre and size of elements that are described by their position."""
    found = []
    for bid, label in page.all("clickable|button", name):
        at = re.search(r"at (-?\d+),(-?\d+) size (\d+)x(\d+)", label)
        if at:
            found.append((bid, label, *(int(each) for each in at.groups())))
    return found


def click_named(page: Page) -> Script:
    wanted = page.quoted or re.findall(r"button ([A-Z]+)", page.goal)
    if not wanted:
        yield from page.click("button")
    for name in wanted:
        yield from page.click("button", exact(name))


def click_in_order(page: Page) -> Script:
    yield from page.click("button", "ONE")
    wait = re.search(r"wait (\d+) seconds", page.goal)
    if wait:
        yield from page.do("noop", wait_ms=1_000 * int(wait[1]) + 20)
    yield from page.click("button", "TWO")


def select_boxes(page: Page) -> Script:
    for name in re.search(r"Select (.*) and click", page.goal)[1].split(", "):
        for bid, _ in page.all("checkbox|radio", exact(name)):
            yield from page.do("click", bid=bid)
    yield from page.submit()


def choose_option(page: Page) -> Script:
    name = re.search(r"Select (.*) from the", page.goal)[1]
    wanted = [name] if page.all("combobox") else name.split(", ")
    box = page.one("combobox|listbox")
    yield from page.do("select_option", bid=box, options=wanted[0] if len(wanted) == 1 else wanted)
    yield from page.submit()


def click_link(page: Page) -> Script:
    """Click the link with the quoted name, whichever tab or section contains it."""
    name = exact(page.quoted[0])
    tabs = [bid for bid, _ in page.all("tab")]
    for bid in [None, *tabs]:
        if bid is not None:
            yield from page.do("click", bid=bid)
        if page.all("clickable|link", name):
            yield from page.click("clickable|link", name)
            return


def click_tab(page: Page) -> Script:
    yield from page.click("tab", exact(re.search(r"Click on (.*)\.", page.goal)[1]))


def expand_and_submit(page: Page) -> Script:
    yield from page.click("tab")
    yield from page.click("button|clickable|tab", "Submit")


def close_dialog(page: Page) -> Script:
    name = page.quoted[0]
    yield from page.click("button", "Close" if name == "x" else exact(name))


def enter_quoted(page: Page) -> Script:
    text = page.quoted[0]
    if "lower case" in page.goal:
        text = text.lower()
    elif "upper case" in page.goal:
        text = text.upper()
    for bid, _ in page.all("textbox"):
        yield from page.do("fill", bid=bid, text=text)
    yield from page.submit()


def log_in(page: Page) -> Script:
    for nth, text in enumerate(page.quoted[:2]):
        yield from page.fill(text, nth=nth)
    yield from page.submit("Login")


def enter_date(page: Page) -> Script:
    month, day, year = re.search(r"(\d\d)/(\d\d)/(\d{4})", page.goal).groups()
    yield from page.fill(f"{year}-{month}-{day}", "date")
    yield from page.submit()


def enter_time(page: Page) -> Script:
    hour, minute, half = re.search(r"(\d+):(\d\d) ([AP]M)", page.goal).groups()
    yield from page.fill(f"{int(hour) % 12 + 12 * (half == 'PM'):02d}:{minute}", "time")
    yield from page.submit()


def focus(page: Page) -> Script:
    number = re.search(r"(\d)(?:st|nd|rd|th)", page.goal)
    yield from page.do("focus", bid=page.one("textbox", nth=int(number[1]) - 1 if number else 0))


def find_word(page: Page) -> Script:
    number = int(re.search(r"(\d+)(?:st|nd|rd|th)", page.goal)[1])
    words = page.screen.strip().partition("\n[")[0].split()
    yield from page.fill(re.sub(r"[.,]+$", "", words[number - 1]))
    yield from page.submit()


def read_table(page: Page) -> Script:
    rows = dict(re.findall(r"\| (.*?) \| (.*)", page.screen))
    asked = re.search(r"value of (.*) into", page.goal)
    names = [asked[1]] if asked else re.findall(r"^(.*): \[\d+\] textbox", page.screen, re.M)
    for nth, name in enumerate(names):
        yield from page.fill(rows[name], nth=nth)
    yield from page.submit()


def algebra(page: Page) -> Script:
    text = page.screen.replace("x = [", "")
    left, sign, right, total = re.search(r"(\w+) ([-+]) (\w+) = (-?\d+)", text).groups()
    if left == "x":
        answer = int(total) - int(right) if sign == "+" else int(total) + int(right)
    else:
        answer = int(total) - int(left) if sign == "+" else int(left) - int(total)
    yield from page.fill(str(answer))
    yield from page.submit()


def arithmetic(page: Page) -> Script:
    left, sign, right = re.search(r"(\d+) ([-+x]) (\d+) =", page.screen).groups()
    a, b = int(left), int(right)
    yield from page.fill(str({"+": a + b, "-": a - b, "x": a * b}[sign]))
    yield from page.submit()


def odd_or_even(page: Page) -> Script:
    for odd, number, even in re.findall(
        r'\[(\d+)\] button "Odd"\s+(-?\d+)\s+\[(\d+)\] button "Even"', page.screen
    ):
        yield from page.do("click", bid=odd if int(number) % 2 else even)
    yield from page.submit()


def guess_number(page: Page) -> Script:
    low, high = 0, 9
    while low <= high:
        guess = (low + high) // 2
        yield from page.fill(str(guess), "spinbutton")
        yield from page.submit()
        if "higher than" in page.screen:
            low = guess + 1
        else:
            high = guess - 1


def grid_coordinate(page: Page) -> Script:
    x, y = map(int, re.search(r"\((-?\d+),(-?\d+)\)", page.goal).groups())
    circles = places(page, ".*circle.*")
    columns, rows = sorted({each[2] for each in circles}), sorted({each[3] for each in circles})
    at = columns[x + 2], rows[2 - y]
    yield from page.do("click", bid=next(each[0] for each in circles if each[2:4] == at))


def click_color(page: Page) -> Script:
    colour = re.search(r"Click on the (\w+) colored", page.goal)
    boxes = places(page)
    big = [each for each in boxes if each[4] > 30]
    wanted = colour[1] if colour else boxes[0][1].split()[0]
    yield from page.do("click", bid=next(e[0] for e in big if e[1].startswith(wanted)))


def kinds_of(label: str) -> set[str]:
    """Words that describe a shape: size, colour, letter or digit, form."""
    before = label.partition(" at ")[0]
    width, height = map(int, re.search(r"size (\d+)x(\d+)", label).groups())
    size = "large" if height > 15 or width > 15 else "small"
    words = {size, *re.findall(r"[a-z]+", before.rpartition(": ")[2])}
    if ": " in before:
        words |= {"digit" if before[0].isdigit() else "letter"}
        words |= {before.partition(":")[0]}
    return words | {{"rect": "rectangle", "polygon": "triangle"}.get(word, word) for word in words}


def wanted_kinds(goal: str) -> set[str]:
    words = re.search(r"(?:Click on an? |How many )(.*?)(?: are there\?)?$", goal)[1].split()
    singular = {"letters": "letter", "digits": "digit", "rectangles": "rectangle",
                "triangles": "triangle", "circles": "circle", "shapes": "shape"}  # fmt: skip
    return {singular.get(word, word) for word in words} - {"item", "items", "shape"}


def shapes(page: Page) -> list[tuple[str, str]]:
    return [(bid, label) for bid, label, *_ in places(page) if re.search(
        r"\b(text|rect|circle|polygon) at", label)]  # fmt: skip


def is_shape(label: str, goal: str) -> bool:
    return " shape" not in goal or ": " not in label


def click_shape(page: Page) -> Script:
    wanted = wanted_kinds(page.goal)
    yield from page.do("click", bid=next(
        bid for bid, label in shapes(page)
        if wanted <= kinds_of(label) and is_shape(label, page.goal)
    ))  # fmt: skip


def count_shape(page: Page) -> Script:
    wanted = wanted_kinds(page.goal)
    count = sum(wanted <= kinds_of(label) and is_shape(label, page.goal)
                for _, label in shapes(page))  # fmt: skip
    yield from page.click("button", str(count))


def identify_shape(page: Page) -> Script:
    kinds = kinds_of(shapes(page)[0][1])
    name = next(k for k in ("letter", "digit", "circle", "rectangle", "triangle") if k in kinds)
    yield from page.click("button", {"digit": "Number"}.get(name, name.title()))


def ascending(page: Page) -> Script:
    count = len(page.all("clickable"))
    for number in range(1, count + 1):
        found = [bid for bid, label in page.all("clickable", rf"{number}\b.*")]
        yield from page.do("click", bid=found[0])


def greatest(page: Page) -> Script:
    cards = [(int(label), bid) for bid, label in page.all("clickable", r"\d+")]
    yield from page.do("click", bid=max(cards)[1])
    yield from page.submit()


def buy_ticket(page: Page) -> Script:
    prices = {bid: int(label[10:]) for bid, label in page.all("button", r"Book for \$\d+")}
    hours = {
        bid: int(h) * 60 + int(m)
        for h, m, bid in re.findall(r"(\d+)h (\d+)m\s+\[(\d+)\]", page.screen)
    }
    by = prices if "cost" in page.goal or "price" in page.goal or "cheap" in page.goal else hours
    pick = max if re.search("most expensive|longest", page.goal) else min
    yield from page.do("click", bid=pick(by, key=lambda bid: by[bid]))


def spinner(page: Page) -> Script:
    number = re.search(r"Select (-?\d+)", page.goal)[1]
    yield from page.fill(number, "spinbutton")
    yield from page.submit()


def copy_paste(page: Page) -> Script:
    number = re.search(r"(\d)(?:st|nd|rd|th)", page.goal)
    texts = re.findall(r'textbox value "([^"]*)"', page.pilot.screen)
    nth = int(number[1]) - 1 if number else 0
    bid = page.one("textbox", nth=nth)
    yield from page.do("focus", bid=bid)
    yield from page.do("press", bid=bid, key_comb="Control+A")
    yield from page.do("press", bid=bid, key_comb="Control+C")
    target = page.one("textbox", nth=len(texts) - 1)
    yield from page.do("press", bid=target, key_comb="Control+V")
    yield from page.submit()


def last_word(page: Page) -> Script:
    text = re.findall(r'textbox value "([^"]*)"', page.screen)[0]
    yield from page.fill(re.sub(r"[.,]+$", "", text.split()[-1]), nth=1)
    yield from page.submit()


def type_below(page: Page) -> Script:
    yield from page.fill(page.screen.strip().splitlines()[0].strip())
    yield from page.submit()


def search_movies(page: Page) -> Script:
    genre, director, year = re.search(
        r"for (\w+) movies directed by (.*) from year (\d+)", page.goal
    ).groups()
    for label, text in (("Genre", genre), ("Director", director), ("Year|Date", year)):
        lines = page.screen.splitlines()
        at = next(i for i, line in enumerate(lines) if re.search(label, line))
        bid = re.search(r"\[(\d+)\] textbox", "\n".join(lines[at : at + 2]))[1]
        yield from page.do("fill", bid=bid, text=text)
    yield from page.click("button|clickable", r"(?i)submit|go!|search.*|find.*")


def phone_book(page: Page) -> Script:
    name, field = re.search(r"Find (.*) in the contact book and click on their (.*)\.", page.goal
                            ).groups()  # fmt: skip
    for _ in range(12):
        if f"## {name}" in page.screen:
            break
        yield from page.click("link", ">")
    label = {"phone number": "Phone", "email": "Email", "address": "Address"}[field]
    value = re.search(rf"{label}: (?:\[(\d+)\])?", page.screen)[1]
    yield from page.do("click", bid=value)


def social_media(page: Page) -> Script:
    action, user = re.search(r'"(\w+)" button on (?:all|\d+) posts? by (@\w+)', page.goal).groups()
    count = re.search(r"on (\d+) posts?", page.goal)
    blocks = re.findall(rf"{user}\b.*?\n.*?\n(.*)", page.screen)
    bids = []
    for block in blocks:
        kind = {"Reply": "reply", "Retweet": "retweet", "Like": "like", "Share": "share"}[action]
        found = re.search(rf'\[(\d+)\] clickable "[^"]*{kind} at', block)
        if found:
            bids.append(found[1])
    for bid in bids[: int(count[1])] if count else bids:
        yield from page.do("click", bid=bid)
    yield from page.submit()


def inbox_icon(page: Page) -> Script:
    name = re.search(r"email by (\S+) and", page.goal)[1]
    icon = "trash" if "trash" in page.goal else "star"
    after = page.screen.partition(f'"{name}"')[2]
    yield from page.do("click", bid=re.search(rf'\[(\d+)\] clickable "{icon} at', after)[1])


def widget(page: Page) -> Script:
    kind = page.quoted[0]
    roles = {"text": "textbox", "textarea": "textbox", "button": "button", "radio": "radio",
             "checkbox": "checkbox", "select": "combobox"}  # fmt: skip
    yield from page.click(roles.get(kind, kind))


def generate(page: Page) -> Script:
    kind, limit = re.search(r"(greater|less|odd|even)(?: than (\d+))?", page.goal).groups()
    for _ in range(25):
        yield from page.click("button", "Generate")
        number = int(re.search(r"^\s*(-?\d+)\s*$", page.screen, re.M)[1])
        if {"greater": number > int(limit or 0), "less": number < int(limit or 0),
                "odd": number % 2 == 1, "even": number % 2 == 0}[kind]:  # fmt: skip
            break
    yield from page.submit()


def autocomplete(page: Page) -> Script:
    start, *end = page.quoted
    box = page.one("textbox")
    yield from page.do("focus", bid=box)
    yield from page.do("keyboard_type", text=start)
    for _ in range(6):
        if page.all("menuitem|option|clickable", ".+"):
            break
        yield from page.do("noop", wait_ms=200)
    choices = [
        (bid, label) for bid, label in page.all(r"menuitem|option|clickable")
        if label.startswith(start) and label.endswith(end[0] if end else "")
    ]  # fmt: skip
    yield from page.do("click", bid=choices[0][0])
    yield from page.submit()


def search_engine(page: Page) -> Script:
    number = int(re.search(r"(\d)(?:st|nd|rd|th)", page.goal)[1])
    yield from page.fill(page.quoted[0])
    yield from page.click("button", "Search")
    left = number
    while True:
        results = [bid for bid, name in page.all("link|clickable", r"[A-Z][a-z].*")]
        if left <= len(results):
            yield from page.do("click", bid=results[left - 1])
            return
        left -= len(results)
        yield from page.click("link|clickable", ">")


def form_sequence_2(page: Page) -> Script:
    radio, number, box = re.search(
        r"Check the (\d)\w+ radio button and enter the number \"(\d+)\" into the (\d)", page.goal
    ).groups()
    yield from page.click("radio", nth=int(radio) - 1)
    yield from page.fill(number, nth=int(box) - 1)
    yield from page.submit()


def form_sequence_3(page: Page) -> Script:
    height, button = re.search(r'Choose (.*) from .* labeled "(.*)"', page.goal).groups()
    yield from page.do("select_option", bid=page.one("combobox"), options=height)
    yield from page.click("button", exact(button))


def slider_to(page: Page, bid: str, start: int, wanted: int) -> Script:
    yield from page.do("focus", bid=bid)
    key = "ArrowRight" if wanted > start else "ArrowLeft"
    for _ in range(abs(wanted - start)):
        yield from page.do("keyboard_press", key=key)


def slider(page: Page) -> Script:
    wanted = int(re.search(r"Select (-?\d+) with", page.goal)[1])
    start = int(re.search(r"^\s*(-?\d+)\s*$", page.screen, re.M)[1])
    yield from slider_to(page, page.one("clickable"), start, wanted)
    box = re.search(r"click the (\d)\w+ checkbox", page.goal)
    if box:
        yield from page.click("checkbox", nth=int(box[1]) - 1)
    yield from page.submit()


def sliders(page: Page) -> Script:
    wanted = [int(each) for each in re.search(r"\[(.*)\]", page.goal)[1].split(",")]
    starts = [int(each) for each in re.findall(r"^\s*(-?\d+)\s*$", page.screen, re.M)]
    handles = [bid for bid, _ in page.all("clickable")]
    for bid, start, end in zip(handles, starts, wanted, strict=True):
        yield from slider_to(page, bid, start, end)
    yield from page.submit()


def circle_center(page: Page) -> Script:
    _, _, x, y, *_ = places(page, ".*circle.*")[0]
    yield from page.do("mouse_click", x=x, y=y)
    yield from page.submit()


def midpoint(page: Page) -> Script:
    (_, _, a, b, *_), (_, _, c, d, *_) = places(page, ".*circle.*")[:2]
    yield from page.do("mouse_click", x=(a + c) / 2, y=(b + d) / 2)
    yield from page.submit()


def right_angle(page: Page) -> Script:
    found = {label.split()[0]: (x, y) for _, label, x, y, *_ in places(page, ".*circle.*")}
    (x, y), (a, b) = found["blue"], found["black"]
    dx, dy = a - x, b - y
    for sign in (1, -1):
        px, py = x - sign * dy * 0.8, y + sign * dx * 0.8
        if 4 < px < 150 and 55 < py < 175:
            yield from page.do("mouse_click", x=px, y=py)
            break
    yield from page.submit()


def draw_line(page: Page) -> Script:
    _, _, x, y, *_ = places(page, ".*circle.*")[0]
    across = "horizontal" in page.goal
    start, end = ((12, y), (148, y)) if across else ((x, 58), (x, 170))
    yield from page.do("mouse_drag_and_drop", from_x=start[0], from_y=start[1], to_x=end[0],
                       to_y=end[1])  # fmt: skip
    yield from page.submit()


def navigate_tree(page: Page) -> Script:
    name = exact(page.quoted[0])
    opened: set[str] = set()
    for _ in range(25):
        if page.all("clickable", name):
            yield from page.click("clickable", name)
            return
        closed = [bid for bid, label in page.all("clickable", ".*expandable-hitarea.*")
                  if bid not in opened]  # fmt: skip
        if not closed:
            return
        opened.add(closed[0])
        yield from page.do("click", bid=closed[0])


def order_food(page: Page) -> Script:
    for name in re.search(r"each item: (.*)", page.goal)[1].split(", "):
        after = page.screen.partition(f"\n{name}\n")[2] or page.screen.partition(name)[2]
        yield from page.do("click", bid=re.search(r'\[(\d+)\] clickable "\+"', after)[1])
    yield from page.submit("(?i)submit|order.*")


def click_menu(page: Page) -> Script:
    for name in re.search(r"Select (.*)", page.goal)[1].split(">"):
        wanted = exact(name.strip())
        yield from page.do("hover", bid=page.one("menuitem", wanted))
        for _ in range(8):
            if page.all("menuitem", wanted):
                break
            yield from page.do("noop", wait_ms=100)
        last = wanted
        yield from page.do("noop", wait_ms=350)
    yield from page.click("menuitem", last)


def pick_date(page: Page) -> Script:
    month, day, year = map(int, re.search(r"(\d\d)/(\d\d)/(\d{4})", page.goal).groups())
    names = ("January February March April May June July August September October November "
             "December").split()  # fmt: skip
    yield from page.click("textbox")
    for _ in range(14):
        shown = re.search(rf"({'|'.join(names)}) (\d{{4}})", page.screen)
        ahead = (year - int(shown[2])) * 12 + month - 1 - names.index(shown[1])
        if ahead == 0:
            break
        yield from page.click("link|clickable|button", "Next" if ahead > 0 else "Prev")
    yield from page.click("link|clickable", str(day))
    yield from page.submit()


def drag_down(page: Page) -> Script:
    way = re.search(r"Drag the \w+ (up|down|left|right)", page.goal)[1]
    _, _, x, y, *_ = places(page)[0]
    dx, dy = {"up": (0, -50), "down": (0, 50), "left": (-50, 0), "right": (50, 0)}[way]
    yield from page.do("mouse_drag_and_drop", from_x=x, from_y=y, to_x=x + dx, to_y=y + dy)
    yield from page.submit()


def drag_box(page: Page) -> Script:
    yield from page.do("drag_and_drop", from_bid=page.one("clickable", "s"),
                       to_bid=page.one("clickable", "L"))  # fmt: skip
    yield from page.submit()


def buy_stock(page: Page) -> Script:
    limit = float(re.search(r"\$([\d.]+\d)", page.goal)[1])
    for _ in range(25):
        shown = re.search(r"Stock price:\s*\$?([\d.]+)", page.screen)
        if shown and float(shown[1]) < limit:
            yield from page.click("button", "Buy")
            return
        yield from page.do("noop", wait_ms=300)


def drag_shapes(page: Page) -> Script:
    kind = re.search(r"all (\w+?)s into", page.goal)[1]
    tag = {"rectangle": "rect", "triangle": "polygon"}.get(kind, kind)
    rows = places(page)
    box = next(each for each in rows if each[4] > 60)
    for _, label, x, y, width, _ in rows:
        if f"{tag} at" in label and width < 60:
            yield from page.do("mouse_drag_and_drop", from_x=x, from_y=y, to_x=box[2], to_y=box[3])
    yield from page.submit()


Solver = Callable[[Page], Script]

SOLVERS: dict[str, Solver] = {
    **dict.fromkeys(("click-test", "click-test-2", "click-test-transfer", "click-button",
                     "unicode-test"), click_named),
    **dict.fromkeys(("click-button-sequence", "button-delay"), click_in_order),
    **dict.fromkeys(("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer",
                     "click-option"), select_boxes),
    **dict.fromkeys(("choose-list", "click-scroll-list"), choose_option),
    **dict.fromkeys(("click-link", "click-tab-2", "click-tab-2-easy", "click-tab-2-medium",
                     "click-tab-2-hard", "click-collapsible-2", "click-collapsible-2-nodelay"),
                    click_link),
    "click-tab": click_tab,
    **dict.fromkeys(("click-collapsible", "click-collapsible-nodelay"), expand_and_submit),
    **dict.fromkeys(("click-dialog", "click-dialog-2"), close_dialog),
    **dict.fromkeys(("enter-text", "enter-text-2", "enter-text-dynamic", "enter-password"),
                    enter_quoted),
    "login-user": log_in, "enter-date": enter_date, "enter-time": enter_time,
    **dict.fromkeys(("focus-text", "focus-text-2"), focus),
    "find-word": find_word, "find-greatest": greatest,
    **dict.fromkeys(("read-table", "read-table-2"), read_table),
    "simple-algebra": algebra, "simple-arithmetic": arithmetic, "odd-or-even": odd_or_even,
    "guess-number": guess_number, "grid-coordinate": grid_coordinate, "click-color": click_color,
    "click-shape": click_shape, "count-shape": count_shape, "identify-shape": identify_shape,
    "ascending-numbers": ascending, "buy-ticket": buy_ticket, "use-spinner": spinner,
    **dict.fromkeys(("copy-paste", "copy-paste-2"), copy_paste),
    "scroll-text": last_word, "text-transform": type_below,
    **dict.fromkeys(("multi-layouts", "multi-orderings"), search_movies),
    "phone-book": phone_book,
    **dict.fromkeys(("social-media-all", "social-media-some"), social_media),
    **dict.fromkeys(("email-inbox-delete", "email-inbox-important"), inbox_icon),
    "click-widget": widget, "generate-number": generate,
    **dict.fromkeys(("use-autocomplete", "use-autocomplete-nodelay"), autocomplete),
    "search-engine": search_engine, "form-sequence-2": form_sequence_2,
    "form-sequence-3": form_sequence_3,
    **dict.fromkeys(("use-slider", "form-sequence"), slider), "use-slider-2": sliders,
    "circle-center": circle_center, "find-midpoint": midpoint, "right-angle": right_angle,
    "draw-line": draw_line, "navigate-tree": navigate_tree, "order-food": order_food,
    "click-menu": click_menu,
    **dict.fromkeys(("choose-date", "choose-date-easy", "choose-date-medium",
                     "choose-date-nodelay"), pick_date),
    **dict.fromkeys(("drag-circle", "drag-single-shape"), drag_down), "drag-box": drag_box,
    "drag-shapes": drag_shapes, "stock-market": buy_stock,
}  # fmt: skip


def solve(page_name: str, opening: str) -> Script:
    """Play a page; `opening` is the first observation."""
    page = Page(opening.partition("\n\nTabs:")[0])
    page.pilot.screen = opening
    yield from SOLVERS[page_name](page)
