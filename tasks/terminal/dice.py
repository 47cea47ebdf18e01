"""Random draws and names for one task, both determined by its address."""

from collections.abc import Sequence
from typing import TypeVar

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.task import SPLITS, Split

__all__ = ["Cast", "Dice"]

Item = TypeVar("Item")

_LOWER = "abcdefghijklmnopqrstuvwxyz"

_POOLS: dict[str, str] = {
    "person": """ada boris clara dmitri elena farid greta hugo ines jonas keiko lars mira nadia
        oscar petra quentin rosa samir tilda ugo vera wanda xenia yusuf zoe anton bela carmen
        dario esme felix gita hanna ivan jana karim lena marco noor olga pavel rafa selma tomas
        uma viktor wes yara zeno alma bruno celia dora emil flora goran heidi igor julia kofi
        livia milan""",
    "host": """aspen basalt cedar delta ember fjord garnet heron indigo jasper kestrel larch
        marble nickel onyx poplar quartz raven slate topaz umber violet walnut xenon yarrow
        zinc alder birch cobalt dune elm flint granite hazel iris juniper krill lotus maple
        nova oak pewter quail rowan sable tundra urchin vesper willow yew amber bison""",
    "service": """billing catalog dispatch envoy fleet gateway harvest ingest journal keyring
        ledger mailer notify orders payroll quota relay search tariff uplink vault webhook
        archive beacon courier depot export forecast grants hotline intake kiosk lookup metrics
        nightly outbox planner queue router stock tickets usage voucher""",
    "place": """oslo lima quito cairo delhi tunis porto turin lyon gdansk malmo split graz bern
        kyoto busan hanoi accra dakar lagos perth hobart osaka macau doha muscat sofia varna
        zadar riga tartu vaasa bergen aarhus ghent breda leeds york cork derry""",
    "thing": """anvil bobbin candle drill easel funnel gasket hinge inkwell jack kettle lathe
        mallet nozzle oiler pulley quill ratchet spindle trowel urn valve wrench yoke awl
        bellows chisel dowel eyelet ferrule gimlet hasp ingot jig keel lever mandrel needle
        pallet rivet shim tongs vise washer""",
    "key": """alpha bravo cargo delay epoch focus grade hours inset joint knots level margin
        nodes owner phase quorum ratio scope token units vowel width yield angle batch cubes
        depth edges force grain hosts items joins kinds length mode nights origin points queue
        rank shift""",
}


class Dice:
    """An addressable random stream."""

    def __init__(self, *address: str | int) -> None:
        self._rng = generator_for("terminal", *address)

    def whole(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, inclusive."""
        return int(self._rng.integers(low, high + 1))

    def chance(self, share: float) -> bool:
        """Return True with probability `share`."""
        return bool(self._rng.random() < share)

    def pick(self, items: Sequence[Item]) -> Item:
        """Return one of the items."""
        return items[int(self._rng.integers(len(items)))]

    def some(self, items: Sequence[Item], count: int) -> list[Item]:
        """Return `count` distinct items in random order."""
        order = self._rng.permutation(len(items))[:count]
        return [items[int(place)] for place in order]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return all items in random order."""
        return self.some(items, len(items))

    def word(self, length: int, letters: str = _LOWER) -> str:
        """Return a random string."""
        return "".join(letters[int(n)] for n in self._rng.integers(len(letters), size=length))

    def hexa(self, length: int) -> str:
        """Return a string of hexadecimal digits."""
        return self.word(length, "0123456789abcdef")


class Cast:
    """Names for a task; each split owns every fourth word of a pool."""

    def __init__(self, dice: Dice, split: Split) -> None:
        self._dice, self._place = dice, SPLITS.index(split)

    def names(self, kind: str, count: int) -> list[str]:
        """Return `count` distinct names of a kind."""
        return self._dice.some(_POOLS[kind].split()[self._place :: len(SPLITS)], count)

    def name(self, kind: str) -> str:
        """Return one name."""
        return self.names(kind, 1)[0]
