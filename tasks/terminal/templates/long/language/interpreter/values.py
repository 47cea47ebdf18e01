"""The interpreter's values."""

__all__ = ["VALUES"]

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


def text(value, quoted=False, above=()):
    if isinstance(value, str):
        if not quoted:
            return value
        for old, new in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
            value = value.replace(old, new)
        return '"' + value + '"'
    if any([value is each for each in above]):
#@ cycles == "marked"
        return "[...]" if isinstance(value, list) else "{...}"
#@ or cycles == "levels"
        return "^" + str(len(above) - [id(each) for each in above].index(id(value)))
#@ else
        raise Fault("value", "endless value")
#@ end
    if isinstance(value, list):
        above = (*above, value)
        return "[" + ", ".join([text(each, True, above) for each in value]) + "]"
    if isinstance(value, dict):
#@ maporder == "written"
        keys = sorted(value, key=lambda key: (isinstance(key, str), key))
#@ else
        keys = ordered(value)
#@ end
        above = (*above, value)
        pairs = [text(key, True) + ": " + text(value[key], True, above) for key in keys]
        return "{" + ", ".join(pairs) + "}"
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


def same(left, right, under=()):
    if kind(left) != kind(right):
        return False
    if any([left is one and right is other for one, other in under]):
#@ cycles
        return True
#@ else
        raise Fault("value", "endless value")
#@ end
    if isinstance(left, list):
        under = (*under, (left, right))
        return len(left) == len(right) and all(same(a, b, under) for a, b in zip(left, right))
    if isinstance(left, dict):
        under = (*under, (left, right))
        return left.keys() == right.keys() and all(
            same(left[key], right[key], under) for key in ordered(left)
        )
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


#@ within
def contains(held, value):
    if isinstance(held, list):
        return any(same(value, each) for each in held)
    if isinstance(held, str) and isinstance(value, str):
        return value in held
    if isinstance(held, dict):
#@ within == "values"
        return any(same(value, held[key]) for key in ordered(held))
#@ else
        return key_of(value) in held
#@ end
    raise Fault("type", f"cannot search {kind(held)} for {kind(value)}")


#@ end
def compare(sign, left, right):
#@ within
    if sign in ("in", "not in"):
        return contains(right, left) == (sign == "in")
#@ end
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
