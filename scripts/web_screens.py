"""Screenshots of a site of the web event in Chromium, for looking at by a person.

.venv/bin/python scripts/web_screens.py tracker / /issues/101 --out /tmp/screens
"""

import argparse
from pathlib import Path

from hexathlon.envs.web.chromium.chromium import ChromiumBrowser
from hexathlon.envs.web.errors import ActionError
from hexathlon.tasks.web.world.looks import LOOKS
from hexathlon.tasks.web.world.network import Network, WorldPlan


def main() -> None:
    """Write the screenshots."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site")
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--looks", nargs="*", default=list(LOOKS), help="names; default: all")
    parser.add_argument("--widths", nargs="*", type=int, default=[1280, 390])
    parser.add_argument("--language", choices=("en", "zh"), default="en")
    parser.add_argument("--scale", type=int, default=2)
    parser.add_argument("--whole", action="store_true", help="the whole page, not the window")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for width in options.widths:
        browser = ChromiumBrowser(viewport=(width, 800))
        for look in options.looks:
            plan = WorldPlan(
                (options.site,), 5, "train", options.language, options.scale, "2026-03-02T09:00:00"
            )
            network = Network(plan, LOOKS[look])
            browser.open(network)
            for path in options.paths:
                try:
                    browser.act("goto", {"url": f"http://{options.site}.hexathlon.test{path}"})
                except ActionError as error:
                    print(f"{path}: {error}")
                name = "_".join(part for part in path.replace("?", "/").split("/") if part)
                place = options.out / f"{options.site}-{name or 'start'}-{look}-{width}.png"
                place.write_bytes(browser.screenshot(whole=options.whole))
                print(place)
            network.close()
        browser.close()


if __name__ == "__main__":
    main()
