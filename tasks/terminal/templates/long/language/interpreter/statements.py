"""The first half of the interpreter's evaluation of trees: modules and statements."""

__all__ = ["STATEMENTS"]

STATEMENTS = r'''"""Evaluation of trees: manual/03-statements.md and manual/04-expressions.md."""
import os

from . import values as v
from .builtins import TABLE
from .errors import Break, Continue, Fault, Return, SyntaxFault
#@ leave
from .errors import Exit
#@ end
#@ tail
from .errors import Tail
#@ end
from .parser import parse
from .values import Builtin, Function, Module


class Scope:
    def __init__(self, parent, file):
        self.names, self.parent, self.file = {}, parent, file
#@ tail == "same"
        self.function = parent.function if parent is not None else None
#@ end
#@ constants
        self.fixed = set()
#@ end

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
#@ traces
        self.calls = []
#@ end

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
        raise self.placed(Fault(kind, message), scope, line)

    def placed(self, fault, scope, line):
        fault.line, fault.file = line, scope.file
#@ traces
        fault.calls = tuple(self.calls)
#@ end
        return fault

    def guarded(self, scope, line, work, *given):
        """Run an operation whose errors belong to this line."""
        try:
            return work(*given)
        except Fault as fault:
            if fault.line is None:
                self.placed(fault, scope, line)
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
#@ constants
        scope.fixed.discard(name)

    def do_const(self, tree, scope):
        self.do_let(tree, scope)
        scope.fixed.add(tree[2])

    def refuse(self, scope, line, name):
        found = scope.find(name)
        if found is not None and name in found.fixed:
            self.fail(scope, line, "name", name + " is constant")
#@ end
#@ unpack

    def do_unpack(self, tree, scope):
        _, line, pattern, value = tree
        for name, part in self.spread(scope, line, pattern, self.eval(value, scope)):
            self.declare(scope, line, name, part)

    def spread(self, scope, line, pattern, value):
        names, rest = pattern
        if not isinstance(value, list):
            self.fail(scope, line, "type", "cannot unpack " + v.kind(value))
#@ unpack == "exact"
        if len(value) < len(names) or (len(value) > len(names) and rest is None):
            least = "" if rest is None else "at least "
            text = f"{least}{len(names)} values expected, got {len(value)}"
            self.fail(scope, line, "value", text)
#@ end
        given = value[:len(names)] + [None] * (len(names) - len(value))
        pairs = list(zip(names, given))
        if rest is not None:
            pairs.append((rest, value[len(names):]))
        return [pair for pair in pairs if pair[0] != "_"]
#@ end

    def do_let(self, tree, scope):
        self.declare(scope, tree[1], tree[2], self.eval(tree[3], scope))

    def do_print(self, tree, scope):
        shown = [self.guarded(scope, tree[1], v.text, self.eval(each, scope)) for each in tree[2]]
        print(" ".join(shown))

    def do_return(self, tree, scope):
        raise Return(self.eval(tree[2], scope))

#@ tail
    def do_tail(self, tree, scope):
        _, _, call = tree
#@ defer
        if self.pending[-1]:
            raise Return(self.eval(call, scope))
#@ end
        called = self.eval(call[2], scope)
        given = [self.eval(each, scope) for each in call[3]]
#@ tail == "same"
        if called is not scope.function:
#@ else
        if not isinstance(called, Function):
#@ end
            raise Return(self.call(scope, call[1], called, given))
        self.fitting(scope, call[1], called, given)
        raise Tail(called, given, scope.file, call[1])

#@ end
    def do_break(self, tree, scope):
        raise Break(tree[2])

    def do_continue(self, tree, scope):
        raise Continue(tree[2])

    def do_throw(self, tree, scope):
        value = self.eval(tree[2], scope)
        fault = Fault("user", self.guarded(scope, tree[1], v.text, value), value)
#@ rethrow
        if isinstance(value, dict) and isinstance(value.get("kind"), str):
            if isinstance(value.get("message"), str):
                fault = Fault(value["kind"], value["message"], value)
#@ end
        raise self.placed(fault, scope, tree[1])

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
#@ unpack
            if isinstance(name, tuple):
                holder.names.update(self.spread(scope, line, name, values[place]))
            else:
                holder.names[name] = values[place]
#@ else
            holder.names[name] = values[place]
#@ end
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
#@ constants == "early"
            self.refuse(scope, where, name)
#@ end
#@ compound == "before"
            old = self.eval(target, scope)
            new = self.guarded(scope, line, v.operate, sign, old, self.eval(right, scope))
#@ else
            value = self.eval(right, scope)
            new = self.guarded(scope, line, v.operate, sign, self.eval(target, scope), value)
#@ end
            self.keep(scope, where, name, new)
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

    def keep(self, scope, line, name, value):
#@ constants == "late"
        self.refuse(scope, line, name)
#@ end
        found = scope.find(name)
        if found is None or found is self.core:
#@ undeclared
            self.fail(scope, line, "name", name + " is not defined")
#@ else
            found = scope
            while found.parent is not self.core:
                found = found.parent
#@ end
        found.names[name] = value

    def do_assign(self, tree, scope):
        _, line, target, right = tree
        if target[0] == "name":
#@ constants == "early"
            self.refuse(scope, target[1], target[2])
#@ end
            self.keep(scope, target[1], target[2], self.eval(right, scope))
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
                if self.guarded(scope, line, v.same, value, self.eval(choice, scope)):
                    self.inner(body, scope)
                    return
        if other is not None:
            self.inner(other, scope)
#@ match == "total"
        else:
            shown = self.guarded(scope, line, v.text, value, True)
            self.fail(scope, line, "value", "no case for " + shown)
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

'''
