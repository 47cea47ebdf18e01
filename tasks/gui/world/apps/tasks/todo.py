"""The tasks app."""

from typing import Any, ClassVar

from hexathlon.tasks.gui.world.apps.tasks.chores import draw_chores
from hexathlon.tasks.gui.world.kit.events import BACK, do, go, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Checkbox,
    Choice,
    Columns,
    DateField,
    Dialog,
    Heading,
    IconButton,
    ListRow,
    ListView,
    ScreenWidget,
    Select,
    Tabs,
    TextField,
    TextLabel,
    TimeField,
    Toggle,
)
from hexathlon.tasks.gui.world.phone.app import ContentDraws, PhoneApp
from hexathlon.tasks.gui.world.phone.context import AppActs, AppView
from hexathlon.tasks.gui.world.phone.core import PhoneRow

__all__ = ["TasksApp"]

_TEXTS = ("title", "due", "time", "priority", "note")
_ORDERS = ("due", "title", "priority")


class TasksApp(PhoneApp):
    """Things to do."""

    name: ClassVar[str] = "tasks"
    icon: ClassVar[str] = "check"
    colour = (70, 90, 200)
    tables = {"lists": (), "tasks": ("changed",), "steps": (), "prefs": ()}
    receives = {"text": "edit"}

    def seed(self, draws: ContentDraws) -> None:
        """Draw lists, tasks and settings."""
        draw_chores(draws)
        draws.add("prefs", id="order", value=draws.pick(_ORDERS))
        draws.add("prefs", id="show_done", value=False)

    # Lists -------------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """The lists, due tasks or flagged tasks."""
        tab = view.value("tab", "lists")
        tasks = view.rows("tasks")
        today = view.today.isoformat()
        children: list[Any]
        if tab == "due":
            rows = [row for row in tasks if row["due"] and row["due"] <= today and not row["done"]]
            children = [self._tasks(view, rows, lists=True)]
        elif tab == "flagged":
            rows = [row for row in tasks if row["flagged"]]
            children = [self._tasks(view, rows, lists=True)]
        else:
            children = []
            for row in sorted(view.rows("lists"), key=lambda row: row["place"]):
                left = [each for each in tasks if each["list"] == row["id"] and not each["done"]]
                late = sum("" < each["due"] < today for each in left)
                detail = view("late", n=late) if late else ""
                children.append(ListRow(row["name"], detail, go("list", id=row["id"]),
                                        do("list_menu", id=row["id"]), str(len(left)),
                                        "list"))  # fmt: skip
        tabs = Tabs([
            Choice(view("lists"), put("tab", "lists"), tab == "lists", "list"),
            Choice(view("due_now"), put("tab", "due"), tab == "due", "sun"),
            Choice(view("flagged"), put("tab", "flagged"), tab == "flagged", "flag"),
        ])  # fmt: skip
        actions = [
            BarAction("search", view("search"), go("search")),
            BarAction("folder", view("new_list"), go("name_list"), rare=True),
            BarAction("gear", view("settings"), go("settings"), rare=True),
        ]
        return AppPage(view("app_title"), children, actions,
                    BarAction("plus", view("new_task"), go("edit")), tabs, home=True)  # fmt: skip

    def screen_list(self, view: AppView) -> ScreenWidget:
        """The tasks of a list."""
        row = view.row("lists", view.params["id"])
        if row is None:
            return AppPage(view("app_title"), [TextLabel(view("nothing"), "dim")])
        key = row["id"]
        tasks = [each for each in view.rows("tasks") if each["list"] == key]
        done = [each for each in tasks if each["done"]]
        show = view.value("show_done", _pref(view, "show_done"))
        shown = tasks if show else [each for each in tasks if not each["done"]]
        actions = [
            BarAction("check", view("hide_done" if show else "show_done"),
                      put("show_done", not show), rare=True),
            BarAction("edit", view("rename_list"), go("name_list", id=key), rare=True),
            BarAction("erase", view("clear_done"), do("ask_clear", id=key), rare=True),
            BarAction("delete", view("delete_list"), do("ask_delete_list", id=key), rare=True),
        ]  # fmt: skip
        return AppPage(row["name"], [
            self._tasks(view, shown),
            TextLabel(view("done_count", n=len(done)), "small") if done and not show else None,
        ], actions, BarAction("plus", view("new_task"), go("edit", list=key)))  # fmt: skip

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Tasks by title, note or step."""
        wanted = view.value("query").casefold().strip()
        by_step = {row["task"] for row in view.rows("steps")
                   if wanted and wanted in row["title"].casefold()}  # fmt: skip
        rows = [
            row for row in view.rows("tasks")
            if wanted and (wanted in row["title"].casefold() or wanted in row["note"].casefold()
                           or row["id"] in by_step)
        ]  # fmt: skip
        return AppPage(view("search"), [self._tasks(view, rows, lists=True) if wanted else None],
                    search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def _tasks(self, view: AppView, rows: list[PhoneRow], *, lists: bool = False) -> ListView:
        order = _pref(view, "order")
        rank = {"high": 0, "": 1, "low": 2}
        names = {row["id"]: row["name"] for row in view.rows("lists")}

        def key(row: PhoneRow) -> tuple[Any, ...]:
            first = {"title": row["title"].casefold(), "priority": rank[row["priority"]]}.get(
                order, row["due"] or "9999")  # fmt: skip
            return row["done"], first, row["title"].casefold(), row["id"]

        def build(row: PhoneRow) -> ListRow:
            parts = [names.get(row["list"], "") if lists else "",
                     view.short_day(row["due"]) if row["due"] else "",
                     view.time(row["time"]) if row["time"] else "",
                     view(row["priority"]) if row["priority"] else ""]  # fmt: skip
            return ListRow(
                row["title"], " · ".join(part for part in parts if part),
                go("task", id=row["id"]), icon="flag" if row["flagged"] else "",
                swipe_left=do("ask_delete", id=row["id"]), swipe_right=do("flip", id=row["id"]),
                trailing=Checkbox(view("done_task", name=row["title"]), row["done"],
                                  do("flip", id=row["id"])),
            )  # fmt: skip

        return ListView(sorted(rows, key=key), build, view("nothing"))

    # One task ----------------------------------------------------------------------------------

    def screen_task(self, view: AppView) -> ScreenWidget:
        """One task."""
        row = view.row("tasks", view.params["id"])
        if row is None:
            return AppPage(view("app_title"), [TextLabel(view("nothing"), "dim")])
        key = row["id"]
        within = view.row("lists", row["list"])
        facts: list[Any] = [
            ListRow(within["name"] if within else view("none"), view("list"), icon="list")
        ]
        if row["due"]:
            when = view.day(row["due"])
            facts.append(ListRow(f"{when} {view.time(row['time'])}".strip(), view("due"),
                                 icon="calendar"))  # fmt: skip
        if row["priority"]:
            facts.append(ListRow(view(row["priority"]), view("priority"), icon="chart"))
        steps = [each for each in view.rows("steps") if each["task"] == key]
        actions = [
            BarAction("flag", view("unflag" if row["flagged"] else "flag"), do("flag", id=key)),
            BarAction("edit", view("edit"), go("edit", id=key)),
            BarAction("share", view("share"), do("share", id=key), rare=True),
            BarAction("list", view("move"), do("move", id=key), rare=True),
            BarAction("delete", view("delete"), do("ask_delete", id=key), rare=True),
        ]
        return AppPage(view("task"), [
            Checkbox(row["title"], row["done"], do("flip", id=key)), *facts,
            TextLabel(row["note"]) if row["note"] else None,
            Heading(view("steps")),
            *[ListRow(each["title"], on=do("flip_step", id=each["id"]),
                      icon="check" if each["done"] else "",
                      swipe_left=do("drop_step", id=each["id"]),
                      trailing=IconButton("close", view("drop_step", name=each["title"]),
                                          do("drop_step", id=each["id"]))) for each in steps],
            Columns((
                TextField("step", "", hint=view("new_step"), on=do("add_step", id=key)),
                IconButton("plus", view("add_step"), do("add_step", id=key)),
            ), (6, 1)),
        ], actions)  # fmt: skip

    def screen_edit(self, view: AppView) -> ScreenWidget:
        """The task form, which also receives what other apps share."""
        key = view.params.get("id")
        row = _first(view)
        lists = [(str(each["id"]), each["name"]) for each in view.rows("lists")]
        ranks = [(name, view(name or "none")) for name in ("", "low", "high")]
        return AppPage(view("edit_task" if key else "new_task"), [
            TextField("title", view("title"), row["title"]),
            Select("list", view("list"), lists, str(row["list"])),
            DateField("due", view("due"), row["due"]),
            TimeField("time", view("time"), row["time"]),
            Select("priority", view("priority"), ranks, row["priority"]),
            TextField("note", view("note"), row["note"], multiline=True),
        ], [BarAction("check", view("save"), do("save", id=key))])  # fmt: skip

    def screen_name_list(self, view: AppView) -> ScreenWidget:
        """Prompt for the name of a list."""
        key = view.params.get("id")
        row = (view.row("lists", key) if key else None) or {"name": ""}
        title = view("rename_list" if key else "new_list")
        return Dialog(title, "", [TextField("name", view("list_name"), row["name"])], (
            (view("save"), do("name_list", id=key)), (view("cancel"), BACK),
        ))  # fmt: skip

    def screen_settings(self, view: AppView) -> ScreenWidget:
        """Sort order, and whether completed tasks are shown."""
        orders = [(name, view(f"by_{name}")) for name in _ORDERS]
        return AppPage(view("settings"), [
            Select("order", view("order"), orders, _pref(view, "order"), do("set", name="order")),
            Toggle(view("show_done"), _pref(view, "show_done"),
                   do("set", name="show_done", value=not _pref(view, "show_done"))),
        ])  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_flip(self, acts: AppActs, id: int, value: bool = False) -> None:
        """Mark a task as done or as open."""
        row = acts.row("tasks", id)
        acts.change("tasks", id, done=not (row and row["done"]), changed=acts.stamp)

    def do_flag(self, acts: AppActs, id: int) -> None:
        """Set or remove the flag."""
        row = acts.row("tasks", id)
        acts.change("tasks", id, flagged=not (row and row["flagged"]), changed=acts.stamp)

    def do_flip_step(self, acts: AppActs, id: int) -> None:
        """Mark a step as done or as open."""
        row = acts.row("steps", id)
        acts.change("steps", id, done=not (row and row["done"]))

    def do_drop_step(self, acts: AppActs, id: int) -> None:
        """Remove a step."""
        acts.remove("steps", id)

    def do_add_step(self, acts: AppActs, id: int) -> None:
        """Add the step that was typed."""
        title = str(acts.value("step")).strip()
        if title:
            acts.add("steps", task=id, title=title, done=False)
            acts.put("step", "")

    def do_save(self, acts: AppActs, id: int | None) -> None:
        """Store the form."""
        values = {name: acts.value(name, value) for name, value in _first(acts).items()}
        values = {name: value.strip() if isinstance(value, str) else value
                  for name, value in values.items()}  # fmt: skip
        if not values["title"]:
            acts.toast(acts("title_missing"))
            return
        if values["time"] and not values["due"]:
            acts.toast(acts("day_missing"))
            return
        values["list"] = int(values["list"])
        acts.back()
        if id:
            acts.change("tasks", id, **values, changed=acts.stamp)
        else:
            acts.add("tasks", **values, flagged=False, done=False, changed=acts.stamp)
        acts.toast(acts("saved"))

    def do_move(self, acts: AppActs, id: int) -> None:
        """Choose another list for a task."""
        row = acts.row("tasks", id)
        acts.choose(acts("move"), [
            (each["name"], do("place", id=id, list=each["id"])) for each in acts.rows("lists")
            if row is None or each["id"] != row["list"]
        ])  # fmt: skip

    def do_place(self, acts: AppActs, id: int, list: int) -> None:  # noqa: A002 - name of a column
        """Put a task into another list."""
        acts.change("tasks", id, list=list, changed=acts.stamp)
        acts.toast(acts("saved"))

    def do_share(self, acts: AppActs, id: int) -> None:
        """Share a task as text."""
        row = acts.row("tasks", id)
        if row is not None:
            steps = [each["title"] for each in acts.rows("steps") if each["task"] == id]
            acts.share(row["title"], "\n".join([row["title"], *steps]))

    def do_ask_delete(self, acts: AppActs, id: int) -> None:
        """Ask before a task is deleted."""
        row = acts.row("tasks", id)
        acts.confirm(acts("delete_question"), do("delete", id=id), acts("delete"),
                     row["title"] if row else "")  # fmt: skip

    def do_delete(self, acts: AppActs, id: int) -> None:
        """Delete a task with its steps."""
        if acts.core.top.name == "task":
            acts.back()
        _delete(acts, id)
        acts.toast(acts("deleted"))

    def do_name_list(self, acts: AppActs, id: int | None) -> None:
        """Create or rename a list."""
        row = (acts.row("lists", id) if id else None) or {"name": ""}
        name = str(acts.value("name", row["name"])).strip()
        if not name or any(each["name"] == name and each["id"] != id
                           for each in acts.rows("lists")):  # fmt: skip
            acts.toast(acts("list_exists" if name else "title_missing"))
            return
        acts.back()
        if id:
            acts.change("lists", id, name=name)
        else:
            acts.add("lists", name=name, place=len(acts.rows("lists")) + 1)

    def do_list_menu(self, acts: AppActs, id: int) -> None:
        """Actions for a list."""
        acts.choose("", [
            (acts("rename_list"), go("name_list", id=id)),
            (acts("delete_list"), do("ask_delete_list", id=id)),
        ])  # fmt: skip

    def do_ask_clear(self, acts: AppActs, id: int) -> None:
        """Ask before the finished tasks of a list are deleted."""
        acts.confirm(acts("clear_question"), do("clear", id=id), acts("delete"))

    def do_clear(self, acts: AppActs, id: int) -> None:
        """Delete the finished tasks of a list."""
        for row in acts.rows("tasks"):
            if row["list"] == id and row["done"]:
                _delete(acts, row["id"])

    def do_ask_delete_list(self, acts: AppActs, id: int) -> None:
        """Ask before a list is deleted with its tasks."""
        row = acts.row("lists", id)
        count = sum(each["list"] == id for each in acts.rows("tasks"))
        acts.confirm(acts("delete_list_question", name=row["name"] if row else ""),
                     do("delete_list", id=id), acts("delete"),
                     acts("with_tasks", n=count))  # fmt: skip

    def do_delete_list(self, acts: AppActs, id: int) -> None:
        """Delete a list with its tasks."""
        acts.back_to("home")
        for row in acts.rows("tasks"):
            if row["list"] == id:
                _delete(acts, row["id"])
        acts.remove("lists", id)
        acts.toast(acts("deleted"))

    def do_set(self, acts: AppActs, name: str, value: Any) -> None:
        """Change a setting."""
        acts.change("prefs", name, value=value)


def _delete(acts: AppActs, key: int) -> None:
    for row in acts.rows("steps"):
        if row["task"] == key:
            acts.remove("steps", row["id"])
    acts.remove("tasks", key)


def _pref(view: AppView, name: str) -> Any:
    row = view.row("prefs", name)
    return row["value"] if row else ""


def _first(view: AppView) -> dict[str, Any]:
    """Return the form's initial values: a task's, or those passed in."""
    key = view.params.get("id")
    row = view.row("tasks", key) if key else None
    if row is not None:
        return {name: row[name] for name in (*_TEXTS, "list")}
    given = view.params
    first = min(view.rows("lists"), key=lambda each: each["place"], default={"id": 0})
    return {"title": given.get("title") or given.get("text", ""), "due": "", "time": "",
            "priority": "", "note": given.get("text", "") if given.get("title") else "",
            "list": given.get("list") or first["id"]}  # fmt: skip
