"""A day at the counter as a world: one clerk, several customers, records that others change too."""

from typing import ClassVar

from hexathlon.envs.shopping.looks import LookedWorld
from hexathlon.tasks.catalogue import open_catalogue
from hexathlon.tasks.shopping.world.shift.counter import ShiftCounter

__all__ = ["ShiftWorld"]


class ShiftWorld(LookedWorld):
    """One day at the counter."""

    desk_type: ClassVar[type[ShiftCounter]] = ShiftCounter
    prose = (
        "The customer nods. (Ask about one subject with ask_customer.)",
        "顾客点点头。（请用 ask_customer 询问某一方面。）",
    )

    def _opened(self, look: str = "stall") -> ShiftCounter:
        """Open the counter with the catalogue that orders refer to."""
        where = self._task.params["catalogue"]
        catalogue = open_catalogue(where["seed"], where["size"])
        return self.desk_type(self._task.params, catalogue, look)
