"""Draw the sites of the web event in their looks, at desktop and phone width.

    python scripts/web_contact_sheet.py FOLDER [--site bank] [--look night] [--language zh]
    python scripts/web_contact_sheet.py FOLDER --site tracker --path /issues/101 --whole
    python scripts/web_contact_sheet.py FOLDER --kinds --look night --width 390
    python scripts/web_contact_sheet.py docs/notes --overview

The first two write a PNG per page, look and width, and a sheet per site with the looks as rows.
`--kinds` draws one page of every kind that links lead to, several to a row of a sheet per look.
`--overview` writes one sheet per width, with the sites as rows and the looks as columns. Needs the
extra `[web]` and Chromium; Chinese pages also need a Chinese font, such as fonts-wqy-microhei.
"""

import argparse
import html
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl

from PIL import Image, ImageDraw

from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.web.chromium.chromium import ChromiumBrowser
from hexathlon.envs.web.errors import ActionError
from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.web.world.exchange import WebRequest
from hexathlon.tasks.web.world.looks import LOOKS
from hexathlon.tasks.web.world.network import Network, WorldPlan, people_of
from hexathlon.tasks.web.world.sites.table import SITE_NAMES, site_named

PAGES = {
    "tracker": ("/issues", "/issues/101", "/board"),
    "mail": ("/", "/threads/1005", "/compose"),
    "calendar": ("/week", "/events/253", "/events/new"),
    "shop": ("/products", "/products/PYS8018", "/orders"),
    "bank": ("/", "/transfer", "/claims/new"),
    "forum": ("/boards/1", "/threads/1", "/search?q=the"),
    "wiki": ("/pages/20", "/pages/20/history", "/recent"),
    "cms": ("/articles", "/articles/1001", "/media"),
    "maps": ("/places", "/places/2", "/map?category=cafe"),
    "sheets": ("/workbooks/1", "/sheets/1", "/dashboards/1?period=2026-02"),
}
"""Pages of each site; the first represents the site in the overview."""

ENTRIES = {
    "bank": ("/transfer/confirm?", "/approvals"),
    "mail": ("/search?q=the", "/folder/drafts"),
    "maps": (
        "/stays?arrival=2026-03-10&departure=2026-03-12&guests=1",
        "/trains?from=&to=&date=2026-03-05",
        "/rates/1/book?arrival=2026-03-10&departure=2026-03-12",
        "/trains/1/book?date=2026-03-05",
    ),
    "cms": ("/articles?status=draft",),
    "shop": ("/checkout", "/checkout/summary", "/admin/orders", "/admin/returns"),
    "tracker": ("/issues?status=open",),
}
"""Pages to begin with in search of kinds, in addition to `/`."""

FURNISHED = {
    "bank": (
        "UPDATE _accounts SET role = 'approver' WHERE login = :me",
        "UPDATE claims SET person = :me WHERE id = 1",
        "UPDATE claims SET state = 'submitted' WHERE id IN (2, 3)",
    ),
    "shop": (
        "UPDATE _accounts SET role = 'admin' WHERE login = :me",
        "INSERT INTO cart SELECT 1, :me, min(id), 2 FROM variants WHERE stock > 3",
        "INSERT INTO returns SELECT 1, min(id), 1, 'broken', 'opened', 'pickup', 'requested', "
        "1000, 'R-1', '', '2026-03-01' FROM items",
    ),
}
"""What the user does not have at the start, such as a filled cart."""

WIDTHS = (1280, 390)
HEIGHT = 800
SEED = 5
MARGIN, TITLE = 8, 18
MOST_OF_A_KIND = 15
"""Pages of a kind that are opened in search of others."""


def network_of(
    site: str, look: str, language: Language, scale: int, *, furnished: bool = False
) -> Network:
    """Return one site of a fixed world in a look."""
    plan = WorldPlan((site,), SEED, "train", language, scale, "2026-03-02T09:00:00")
    if furnished:
        me = people_of(plan)[0].login
        edits = [
            (site, sql.replace(":me", "?"), (me,) * sql.count(":me"))
            for sql in FURNISHED.get(site, ())
        ]
        plan = plan.with_edits(edits)
    return Network(plan, LOOKS[look])


def shots(
    browser: ChromiumBrowser, network: Network, paths: tuple[str, ...], *, whole: bool
) -> Iterator[tuple[str, bytes]]:
    """Yield pages of the first site of a network, by path, as PNG."""
    host = site_named(network.plan.sites[0]).host
    browser.open(network)
    for path in paths:
        try:
            browser.act("goto", {"url": f"http://{host}{path}"})
        except ActionError as error:
            raise SystemExit(f"{host}{path}: {error}") from None
        yield path, browser.screenshot(whole=whole)


def sheet(rows: list[tuple[str, list[Image.Image]]]) -> Image.Image:
    """Arrange pictures in titled rows."""
    widest = max(sum(image.width + MARGIN for image in images) for _, images in rows)
    heights = [max(image.height for image in images) + TITLE + MARGIN for _, images in rows]
    drawn = Image.new("RGB", (widest + MARGIN, sum(heights) + MARGIN), "white")
    pen, top = ImageDraw.Draw(drawn), MARGIN
    for (title, images), height in zip(rows, heights, strict=True):
        pen.text((MARGIN, top), title, fill="black")
        left = MARGIN
        for image in images:
            drawn.paste(image, (left, top + TITLE))
            left += image.width + MARGIN
        top += height
    return drawn


def small(png: bytes, factor: float) -> Image.Image:
    """Return a scaled picture, cut to the height of the window."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image = image.crop((0, 0, image.width, min(image.height, 3 * HEIGHT)))
    size = (round(image.width * factor), round(image.height * factor))
    return image.resize(size, Image.Resampling.LANCZOS)


def kinds_of(site: str, network: Network) -> tuple[str, ...]:
    """Return one path for each kind of page: for each route of the site that links lead to."""
    host = site_named(site).host
    cookies = network.start_cookies()[host]
    waiting = ["/", "/sign-in", "/no-such-page", *ENTRIES.get(site, ())]
    seen: set[str] = set()
    kinds: dict[str, str] = {}
    opened: Counter[str] = Counter()
    while waiting:
        path = waiting.pop(0)
        address, _, query = path.partition("?")
        kind = next(
            (each.pattern.pattern for each in site_named(site)._routes
             if each.method == "GET" and each.pattern.fullmatch(address)), address,
        )  # fmt: skip
        if path in seen or opened[kind] >= MOST_OF_A_KIND:
            continue
        seen.add(path)
        opened[kind] += 1
        request = WebRequest("GET", host, address, tuple(parse_qsl(query)), (), {}, cookies)
        answer = network.handle(request)
        if answer.location:
            waiting.append(answer.location)
        if answer.status in (200, 404) and answer.download is None and "<html" in answer.body:
            kinds.setdefault(kind, path)
            links = re.findall(r'<(?:a|iframe)\b[^>]* (?:href|src)="(/[^"#]*)"', answer.body)
            waiting += [html.unescape(link) for link in links if "sign-out" not in link]
    return tuple(kinds.values())


def kinds(options: argparse.Namespace) -> None:
    """Write a sheet per site, look and width with every kind of page."""
    for width in options.width:
        browser = ChromiumBrowser(viewport=(width, HEIGHT))
        columns = 4 if width > 600 else 9
        for site in options.site:
            for look in options.look:
                network = network_of(site, look, options.language, options.scale, furnished=True)
                paths = kinds_of(site, network)
                drawn = shots(browser, network, paths, whole=options.whole)
                images = [small(png, options.factor) for _, png in drawn]
                network.close()
                rows = [(", ".join(paths[at : at + columns]), images[at : at + columns])
                        for at in range(0, len(paths), columns)]  # fmt: skip
                place = options.folder / f"{site}-kinds-{look}-{width}-{options.language}.png"
                sheet(rows).save(place)
                print(place, len(paths))
        browser.close()


def overview(options: argparse.Namespace) -> None:
    """Write one sheet per width: sites as rows, looks as columns."""
    for width in options.width:
        browser = ChromiumBrowser(viewport=(width, HEIGHT))
        factor = 0.28 if width > 600 else 0.34
        rows = []
        for site in options.site:
            images = []
            for look in options.look:
                network = network_of(site, look, options.language, options.scale)
                for _, png in shots(browser, network, PAGES[site][:1], whole=False):
                    images.append(small(png, factor))
                network.close()
            rows.append((f"{site}: {', '.join(options.look)}", images))
        browser.close()
        place = options.folder / f"web_sites_{width}.webp"
        sheet(rows).save(place, quality=options.quality, method=6)
        print(place)


def pages(options: argparse.Namespace) -> None:
    """Write a PNG per page, look and width, and a sheet per site."""
    browsers = [ChromiumBrowser(viewport=(width, HEIGHT)) for width in options.width]
    for site in options.site:
        rows = []
        for look in options.look:
            images = []
            for browser, width in zip(browsers, options.width, strict=True):
                network = network_of(site, look, options.language, options.scale)
                chosen = tuple(options.path or PAGES[site])
                for path, png in shots(browser, network, chosen, whole=options.whole):
                    name = "_".join(part for part in path.replace("?", "/").split("/") if part)
                    stem = f"{site}-{name or 'start'}-{look}-{width}-{options.language}"
                    (options.folder / f"{stem}.png").write_bytes(png)
                    images.append(small(png, options.factor))
                network.close()
            rows.append((f"{site}, {look}", images))
        place = options.folder / f"{site}-{options.language}.webp"
        sheet(rows).save(place, quality=options.quality, method=4)
        print(place)
    for browser in browsers:
        browser.close()


def main() -> None:
    """Draw the requested pages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--site", nargs="+", choices=SITE_NAMES, default=list(SITE_NAMES))
    parser.add_argument("--look", nargs="+", choices=tuple(LOOKS), default=list(LOOKS))
    parser.add_argument("--path", nargs="+", help="paths of pages; default: three of each site")
    parser.add_argument("--width", nargs="+", type=int, default=list(WIDTHS))
    parser.add_argument("--language", choices=("en", "zh"), default="en")
    parser.add_argument("--scale", type=int, default=2, help="amount of content, 1 to 4")
    parser.add_argument("--whole", action="store_true", help="the whole page, not the window")
    parser.add_argument("--factor", type=float, default=0.4, help="scale of pictures in sheets")
    parser.add_argument("--quality", type=int, default=60, help="of the sheets, 1 to 100")
    parser.add_argument("--kinds", action="store_true", help="a page of every kind")
    parser.add_argument("--overview", action="store_true", help="one sheet for all sites")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        draw = overview if options.overview else kinds if options.kinds else pages
        draw(options)
    except BackendMissing as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
