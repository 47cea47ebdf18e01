"""The widgets that screens are made of: plain data, without position.

A screen is an `AppPage`, or a `Dialog`, `BottomSheet` or `Menu` above the page below it. Lengths
are units of 1/360 of the screen's width. Widgets with a `key` keep their value in the screen until
a handler reads it; widgets with an event (`on`) act at once.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from hexathlon.tasks.gui.world.kit.events import PhoneEvent

__all__ = [
    "AppPage", "BarAction", "BottomSheet", "Bubble", "Button", "Canvas", "Card", "Checkbox",
    "Chips", "Choice", "Columns", "DateField", "Dialog", "Divider", "Heading", "IconButton",
    "ListRow", "ListView", "Menu", "Picture", "Radio", "ScreenWidget", "Select", "Slider",
    "Spacer", "Spot", "Tabs", "TextField", "TextLabel", "Tile", "TileGrid", "TimeField",
    "Toggle", "Widget",
]  # fmt: skip

Shape = tuple[Any, ...]


class TextLabel(NamedTuple):
    """Static text."""

    text: str
    style: Literal["body", "title", "big", "dim", "small", "error"] = "body"
    lines: int = 0
    """Maximum number of lines; unlimited if 0."""

    centre: bool = False


class Heading(NamedTuple):
    """The title of a section."""

    text: str


class Divider(NamedTuple):
    """A line between sections."""


class Spacer(NamedTuple):
    """Empty space."""

    height: int = 8


class Button(NamedTuple):
    """A button with text."""

    text: str
    on: PhoneEvent
    style: Literal["filled", "outlined", "text", "danger"] = "filled"
    enabled: bool = True


class IconButton(NamedTuple):
    """A button that shows an icon; its label is spoken, not seen, and missing in some looks."""

    icon: str
    label: str
    on: PhoneEvent
    active: bool = False
    """Whether it is drawn filled, such as a star that is set."""


class ListRow(NamedTuple):
    """An entry of a list."""

    title: str
    detail: str = ""
    on: PhoneEvent | None = None
    long: PhoneEvent | None = None
    """Effect of a long press."""

    value: str = ""
    """Short text at the end, such as a time or an amount."""

    icon: str = ""
    avatar: str = ""
    """Name whose initial is shown in a coloured disc, in looks with avatars."""

    picture: Any = None
    """A scene to show as a small picture; see `Picture`."""

    trailing: Any = None
    """An `IconButton`, `Toggle` or `Checkbox` at the end of the row."""

    bold: bool = False
    selected: bool = False
    lines: int = 1
    """Lines of `detail`."""

    swipe_left: PhoneEvent | None = None
    swipe_right: PhoneEvent | None = None
    danger: bool = False


class Toggle(NamedTuple):
    """A switch with a label. With a key it is a field of a form."""

    label: str
    checked: bool = False
    on: PhoneEvent | None = None
    key: str = ""
    detail: str = ""
    enabled: bool = True


class Checkbox(NamedTuple):
    """A box to tick, with a label."""

    label: str
    checked: bool = False
    on: PhoneEvent | None = None
    key: str = ""
    detail: str = ""


class Radio(NamedTuple):
    """One of several options, all of which are shown."""

    key: str
    label: str
    options: Sequence[tuple[str, str]]
    """Pairs of value and label."""

    value: str = ""
    on: PhoneEvent | None = None
    """Called after the choice with `value`, if it acts at once."""


class Select(NamedTuple):
    """One of several options, shown when tapped."""

    key: str
    label: str
    options: Sequence[tuple[str, str]]
    value: str = ""
    on: PhoneEvent | None = None


class Choice(NamedTuple):
    """An option of `Chips` or `Tabs`."""

    label: str
    on: PhoneEvent
    selected: bool = False
    icon: str = ""


class Chips(NamedTuple):
    """Small buttons in lines, such as filters."""

    choices: Sequence[Choice]


class Tabs(NamedTuple):
    """Parts of an app; at the top or the bottom of the screen, depending on the look."""

    choices: Sequence[Choice]


class Slider(NamedTuple):
    """A whole number, set by its position."""

    key: str
    label: str
    value: int
    low: int = 0
    high: int = 100
    step: int = 1
    on: PhoneEvent | None = None
    """Called after each change with `value`, if it acts at once."""


class TextField(NamedTuple):
    """A field for text."""

    key: str
    label: str
    value: str = ""
    hint: str = ""
    multiline: bool = False
    kind: Literal["text", "number", "phone", "search", "secret"] = "text"
    on: PhoneEvent | None = None
    """Called by the Enter key of the keyboard."""


class DateField(NamedTuple):
    """A day, `YYYY-MM-DD`, chosen in a calendar."""

    key: str
    label: str
    value: str = ""
    on: PhoneEvent | None = None


class TimeField(NamedTuple):
    """A time of day, `HH:MM`, chosen by hour and minute."""

    key: str
    label: str
    value: str = ""
    on: PhoneEvent | None = None


class Picture(NamedTuple):
    """A picture drawn from data; see `hexathlon.tasks.gui.world.kit.pictures`."""

    scene: tuple[Any, ...]
    height: int = 200
    label: str = ""
    on: PhoneEvent | None = None


class Tile(NamedTuple):
    """A cell of a grid: an icon on a coloured background, a picture, or text alone."""

    label: str
    on: PhoneEvent | None = None
    long: PhoneEvent | None = None
    icon: str = ""
    colour: tuple[int, int, int] | None = None
    picture: tuple[Any, ...] | None = None
    text: str = ""
    """Large text in place of a picture."""

    selected: bool = False
    caption: bool = True
    """Whether the label is drawn below; if not, it is spoken only."""

    mark: str = ""
    """Small text below, or a count on the icon."""


class TileGrid(NamedTuple):
    """Tiles in columns."""

    tiles: Sequence[Tile]
    columns: int = 4
    height: int = 0
    """Height of a tile; by default, that of its content."""


class Bubble(NamedTuple):
    """A message of a conversation."""

    text: str
    mine: bool
    time: str = ""
    author: str = ""
    long: PhoneEvent | None = None
    picture: tuple[Any, ...] | None = None


class Spot(NamedTuple):
    """A touchable spot on a canvas."""

    x: float
    y: float
    label: str
    on: PhoneEvent
    radius: float = 14


class Canvas(NamedTuple):
    """A drawing such as a map, with touchable spots.

    Shapes are `("line", colour, width, x0, y0, x1, y1, …)`, `("area", colour, x0, y0, …)`,
    `("disc", colour, x, y, radius)` and `("text", colour, size, x, y, text)`, in units of the
    canvas.
    """

    width: int
    height: int
    shapes: Sequence[Shape]
    spots: Sequence[Spot] = ()
    label: str = ""
    pan: PhoneEvent | None = None
    """Called after a swipe over it with `dx` and `dy`, in units."""


class Card(NamedTuple):
    """Widgets on a separate background."""

    children: Sequence[Any]
    on: PhoneEvent | None = None


class Columns(NamedTuple):
    """Widgets side by side."""

    children: Sequence[Any]
    weights: Sequence[int] = ()


class ListView(NamedTuple):
    """A long list; only its visible rows are built.

    All rows have the height of the first one.
    """

    items: Sequence[Any]
    row: Callable[[Any], Any]
    empty: str = ""
    """Shown if there are no items."""


Widget = (
    TextLabel | Heading | Divider | Spacer | Button | IconButton | ListRow | Toggle | Checkbox
    | Radio | Select | Chips | Tabs | Slider | TextField | DateField | TimeField | Picture
    | TileGrid | Bubble | Canvas | Card | Columns | ListView
)  # fmt: skip


class BarAction(NamedTuple):
    """An action of a screen: an icon or a word in its bar, or an entry of its menu."""

    icon: str
    label: str
    on: PhoneEvent
    rare: bool = False
    """Whether it is always in the menu."""


class AppPage(NamedTuple):
    """A full screen."""

    title: str
    children: Sequence[Any]
    actions: Sequence[BarAction] = ()
    create: BarAction | None = None
    """The main action."""

    tabs: Tabs | None = None
    search: TextField | None = None
    """A search field below the bar that does not scroll."""

    bottom: Sequence[Any] = ()
    """Widgets that stay at the bottom, such as the field for a new message."""

    home: bool = False
    """Whether it is the first screen, without a back button."""

    end: bool = False
    """Whether it opens scrolled to its end, as conversations do."""

    back: PhoneEvent | None = None
    """Effect of the back button; by default it leaves the screen."""


class Dialog(NamedTuple):
    """A question or a message above the screen; the first button confirms."""

    title: str
    text: str = ""
    children: Sequence[Any] = ()
    buttons: Sequence[tuple[str, PhoneEvent]] = ()


class BottomSheet(NamedTuple):
    """Widgets that rise from the bottom of the screen."""

    title: str
    children: Sequence[Any]


class Menu(NamedTuple):
    """Actions in a small window at the top right."""

    choices: Sequence[tuple[str, PhoneEvent]]


ScreenWidget = AppPage | Dialog | BottomSheet | Menu
