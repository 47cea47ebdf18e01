"""Tool schemas as other tools want them: a Python method, or a pydantic model of the arguments."""

import functools
import inspect
import operator
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

__all__ = ["arguments_model", "tool_method"]

_KINDS = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list}


def tool_method(
    schema: Mapping[str, Any], call: Callable[[Any, str, dict[str, Any]], Any]
) -> Callable[..., Any]:
    """Return a method whose signature and docstring say what the schema says.

    Args:
        schema: `name`, `description` and `parameters` of a tool.
        call: Called with the instance, the tool's name and the arguments that were given.
    """

    def method(self: Any, **arguments: Any) -> Any:
        given = {name: value for name, value in arguments.items() if value is not None}
        return call(self, schema["name"], given)

    properties = schema["parameters"].get("properties", {})
    required = schema["parameters"].get("required", ())
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    lines = []
    for name, value in sorted(properties.items(), key=lambda each: each[0] not in required):
        kind = _kind(value.get("type"))
        default = inspect.Parameter.empty if name in required else None
        kind = kind if name in required else kind | None
        parameters.append(inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind))  # fmt: skip
        lines.append(f"    {name}: {value.get('description', name)}")
    method.__name__ = schema["name"]
    method.__doc__ = schema["description"] + ("\n\nArgs:\n" + "\n".join(lines) if lines else "")
    method.__annotations__ = {each.name: each.annotation for each in parameters[1:]}
    method.__signature__ = inspect.Signature(parameters, return_annotation=str)  # type: ignore[attr-defined]
    return method


def _kind(given: Any) -> Any:
    """Return the Python type of a schema's `type`: a name, or a list of them."""
    names = given if isinstance(given, list) else [given]
    kinds: list[Any] = [_KINDS.get(name, str) for name in names if name != "null"]
    return functools.reduce(operator.or_, kinds)


def arguments_model(schema: Mapping[str, Any]) -> type[BaseModel]:
    """Return a model that shows the schema of a tool and leaves checks to the environment."""

    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return dict(schema["parameters"])

    return Arguments
