"""The interpreter's back: values, functions of the language, the command.

The texts are sources with directives, as in `front`.
"""

__all__ = ["BUILTINS", "ERRORS", "MAIN", "VALUES"]

ERRORS = r'''"""What stops a program."""


class SyntaxFault(Exception):
    def __init__(self, line):
        super().__init__(line)
        self.line, self.file = line, ""


class Fault(Exception):
    """A runtime error; `line` and `file` are filled in where it happened."""

    def __init__(self, kind, message, value=None):
        super().__init__(message)
        self.kind, self.message, self.value = kind, message, value
        self.line, self.file = None, ""


class Break(Exception):
    def __init__(self, label):
        super().__init__(label)
        self.label = label


class Continue(Break):
    pass


class Return(Exception):
    def __init__(self, value):
        super().__init__("return")
        self.value = value
#@ leave


class Exit(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code
#@ end
'''

VALUES = r'''"""Values: how they are written, compared and counted."""
from .errors import Fault


class Function:
    def __init__(self, tree, scope, defaults=()):
        _, _, self.name, self.names, self.optional, self.rest, self.body = tree
        self.scope, self.defaults = scope, defaults


class Builtin:
    def __init__(self, name, least, most, run):
        self.name, self.least, self.most, self.run = name, least, most, run


class Module:
    def __init__(self, name, scope):
        self.name, self.scope = name, scope


def kind(value):
    if value is None:
        return "nil"
    names = {bool: "bool", int: "int", str: "string", list: "list", dict: "map", Module: "module"}
    return names.get(type(value), "function")


def ordered(table):
#@ maporder == "sorted"
    return sorted(table, key=lambda key: (isinstance(key, str), key))
#@ else
    return list(table)
#@ end


def text(value, quoted=False):
    if isinstance(value, str):
        if not quoted:
            return value
        for old, new in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
            value = value.replace(old, new)
        return '"' + value + '"'
    if isinstance(value, list):
        return "[" + ", ".join([text(each, True) for each in value]) + "]"
    if isinstance(value, dict):
#@ maporder == "written"
        keys = sorted(value, key=lambda key: (isinstance(key, str), key))
#@ else
        keys = ordered(value)
#@ end
        return "{" + ", ".join([text(k, True) + ": " + text(value[k], True) for k in keys]) + "}"
    if isinstance(value, (Function, Builtin)):
        return "<fn " + value.name + ">"
    if isinstance(value, Module):
        return "<module " + value.name + ">"
    return {None: "nil", True: "true", False: "false"}[value] if not _int(value) else str(value)


def _int(value):
    return type(value) is int


def truth(value):
#@ truth == "strict"
    return value is not None and value is not False
#@ or truth == "zero"
    return not (value is None or value is False or (_int(value) and value == 0))
#@ or truth == "loose"
    return bool(value) if not isinstance(value, (Function, Builtin, Module)) else True
#@ end


def same(left, right):
    if kind(left) != kind(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all([same(a, b) for a, b in zip(left, right)])
    if isinstance(left, dict):
        return left.keys() == right.keys() and all([same(left[k], right[k]) for k in left])
    return left == right if isinstance(left, (int, str)) else left is right


def counted(number):
#@ overflow == "trap"
    if not -(2**63) <= number < 2**63:
        raise Fault("arithmetic", "overflow")
    return number
#@ or overflow == "wrap"
    return (number + 2**63) % 2**64 - 2**63
#@ or overflow == "none"
    return number
#@ end


def divided(left, right):
    if right == 0:
        raise Fault("arithmetic", "division by zero")
#@ division == "floor"
    return left // right
#@ else
    whole = abs(left) // abs(right)
    return whole if (left < 0) == (right < 0) else -whole
#@ end


def rest(left, right):
    if right == 0:
        raise Fault("arithmetic", "division by zero")
#@ division == "trunc"
    found = abs(left) % abs(right)
    return -found if left < 0 else found
#@ else
    return left % right
#@ end


def operate(sign, left, right):
    if _int(left) and _int(right):
        if sign == "/":
            return counted(divided(left, right))
        if sign == "%":
            return counted(rest(left, right))
        if sign == "*":
            return counted(left * right)
        return counted(left + right if sign == "+" else left - right)
    if sign == "+" and isinstance(left, list) and isinstance(right, list):
        return left + right
#@ plus == "any"
    if sign == "+" and (isinstance(left, str) or isinstance(right, str)):
#@ or plus == "left"
    if sign == "+" and isinstance(left, str):
#@ or plus == "strings"
    if sign == "+" and isinstance(left, str) and isinstance(right, str):
#@ end
        return text(left) + text(right)
    raise Fault("type", f"cannot {NAMES[sign]} {kind(left)} and {kind(right)}")


NAMES = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "divide"}


def compare(sign, left, right):
    if sign in ("==", "!="):
#@ equality == "typed"
        if kind(left) != kind(right) and left is not None and right is not None:
            raise Fault("type", f"cannot compare {kind(left)} and {kind(right)}")
#@ end
        return same(left, right) == (sign == "==")
    if not (_int(left) and _int(right)) and not (isinstance(left, str) and isinstance(right, str)):
        raise Fault("type", f"cannot compare {kind(left)} and {kind(right)}")
    if sign in ("<", ">="):
        return (left < right) == (sign == "<")
    return (left > right) == (sign == ">")


def key_of(value):
    if not _int(value) and not isinstance(value, str):
        raise Fault("type", "bad key " + kind(value))
    return value


def position(value, at):
    if not _int(at):
        raise Fault("type", f"bad index {kind(at)}")
#@ index == "none"
    if not 0 <= at < len(value):
        raise Fault("index", f"index {at} out of range")
    return at
#@ else
    if not -len(value) <= at < len(value):
        raise Fault("index", f"index {at} out of range")
    return at + len(value) if at < 0 else at
#@ end


def item(value, at):
    if isinstance(value, dict):
        if key_of(at) not in value:
            raise Fault("index", "no key " + text(at, True))
        return value[at]
    if isinstance(value, (list, str)):
        return value[position(value, at)]
    raise Fault("type", "cannot index " + kind(value))


def store(value, at, new):
    if isinstance(value, dict):
        value[key_of(at)] = new
    elif isinstance(value, list):
        value[position(value, at)] = new
    else:
        raise Fault("type", "cannot assign into " + kind(value))
#@ index == "slices"


def part(value, low, high):
    if not isinstance(value, (list, str)):
        raise Fault("type", "cannot index " + kind(value))
    ends = []
    for end, default in ((low, 0), (high, len(value))):
        if end is None:
            end = default
        if not _int(end):
            raise Fault("type", f"bad index {kind(end)}")
        ends.append(min(max(end + len(value) if end < 0 else end, 0), len(value)))
    return value[ends[0]:ends[1]]
#@ end
'''

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

MAIN = r'''"""The command: python3 -m vela FILE."""
import sys
import threading

from .errors import Fault, SyntaxFault
#@ leave
from .errors import Exit
#@ end
from .evaluation import Machine


def run(path):
    try:
        Machine(path).main()
    except SyntaxFault as fault:
        sys.stdout.flush()
        print(f"{fault.file}:{fault.line}: syntax error", file=sys.stderr)
#@ exitcodes == "old"
        return 2
#@ else
        return 65
#@ end
    except Fault as fault:
        sys.stdout.flush()
        report = f"{fault.file}:{fault.line}: {fault.kind} error: {fault.message}"
        print(report, file=sys.stderr)
#@ exitcodes == "old"
        return 1
#@ or exitcodes == "user"
        return 1 if fault.kind == "user" else 70
#@ or exitcodes == "new"
        return 70
#@ end
#@ leave
    except Exit as end:
        return end.code
#@ end
    return 0


def main():
    codes = []
    sys.setrecursionlimit(10**6)
    threading.stack_size(512 * 2**20)
    worker = threading.Thread(target=lambda: codes.append(run(sys.argv[1])))
    worker.start()
    worker.join()
    sys.stdout.flush()
    sys.exit(codes[0] if codes else 99)


if __name__ == "__main__":
    main()
'''
