"""Tools of an environment: methods that the agent may call by name.

A method decorated with `tool` answers the calls of its name. Arguments are checked against the
JSON schema in the task before the method runs, so a tool only receives arguments that its schema
allows. Error texts explain how to correct the call.
"""

import difflib
import inspect
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from hexathlon.envs.messages import ParsedCall
from hexathlon.tasks.task import ToolSchema

__all__ = ["ToolTable", "argument_problem", "schemas_of", "tool", "tools_of"]

_Method = TypeVar("_Method", bound=Callable[..., Any])

_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}


_SCHEMA_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def tool(method: _Method) -> _Method:
    """Mark a method as a tool: it takes keyword arguments and returns the answer's content."""
    method.__tool__ = True  # type: ignore[attr-defined]
    return method


def tools_of(cls: type) -> dict[str, str]:
    """Return the names of the class's tools, mapped to their methods."""
    names = (name for name in dir(cls) if getattr(getattr(cls, name), "__tool__", False))
    return {name.removeprefix("tool_"): name for name in names}


def schemas_of(cls: type) -> tuple[ToolSchema, ...]:
    """Return schemas of the class's tools, from their signatures and docstrings.

    Parameters are annotated with `str`, `int`, `float`, `bool`, `list[...]` of these, or a
    `Literal`; those without a default are required.

    Raises:
        TypeError: If a tool has no docstring, or a parameter has another annotation.
    """
    return tuple(_schema(name, getattr(cls, method)) for name, method in tools_of(cls).items())


def _schema(name: str, method: Callable[..., Any]) -> ToolSchema:
    description = (inspect.getdoc(method) or "").partition("\n\n")[0]
    if not description:
        raise TypeError(f"the tool {name!r} needs a docstring: the agent reads it")
    kinds = get_type_hints(method)
    given = list(inspect.signature(method).parameters.values())[1:]
    return ToolSchema(
        name=name,
        description=description,
        parameters={
            "type": "object",
            "properties": {
                each.name: _property(name, each.name, kinds.get(each.name)) for each in given
            },
            "required": [each.name for each in given if each.default is each.empty],
        },
    )


def _property(tool_name: str, name: str, kind: Any) -> dict[str, Any]:
    if kind in _SCHEMA_TYPES:
        return {"type": _SCHEMA_TYPES[kind]}
    if get_origin(kind) is Literal:
        return {"enum": list(get_args(kind))}
    if get_origin(kind) is list:
        return {"type": "array", "items": _property(tool_name, name, get_args(kind)[0])}
    raise TypeError(
        f"the parameter {name!r} of the tool {tool_name!r} must be annotated with str, int, float, "
        f"bool, list[...] or Literal[...], got {kind!r}"
    )


class ToolTable:
    """The tools of one task, with their schemas for checking calls."""

    def __init__(self, schemas: tuple[ToolSchema, ...]) -> None:
        self.tools = schemas  # kept alive: shared tables are found by the ids of these objects
        self.schemas = {schema.name: schema.parameters for schema in schemas}
        self._texts = {name: _text_lengths(schema) for name, schema in self.schemas.items()}

    def problem(self, call: ParsedCall) -> str:
        """Return the fault of a call; empty if it fits its schema."""
        if call.problem:
            return call.problem
        schema = self.schemas.get(call.name)
        if schema is None:
            near = difflib.get_close_matches(call.name, self.schemas, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            known = ", ".join(self.schemas) or "none"
            return f"there is no tool {call.name[:80]!r}.{hint} The tools are: {known}."
        texts, arguments = self._texts[call.name], call.arguments
        if texts is not None and len(arguments) == len(texts):
            for key, value in arguments.items():
                if value.__class__ is not str or len(value) > texts.get(key, -1):
                    break
            else:
                return ""
        problem = argument_problem(call.name, call.arguments, schema)
        if not problem:
            _make_whole(call.arguments, schema)
        return problem


def _text_lengths(schema: Mapping[str, Any]) -> dict[str, int] | None:
    """Return the maximum lengths of a tool's arguments if all are required texts, else None."""
    properties = schema.get("properties", {})
    plain = all(
        isinstance(value, Mapping)
        and value.get("type") == "string"
        and not value.keys() - {"type", "maxLength", "description"}
        for value in properties.values()
    )
    if not plain or set(properties) != set(schema.get("required", ())):
        return None
    return {key: value.get("maxLength", sys.maxsize) for key, value in properties.items()}


def argument_problem(name: str, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Return the fault of the arguments of one call; empty if they fit.

    Supports the part of JSON Schema that tool descriptions use: `type` (one or several),
    `properties`, `required`, `enum`, `minimum`, `maximum`, `maxLength`, `items`, `maxItems`.
    Arguments that the schema does not name are rejected.
    """
    properties = schema.get("properties", {})
    for key in schema.get("required", ()):
        if key not in arguments:
            return f"{name} needs the argument {key!r}. {_usage(name, schema)}"
    for key, value in arguments.items():
        if key not in properties:
            return f"{name} has no argument {key[:80]!r}. {_usage(name, schema)}"
        problem = _value_problem(value, properties[key])
        if problem:
            return f"the argument {key!r} of {name} {problem}. {_usage(name, schema)}"
    return ""


def _usage(name: str, schema: Mapping[str, Any]) -> str:
    parts = []
    for key, value in schema.get("properties", {}).items():
        kind = value.get("type", "any")
        kind = kind if isinstance(kind, str) else "|".join(kind)
        parts.append(
            f"{key}: {kind}" + ("" if key in schema.get("required", ()) else " (optional)")
        )
    return f"Use {name}({', '.join(parts)})."


def _value_problem(value: Any, schema: Mapping[str, Any]) -> str:
    kinds = schema.get("type")
    if kinds is not None and not (kinds == "string" and value.__class__ is str):
        kinds = (kinds,) if isinstance(kinds, str) else tuple(kinds)
        if not any(_is_kind(value, kind) for kind in kinds):
            return f"must be of type {' or '.join(kinds)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"must be one of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if kinds is not None and isinstance(value, float) and not math.isfinite(value):
            return "must be a finite number"
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            return f"must lie in {schema.get('minimum', '-∞')}…{schema.get('maximum', '∞')}"
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        return f"must have at most {schema['maxLength']} characters"
    if isinstance(value, list):
        if len(value) > schema.get("maxItems", len(value)):
            return f"must have at most {schema['maxItems']} items"
        if "items" in schema:
            return next(filter(None, (_value_problem(v, schema["items"]) for v in value)), "")
    return ""


def _make_whole(arguments: dict[str, Any], schema: Mapping[str, Any]) -> None:
    """Turn whole numbers written with a point, such as 30.0, into integers."""
    for key, value in arguments.items():
        kinds = schema["properties"][key].get("type", ())
        kinds = (kinds,) if isinstance(kinds, str) else kinds
        if isinstance(value, float) and "integer" in kinds and "number" not in kinds:
            arguments[key] = int(value)


def _is_kind(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])
