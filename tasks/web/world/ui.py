"""Building blocks of pages: lists, forms, dialogs and dates, drawn in the look of the episode.

Every function returns markup that is well-formed XML, since the fast twin reads pages with an XML
parser. Behaviour on clicks is declared in `data-` attributes, which the browser's script
(`assets/site.js`) and the twin implement alike; docs/notes/web.md lists them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import count
from typing import Any

from markupsafe import Markup

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.web.world.looks import Look
from hexathlon.tasks.web.world.words import Words

__all__ = ["FormField", "Kit", "Pager", "attributes"]

_MONTHS = ("January February March April May June July August September October November "
           "December").split()  # fmt: skip


@dataclass(frozen=True)
class FormField:
    """One field of a form."""

    name: str
    label: str
    kind: str = "text"
    """`text`, `textarea`, `select`, `checkbox`, `radio`, `date`, `number`, `password`, `file`,
    `hidden`, `readonly` or `picker` (a calendar to choose a date from)."""

    value: Any = ""
    options: Sequence[tuple[str, str]] = ()
    """Values and labels of a select or of radio buttons."""

    error: str = ""
    help: str = ""
    depends: tuple[str, str] | None = None
    """URL of a fragment that is loaded into an element (its id) whenever the value changes."""


@dataclass(frozen=True)
class Pager:
    """A position in a paged list."""

    page: int
    pages: int
    total: int
    base: str
    """URL with every other parameter, ending in `?` or `&`."""


def attributes(values: Mapping[str, Any]) -> Markup:
    """Write attributes; True becomes `name="name"`, False and None are left out."""
    parts = []
    for name, value in values.items():
        if value is None or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        parts.append(f' {name}="{name if value is True else _safe(value)}"')
    return Markup("".join(parts))


def _safe(value: Any) -> str:
    """Return a value as markup: texts are escaped, markup is kept."""
    if type(value) is Markup:
        return value
    text = str(value)
    if not _SPECIAL.isdisjoint(text):
        for character, entity in _ENTITIES:
            text = text.replace(character, entity)
    return text


_ENTITIES = (("&", "&amp;"), (">", "&gt;"), ("<", "&lt;"), ("'", "&#39;"), ('"', "&#34;"))
_SPECIAL = frozenset(character for character, _ in _ENTITIES)


class Kit:
    """Building blocks in one look and language."""

    def __init__(self, look: Look, words: Words, language: Language) -> None:
        self.look = look
        self.words = words
        self.language = language
        self._ids = count(1)
        self._field_ids: dict[str, int] = {}

    # Small parts -------------------------------------------------------------------------------

    def link(self, text: str, url: str, **attrs: Any) -> Markup:
        """A link."""
        more = attributes(attrs) if attrs else ""
        return Markup(f'<a href="{_safe(url)}"{more}>{_safe(text)}</a>')

    def button(self, text: str, kind: str = "plain", **attrs: Any) -> Markup:
        """A button; submits its form unless `type="button"` is given."""
        attrs = {"type": "submit", "class_": f"button {kind}", **attrs}
        return Markup(f"<button{attributes(attrs)}>{_safe(text)}</button>")

    def badge(self, text: str, kind: str = "") -> Markup:
        """A short label such as a status."""
        return Markup(f'<span class="badge {kind}">{_safe(text)}</span>')

    def post_button(self, text: str, action: str, kind: str = "plain", **fields: Any) -> Markup:
        """A button that posts a form of hidden fields."""
        return Markup(
            f'<form class="inline" method="post" action="{_safe(action)}">'
            f"{self._hidden(fields)}{self.button(text, kind)}</form>"
        )

    def date(self, value: str | date) -> str:
        """Write a date, or a timestamp with its time to the minute, in the look's style."""
        moment = datetime.fromisoformat(str(value)) if isinstance(value, str) else value
        time = ""
        if isinstance(value, datetime) or (isinstance(value, str) and len(value) > 10):
            time = f" {moment:%H:%M}"
        if self.language == "zh":
            return f"{moment.year}年{moment.month}月{moment.day}日{time}"
        style = self.look.dates
        if style == "iso":
            return f"{moment:%Y-%m-%d}{time}"
        month = _MONTHS[moment.month - 1]
        if style == "long":
            return f"{moment.day} {month} {moment.year}{time}"
        if style == "short":
            return f"{month[:3]} {moment.day}, {moment.year}{time}"
        return f"{moment:%d.%m.%Y}{time}"

    def money(self, cents: int, currency: str = "€") -> str:
        """Write an amount of money given in cents."""
        return f"{'-' if cents < 0 else ''}{currency}{abs(cents) // 100:,}.{abs(cents) % 100:02d}"

    # Lists -------------------------------------------------------------------------------------

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], **attrs: Any) -> Markup:
        """A list of records as a table, cards or lines, depending on the look."""
        if not rows:
            return Markup(f'<p class="empty">{_safe(self.words("empty_list"))}</p>')
        drawn: Markup = getattr(self, f"_as_{self.look.listing}")(columns, rows, attrs)
        return drawn

    def grid(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], **attrs: Any) -> Markup:
        """A table in every look, for figures that are compared by column."""
        return self._as_table(columns, rows, attrs)

    def facts(self, pairs: Sequence[tuple[str, Any]]) -> Markup:
        """Properties of one record."""
        items = "".join([f"<dt>{_safe(name)}</dt><dd>{_safe(value)}</dd>" for name, value in pairs])
        return Markup(f'<dl class="facts">{items}</dl>')

    def pager(self, pager: Pager) -> Markup:
        """Links to the neighbouring pages of a list; empty for a single page."""
        if pager.pages <= 1:
            return Markup("")
        close = range(max(1, pager.page - 1), min(pager.pages, pager.page + 1) + 1)
        links = [
            Markup(f'<b aria-current="page">{number}</b>')
            if number == pager.page
            else self.link(str(number), f"{pager.base}page={number}")
            for number in sorted({1, pager.pages, *close})
        ]
        if pager.page > 1:
            links.insert(0, self.link(self.words("previous"), f"{pager.base}page={pager.page - 1}"))
        if pager.page < pager.pages:
            links.append(self.link(self.words("next"), f"{pager.base}page={pager.page + 1}"))
        total = _safe(self.words("total", count=pager.total))
        label = _safe(self.words("pages"))
        return Markup(
            f'<nav class="pager" aria-label="{label}">{" ".join(links)} <span>{total}</span></nav>'
        )

    # Forms -------------------------------------------------------------------------------------

    def form(
        self,
        action: str,
        fields: Sequence[FormField],
        submit: str,
        *,
        method: str = "post",
        hidden: Mapping[str, Any] | None = None,
        cancel: str = "",
        extra: Markup | str = "",
        label: str = "",
    ) -> Markup:
        """A form, with fields as the look arranges them.

        Args:
            action: URL that receives it.
            fields: The fields, in order.
            submit: Label of the button.
            method: `post` or `get`.
            hidden: Hidden fields.
            cancel: URL of a link that leaves the form; none if empty.
            extra: Markup before the button, such as an element that dependent fields fill.
            label: Accessible name of the form.
        """
        files = any(each.kind == "file" for each in fields)
        shape = "search" if method == "get" else self.look.form
        attrs = {
            "method": method, "action": action, "class_": f"form {shape}",
            "novalidate": True, "autocomplete": "off", "aria-label": label or None,
            "enctype": "multipart/form-data" if files else None,
        }  # fmt: skip
        body = "".join([self.field(each) for each in fields])
        buttons = [self.button(submit, "primary")]
        if cancel:
            buttons.append(self.link(self.words("cancel"), cancel, class_="button"))
        if self.look.actions_first:
            buttons.reverse()
        return Markup(
            f"<form{attributes(attrs)}>{self._hidden(hidden or {})}{body}{_safe(extra)}"
            f'<div class="buttons">{" ".join(buttons)}</div></form>'
        )

    def field(self, spec: FormField) -> Markup:
        """One field with its label, help and error."""
        if spec.kind == "hidden":
            return self._hidden({spec.name: spec.value})
        name = self._field_id(spec.name)
        after = ""
        if spec.help:
            after += f'<small class="help">{_safe(spec.help)}</small>'
        if spec.error:
            after += f'<strong class="error">{_safe(spec.error)}</strong>'
        if spec.kind == "radio":
            return self._radios(spec, after)
        control = self._control(spec, name)
        label = _safe(spec.label)
        if spec.kind == "checkbox":
            return Markup(
                f'<div class="field check"><label for="{name}">{control} {label}</label>'
                f"{after}</div>"
            )
        return Markup(
            f'<div class="field"><label for="{name}">{label}</label>{control}{after}</div>'
        )

    def confirm(
        self,
        opener: str,
        question: str,
        action: str,
        submit: str,
        *,
        fields: Sequence[FormField] = (),
        hidden: Mapping[str, Any] | None = None,
        kind: str = "danger",
    ) -> Markup:
        """A button that opens a dialog with a form for its action."""
        name = f"dialog-{next(self._ids)}"
        body = "".join([self.field(each) for each in fields])
        keep = self.button(self.words("cancel"), type="button", data_close=True)
        go = self.button(submit, kind)
        buttons = (keep, go) if not self.look.actions_first else (go, keep)
        return Markup(
            f"{self.button(opener, kind, type='button', data_open=name)}"
            f'<dialog id="{name}" aria-label="{_safe(opener)}">'
            f'<form method="post" action="{_safe(action)}" novalidate="novalidate">'
            f"<p>{_safe(question)}</p>{self._hidden(hidden or {})}{body}"
            f'<div class="buttons">{" ".join(buttons)}</div></form></dialog>'
        )

    def menu(self, label: str, items: Sequence[Markup]) -> Markup:
        """A menu that opens on a click."""
        body = "".join([f"<li>{_safe(item)}</li>" for item in items])
        return Markup(
            f'<details class="menu"><summary>{_safe(label)}</summary><ul>{body}</ul></details>'
        )

    def disclosure(self, label: str, content: Markup | str) -> Markup:
        """Content that opens on a click."""
        return Markup(
            f"<details><summary>{_safe(label)}</summary><div>{_safe(content)}</div></details>"
        )

    def frame(self, url: str, title: str) -> Markup:
        """Another page of the site inside this one."""
        return Markup(f'<iframe src="{_safe(url)}" title="{_safe(title)}"></iframe>')

    def shadow(self, content: Markup | str) -> Markup:
        """Content in a shadow root, as in web components."""
        return Markup(
            '<div class="component"><template shadowrootmode="open">'
            f'<link rel="stylesheet" href="/assets/kit.css"/>{_safe(content)}</template></div>'
        )

    # Internals ---------------------------------------------------------------------------------

    def _hidden(self, fields: Mapping[str, Any]) -> Markup:
        return Markup(
            "".join(
                [
                    f'<input type="hidden" name="{_safe(name)}" value="{_safe(value)}"/>'
                    for name, value in fields.items()
                ]
            )
        )

    def _field_id(self, name: str) -> str:
        """Return the id of a field; several forms on a page can have fields of one name."""
        number = self._field_ids[name] = self._field_ids.get(name, 0) + 1
        return f"field-{name}" if number == 1 else f"field-{name}-{number}"

    def _control(self, spec: FormField, name: str) -> Markup:
        attrs: dict[str, Any] = {"id": name, "name": spec.name}
        if spec.depends:
            attrs["data_depends"], attrs["data_into"] = spec.depends
        if spec.kind == "textarea":
            return Markup(f"<textarea{attributes(attrs)}>{_safe(spec.value)}</textarea>")
        if spec.kind == "select":
            return Markup(f"<select{attributes(attrs)}>{_options(spec)}</select>")
        if spec.kind == "checkbox":
            attrs.update(type="checkbox", value="1", checked=bool(spec.value))
        elif spec.kind == "picker":
            return self._picker(spec, attrs)
        elif spec.kind == "readonly":
            attrs.update(type="text", value=spec.value, readonly=True)
        elif spec.kind == "file":
            attrs.update(type="file")
        elif spec.kind == "password":
            attrs.update(type="password")
        else:
            attrs.update(type=spec.kind, value=spec.value)
        return Markup(f"<input{attributes(attrs)}/>")

    def _picker(self, spec: FormField, attrs: dict[str, Any]) -> Markup:
        panel = f"calendar-{spec.name}"
        attrs.update(type="text", value=spec.value, readonly=True)
        month = str(spec.value)[:7]
        opener = self.button(
            self.words("choose_date"), type="button", data_into=panel,
            data_load=f"/calendar-panel?field={spec.name}&month={month}",
        )  # fmt: skip
        return Markup(
            f'<input{attributes(attrs)}/>{opener}<div id="{_safe(panel)}" class="calendar"></div>'
        )

    def _radios(self, spec: FormField, after: str) -> Markup:
        items = []
        for value, label in spec.options:
            attrs = {"type": "radio", "name": spec.name, "value": value,
                     "checked": str(value) == str(spec.value)}  # fmt: skip
            items.append(f"<label><input{attributes(attrs)}/> {_safe(label)}</label>")
        return Markup(
            f'<fieldset class="field"><legend>{_safe(spec.label)}</legend>'
            f"{''.join(items)}{after}</fieldset>"
        )

    def _as_table(
        self, columns: Sequence[str], rows: Sequence[Sequence[Any]], attrs: Mapping[str, Any]
    ) -> Markup:
        head = "".join([f"<th>{_safe(name)}</th>" for name in columns])
        body = "".join(
            [f"<tr>{''.join([f'<td>{_safe(cell)}</td>' for cell in row])}</tr>" for row in rows]
        )
        return Markup(
            f"<table{attributes(attrs)}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    def _as_cards(
        self, columns: Sequence[str], rows: Sequence[Sequence[Any]], attrs: Mapping[str, Any]
    ) -> Markup:
        cards = "".join(
            [
                f"<article><h3>{_safe(row[0])}</h3>"
                f"{self.facts(list(zip(columns[1:], row[1:], strict=True)))}</article>"
                for row in rows
            ]
        )
        return Markup(f'<div class="cards"{attributes(attrs)}>{cards}</div>')

    def _as_lines(
        self, columns: Sequence[str], rows: Sequence[Sequence[Any]], attrs: Mapping[str, Any]
    ) -> Markup:
        lines = "".join(
            [
                f"<li><div>{_safe(row[0])}</div><div>"
                + " · ".join(
                    f"<span>{_safe(name)}: {_safe(cell)}</span>" if name else _safe(cell)
                    for name, cell in zip(columns[1:], row[1:], strict=True)
                )
                + "</div></li>"
                for row in rows
            ]
        )
        return Markup(f'<ul class="lines"{attributes(attrs)}>{lines}</ul>')


def _options(spec: FormField) -> str:
    chosen = str(spec.value)
    return "".join(
        [
            f'<option value="{_safe(value)}"{_SELECTED if str(value) == chosen else ""}>'
            f"{_safe(label)}</option>"
            for value, label in spec.options
        ]
    )


_SELECTED = ' selected="selected"'
