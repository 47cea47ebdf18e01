"""Draw every site of the web event in every look, at desktop and phone width.

    python scripts/web_contact_sheet.py FOLDER [--site NAME ...] [--language zh] [--pages]

Writes one sheet per site, with the first page and one further page in all looks. `--pages` writes
the single screenshots, too. Needs the extra `[web]` and Chromium.
"""

import argparse
import io
from pathlib import Path

from PIL import Image, ImageDraw
from playwright.sync_api import Page, sync_playwright

from hexathlon.envs.web.chromium.driver import chromium_path
from hexathlon.envs.web.chromium.server import SECRET_HEADER, SiteServer
from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.web.world.looks import LOOKS
from hexathlon.tasks.web.world.network import Network, WorldPlan
from hexathlon.tasks.web.world.sites.table import SITE_NAMES

DESKTOP, PHONE = (1280, 800), (390, 800)
SHOWN = 0.3


def shots(page: Page, network: Network, urls: list[str]) -> list[Image.Image]:
    """Take screenshots of pages at both widths."""
    taken = []
    for width, height in (DESKTOP, PHONE):
        page.set_viewport_size({"width": width, "height": height})
        for url in urls:
            page.goto(url)
            taken.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
    return taken


def second_page(page: Page, start: str) -> str:
    """Return the address of a record linked from the first page, or of the first other page."""
    page.goto(start)
    links = page.eval_on_selector_all("main a[href]", "all => all.map(each => each.href)")
    digits = [link for link in links if any(c.isdigit() for c in link.split("/")[-1])]
    return str((digits or links or [start])[0])


def sheet(rows: list[tuple[str, list[Image.Image]]]) -> Image.Image:
    """Arrange the screenshots: one row per look."""
    cells = [[image.resize((int(image.width * SHOWN), int(image.height * SHOWN)))
              for image in images] for _, images in rows]  # fmt: skip
    height = cells[0][0].height
    width = sum(image.width + 8 for image in cells[0]) + 8
    drawn = Image.new("RGB", (width, (height + 24) * len(rows) + 8), "white")
    pen = ImageDraw.Draw(drawn)
    for row, ((name, _), images) in enumerate(zip(rows, cells, strict=True)):
        top, left = row * (height + 24) + 4, 8
        pen.text((left, top), name, fill="black")
        for image in images:
            drawn.paste(image, (left, top + 14))
            left += image.width + 8
    return drawn


def main() -> None:
    """Draw the sheets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--site", action="append", choices=SITE_NAMES)
    parser.add_argument("--language", choices=("en", "zh"), default="en")
    parser.add_argument("--pages", action="store_true")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    language: Language = chosen.language
    server = SiteServer.shared()
    rules = f"MAP *.hexathlon.test 127.0.0.1:{server.port}, MAP * ~NOTFOUND"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), chromium_sandbox=False,
            args=[f"--host-resolver-rules={rules}"],
        )  # fmt: skip
        for site in chosen.site or SITE_NAMES:
            rows = []
            for look in LOOKS.values():
                plan = WorldPlan((site,), 5, "train", language, 2, "2026-03-02T09:00:00")
                network = Network(plan, look)
                served = server.admit(network)
                context = browser.new_context(extra_http_headers={SECRET_HEADER: served.secret})
                for host, cookies in network.start_cookies().items():
                    context.add_cookies(
                        [{"name": name, "value": value, "url": f"http://{host}/"}
                         for name, value in cookies.items()]
                    )  # fmt: skip
                page = context.new_page()
                second = second_page(page, network.start_url)
                images = shots(page, network, [network.start_url, second])
                rows.append((look.name, images))
                if chosen.pages:
                    for number, image in enumerate(images):
                        image.save(chosen.folder / f"{site}-{look.name}-{number}.png")
                context.close()
                server.dismiss(served)
                network.close()
            sheet(rows).save(chosen.folder / f"{site}-{language}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
