"""The interpreter's back: values, functions of the language, evaluation, modules, the command.

The texts are sources with directives, as in `front`.
"""

__all__ = ["BUILTINS", "ERRORS", "EVALUATION", "MAIN", "VALUES"]

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
EVALUATION = r'''"""Evaluation of trees: manual/03-statements.md and manual/04-expressions.md."""
import os

from . import values as v
from .builtins import TABLE
from .errors import Break, Continue, Fault, Return, SyntaxFault
from .parser import parse
from .values import Builtin, Function, Module


class Scope:
    def __init__(self, parent, file):
        self.names, self.parent, self.file = {}, parent, file

    def find(self, name):
        scope = self
        while scope is not None:
            if name in scope.names:
                return scope
            scope = scope.parent
        return None


class Machine:
    def __init__(self, path):
        self.path, self.depth = path, 0
        self.core = Scope(None, "")
        self.core.names.update(TABLE)
        self.modules, self.running, self.pending = {}, [], []

    def main(self):
        self.load(self.path)

    def load(self, path):
        with open(path, encoding="utf-8") as source:
            text = source.read()
        try:
            tree = parse(text)
        except SyntaxFault as fault:
            fault.file = path
            raise
        scope = Scope(self.core, path)
        self.running.append(path)
        try:
            self.body(tree, scope)
        finally:
            self.running.pop()
        return scope

    def fail(self, scope, line, kind, message):
        fault = Fault(kind, message)
        fault.line, fault.file = line, scope.file
        raise fault

    def guarded(self, scope, line, work, *given):
        """Run an operation whose errors belong to this line."""
        try:
            return work(*given)
        except Fault as fault:
            if fault.line is None:
                fault.line, fault.file = line, scope.file
            raise

    # -- statements

    def body(self, trees, scope):
        for tree in trees:
            getattr(self, "do_" + tree[0])(tree, scope)

    def inner(self, trees, scope):
        self.body(trees, Scope(scope, scope.file))

    def do_block(self, tree, scope):
        self.inner(tree[2], scope)

    def do_value(self, tree, scope):
        self.eval(tree[2], scope)

    def declare(self, scope, line, name, value):
#@ redeclare
        if name in scope.names:
            self.fail(scope, line, "name", name + " is already declared")
#@ end
        scope.names[name] = value

    def do_let(self, tree, scope):
        self.declare(scope, tree[1], tree[2], self.eval(tree[3], scope))

    def do_print(self, tree, scope):
        print(" ".join([v.text(self.eval(each, scope)) for each in tree[2]]))

    def do_return(self, tree, scope):
        raise Return(self.eval(tree[2], scope))

    def do_break(self, tree, scope):
        raise Break(tree[2])

    def do_continue(self, tree, scope):
        raise Continue(tree[2])

    def do_throw(self, tree, scope):
        value = self.eval(tree[2], scope)
        fault = Fault("user", v.text(value), value)
#@ rethrow
        if isinstance(value, dict) and isinstance(value.get("kind"), str):
            if isinstance(value.get("message"), str):
                fault = Fault(value["kind"], value["message"], value)
#@ end
        fault.line, fault.file = tree[1], scope.file
        raise fault

    def do_if(self, tree, scope):
        self.inner(tree[3] if v.truth(self.eval(tree[2], scope)) else tree[4], scope)

    def turn(self, trees, scope, label):
        """Run a loop's body once; False when the loop ends."""
        try:
            self.body(trees, scope)
        except Continue as jump:
            if jump.label not in ("", label):
                raise
        except Break as jump:
            if jump.label not in ("", label):
                raise
            return False
        return True

    def do_while(self, tree, scope):
        while v.truth(self.eval(tree[3], scope)):
            if not self.turn(tree[4], Scope(scope, scope.file), tree[2]):
                break

    def do_for(self, tree, scope):
        _, line, label, name, source, body = tree
        values, place = self.eval(source, scope), 0
        if isinstance(values, dict):
            values = v.ordered(values)
        if not isinstance(values, (list, str)):
            self.fail(scope, line, "type", "cannot iterate " + v.kind(values))
#@ snapshot
        values = values[:]
#@ end
#@ loopvar == "shared"
        holder = Scope(scope, scope.file)
#@ end
        while place < len(values):
#@ loopvar == "fresh"
            holder = Scope(scope, scope.file)
#@ end
            holder.names[name] = values[place]
            place += 1
            if not self.turn(body, Scope(holder, scope.file), label):
                break

    def do_try(self, tree, scope):
        _, _, body, name, handler, last = tree
#@ ensure
        try:
            self.attempt(body, name, handler, scope)
#@ leave == "now"
        except (Fault, Break, Return):
#@ or leave == "unwind"
        except (Fault, Break, Return, Exit):
#@ or not leave
        except (Fault, Break, Return):
#@ end
            if last is not None:
                self.inner(last, scope)
            raise
        if last is not None:
            self.inner(last, scope)

    def attempt(self, body, name, handler, scope):
#@ end
        try:
            self.inner(body, scope)
        except Fault as fault:
            if handler is None:
                raise
            holder = Scope(scope, scope.file)
#@ errors == "text"
            holder.names[name] = fault.message
#@ else
            caught = {"kind": fault.kind, "message": fault.message, "line": fault.line}
#@ errors == "value"
            if fault.kind == "user":
                caught["value"] = fault.value
#@ end
            holder.names[name] = caught
#@ end
            self.body(handler, holder)

    def do_import(self, tree, scope):
        _, line, path, name = tree
        declared = name
#@ modules != "old"
        path = os.path.join(os.path.dirname(scope.file), path + ".vela")
#@ else
        path = os.path.join(os.path.dirname(self.path), path + ".vela")
#@ end
        path = os.path.normpath(path)
        if path in self.running:
            self.fail(scope, line, "import", path + " is still being imported")
        if not os.path.isfile(path):
            self.fail(scope, line, "import", "no module " + path)
#@ modules != "old"
        if path not in self.modules:
            self.modules[path] = Module(path, self.load(path))
        self.declare(scope, line, declared, self.modules[path])
#@ else
        self.declare(scope, line, declared, Module(path, self.load(path)))
#@ end
#@ compound

    def do_compound(self, tree, scope):
        _, line, sign, target, right = tree
        if target[0] == "name":
            _, where, name = target
#@ compound == "before"
            old = self.eval(target, scope)
            new = self.guarded(scope, line, v.operate, sign, old, self.eval(right, scope))
#@ else
            value = self.eval(right, scope)
            new = self.guarded(scope, line, v.operate, sign, self.eval(target, scope), value)
#@ end
            scope.find(name).names[name] = new
            return
        _, where, holder, at = target
        holder, at = self.eval(holder, scope), self.eval(at, scope)
#@ compound == "before"
        old = self.guarded(scope, where, v.item, holder, at)
        value = self.eval(right, scope)
#@ else
        value = self.eval(right, scope)
        old = self.guarded(scope, where, v.item, holder, at)
#@ end
        new = self.guarded(scope, line, v.operate, sign, old, value)
        self.guarded(scope, where, v.store, holder, at, new)
#@ end

    def do_assign(self, tree, scope):
        _, line, target, right = tree
        if target[0] == "name":
            value = self.eval(right, scope)
            found = scope.find(target[2])
            if found is None or found is self.core:
#@ undeclared
                self.fail(scope, target[1], "name", target[2] + " is not defined")
#@ else
                found = scope
                while found.parent is not self.core:
                    found = found.parent
#@ end
            found.names[target[2]] = value
            return
        _, where, holder, at = target
#@ assignorder
        holder, at = self.eval(holder, scope), self.eval(at, scope)
        value = self.eval(right, scope)
#@ else
        value = self.eval(right, scope)
        holder, at = self.eval(holder, scope), self.eval(at, scope)
#@ end
        self.guarded(scope, where, v.store, holder, at, value)
#@ match

    def do_match(self, tree, scope):
        _, line, value, cases, other = tree
        value = self.eval(value, scope)
        for choices, body in cases:
            for choice in choices:
                if v.same(value, self.eval(choice, scope)):
                    self.inner(body, scope)
                    return
        if other is not None:
            self.inner(other, scope)
#@ match == "total"
        else:
            self.fail(scope, line, "value", "no case for " + v.text(value, True))
#@ end
#@ end
#@ defer

    def do_defer(self, tree, scope):
        call = tree[2]
#@ defer == "late"
        self.pending[-1].append(lambda: self.eval(call, scope))
#@ else
        called = self.eval(call[2], scope)
        given = [self.eval(each, scope) for each in call[3]]
        self.pending[-1].append(lambda: self.call(scope, call[1], called, given))
#@ end

    def unwind(self, calls, fault):
        """Run deferred calls, last first; return the error that leaves the function."""
        while calls:
            try:
                calls.pop()()
            except Fault as another:
#@ deferror == "first"
                fault = fault or another
#@ else
                fault = another
#@ end
        return fault
#@ end

    # -- expressions

    def eval(self, tree, scope):
        return getattr(self, "see_" + tree[0])(tree, scope)

    def see_constant(self, tree, scope):
        return tree[2]

    def see_group(self, tree, scope):
        return self.eval(tree[2], scope)

    def see_name(self, tree, scope):
        found = scope.find(tree[2])
        if found is None:
            self.fail(scope, tree[1], "name", tree[2] + " is not defined")
        return found.names[tree[2]]

    def see_list(self, tree, scope):
        return [self.eval(each, scope) for each in tree[2]]

    def see_map(self, tree, scope):
        table = {}
        for key, value in tree[2]:
            key = self.guarded(scope, tree[1], v.key_of, self.eval(key, scope))
            table[key] = self.eval(value, scope)
        return table

    def see_fn(self, tree, scope):
#@ defaults == "early"
        return Function(tree, scope, [self.eval(each, scope) for each in tree[4]])
#@ else
        return Function(tree, scope)
#@ end
#@ interp

    def see_pieces(self, tree, scope):
#@ interp == "quiet"
        made = [self.eval(each, scope) for each in tree[2]]
        return "".join(["" if each is None else v.text(each) for each in made])
#@ else
        return "".join([v.text(self.eval(each, scope)) for each in tree[2]])
#@ end
#@ end

    def see_or(self, tree, scope):
        left = self.eval(tree[2], scope)
#@ boolops
        return True if v.truth(left) else v.truth(self.eval(tree[3], scope))
#@ else
        return left if v.truth(left) else self.eval(tree[3], scope)
#@ end

    def see_and(self, tree, scope):
        left = self.eval(tree[2], scope)
#@ boolops
        return v.truth(self.eval(tree[3], scope)) if v.truth(left) else False
#@ else
        return self.eval(tree[3], scope) if v.truth(left) else left
#@ end

    def see_not(self, tree, scope):
        return not v.truth(self.eval(tree[2], scope))
#@ chain

    def see_chain(self, tree, scope):
        left = self.eval(tree[2], scope)
        for sign, line, right in tree[3]:
            right = self.eval(right, scope)
            if not self.guarded(scope, line, v.compare, sign, left, right):
                return False
            left = right
        return True
#@ else

    def see_compare(self, tree, scope):
        _, line, sign, left, right = tree
        left, right = self.eval(left, scope), self.eval(right, scope)
        return self.guarded(scope, line, v.compare, sign, left, right)
#@ end

    def see_binary(self, tree, scope):
        _, line, sign, left, right = tree
        left, right = self.eval(left, scope), self.eval(right, scope)
        return self.guarded(scope, line, v.operate, sign, left, right)

    def see_minus(self, tree, scope):
        value = self.eval(tree[2], scope)
        if v.kind(value) != "int":
            self.fail(scope, tree[1], "type", "cannot negate " + v.kind(value))
        return self.guarded(scope, tree[1], v.counted, -value)

    def see_index(self, tree, scope):
        value, at = self.eval(tree[2], scope), self.eval(tree[3], scope)
        return self.guarded(scope, tree[1], v.item, value, at)
#@ index == "slices"

    def see_slice(self, tree, scope):
        value = self.eval(tree[2], scope)
        low, high = [None if each is None else self.eval(each, scope) for each in tree[3:]]
        return self.guarded(scope, tree[1], v.part, value, low, high)
#@ end

    def see_member(self, tree, scope):
        module = self.eval(tree[2], scope)
        if not isinstance(module, Module):
            self.fail(scope, tree[1], "type", "no members in " + v.kind(module))
#@ modules == "private"
        if tree[3].startswith("_"):
            self.fail(scope, tree[1], "name", tree[3] + " is not defined")
#@ end
        if tree[3] not in module.scope.names:
            self.fail(scope, tree[1], "name", tree[3] + " is not defined")
        return module.scope.names[tree[3]]

    def see_call(self, tree, scope):
        called = self.eval(tree[2], scope)
        given = [self.eval(each, scope) for each in tree[3]]
        return self.call(scope, tree[1], called, given)

    def call(self, scope, line, called, given):
        if isinstance(called, Builtin):
            self.count(scope, line, called.name, len(given), called.least, called.most)
            return self.guarded(scope, line, called.run, *given)
        if not isinstance(called, Function):
            self.fail(scope, line, "type", "cannot call " + v.kind(called))
        most = len(called.names)
        least = most - len(called.optional)
        self.count(scope, line, called.name, len(given), least, None if called.rest else most)
        if self.depth == LIMIT:
            self.fail(scope, line, "depth", f"more than {LIMIT} calls")
        self.depth += 1
        try:
            return self.enter(called, given)
        finally:
            self.depth -= 1

    def count(self, scope, line, name, given, least, most):
        if given >= least and (most is None or given <= most):
            return
        wanted = str(least) if least == most else f"{least} to {most}"
        if most is None:
            wanted = f"at least {least}"
        self.fail(scope, line, "type", f"{name} takes {wanted} arguments, got {given}")

    def enter(self, called, given):
        scope = Scope(called.scope, called.scope.file)
        for place, name in enumerate(called.names):
            if place < len(given):
                scope.names[name] = given[place]
#@ defaults
            else:
                at = place - len(called.names) + len(called.optional)
#@ defaults == "early"
                scope.names[name] = called.defaults[at]
#@ else
                scope.names[name] = self.eval(called.optional[at], scope)
#@ end
#@ end
        if called.rest:
            scope.names[called.rest] = given[len(called.names):]
#@ defer
        self.pending.append([])
        result, fault = None, None
        try:
            self.body(called.body, scope)
        except Return as end:
            result = end.value
        except Fault as stopped:
            fault = stopped
#@ leave == "unwind"
        except Exit:
            self.unwind(self.pending[-1], None)
            self.pending.pop()
            raise
#@ or leave == "now"
        except Exit:
            self.pending.pop()
            raise
#@ end
        fault = self.unwind(self.pending[-1], fault)
        self.pending.pop()
        if fault is not None:
            raise fault
        return result
#@ else
        try:
            self.body(called.body, scope)
        except Return as end:
            return end.value
        return None
#@ end


LIMIT = @LIMIT@
'''
