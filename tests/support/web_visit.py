"""A visit to one site in the twin: scripts act, the test reads screen and store."""

import json

from hexathlon.envs.web.errors import ActionError
from hexathlon.envs.web.twin.twin import TwinBrowser
from hexathlon.tasks.source import play
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.world.looks import LOOKS
from hexathlon.tasks.web.world.network import Network, WorldPlan


class Visit:
    """One site, signed in as the user, in English."""

    def __init__(self, site: str, *, scale: int = 2, look: str = "harbour") -> None:
        plan = WorldPlan((site,), 5, "train", "en", scale, "2026-03-02T09:00:00")
        self.network = Network(plan, LOOKS[look])
        self.store = self.network.store(site)
        self.pilot = Pilot("en")
        self._browser = TwinBrowser()
        self._browser.open(self.network)

    def play(self, script) -> str:
        """Run a script; return the screen afterwards."""
        play(script, self._respond)
        return self._browser.view().text

    def value(self, sql: str, *values):
        """The first value of a query on the site's state."""
        return self.store.value(sql, values)

    def _respond(self, action: str) -> str:
        call = json.loads(action)
        try:
            self._browser.act(call["name"], call["arguments"])
        except ActionError as error:
            return f"Error: {error}"
        self.network.after_action()
        return self._browser.view().text
