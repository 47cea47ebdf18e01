"""The language's built-in functions, in the interpreter."""

__all__ = ["BUILTINS"]

BUILTINS = r'''"""The functions of the language: manual/06-functions.md."""
import re

from .errors import Fault
#@ leave
from .errors import Exit
#@ end
from .values import Builtin, counted, key_of, kind, ordered, text

TABLE = {}


def builtin(least, most):
    def add(run):
        TABLE[run.__name__.strip("_")] = Builtin(run.__name__.strip("_"), least, most, run)
        return run
    return add


def need(name, good):
    if not good:
        raise Fault("type", "bad argument for " + name)


@builtin(1, 1)
def len_(value):
    need("len", isinstance(value, (str, list, dict)))
    return len(value)


@builtin(1, 1)
def str_(value):
    return text(value)


@builtin(1, 1)
def int_(value):
    need("int", isinstance(value, str))
    if not re.fullmatch(r"[+-]?[0-9]+", value):
        raise Fault("value", "not a number: " + text(value, True))
    number = int(value)
#@ overflow != "none"
    if not -(2**63) <= number < 2**63:
        raise Fault("value", "not a number: " + text(value, True))
#@ end
    return number


@builtin(1, 1)
def type_(value):
    return kind(value)


@builtin(2, 2)
def push(target, value):
    need("push", isinstance(target, list))
    target.append(value)


@builtin(1, 1)
def pop(target):
    need("pop", isinstance(target, list))
    if not target:
        raise Fault("index", "pop from an empty list")
    return target.pop()


@builtin(1, 1)
def keys(table):
    need("keys", isinstance(table, dict))
    return ordered(table)


@builtin(2, 2)
def has(table, key):
    need("has", isinstance(table, dict))
    return key_of(key) in table


@builtin(2, 2)
def del_(table, key):
    need("del", isinstance(table, dict))
    if key_of(key) not in table:
        raise Fault("index", "no key " + text(key, True))
    return table.pop(key)


@builtin(2, 2)
def range_(low, high):
    need("range", kind(low) == kind(high) == "int")
    return list(range(low, high))


@builtin(1, 1)
def sum_(values):
    need("sum", isinstance(values, list) and all([kind(each) == "int" for each in values]))
    total = 0
    for each in values:
        total = counted(total + each)
    return total


@builtin(1, 1)
def sort(values):
    need("sort", isinstance(values, list))
    kinds = {kind(each) for each in values}
    need("sort", kinds <= {"int"} or kinds <= {"string"})
#@ sort == "place"
    values.sort()
    return values
#@ else
    return sorted(values)
#@ end


@builtin(2, 2)
def join(values, mark):
    need("join", isinstance(values, list) and isinstance(mark, str))
    return mark.join([text(each) for each in values])
#@ leave


@builtin(0, 1)
def exit_(code=0):
    need("exit", kind(code) == "int")
    if not 0 <= code <= 255:
        raise Fault("value", "bad exit code " + str(code))
    raise Exit(code)
#@ end
'''
