"""The second half of the interpreter's evaluation of trees: expressions and calls."""

__all__ = ["EXPRESSIONS"]

EXPRESSIONS = r"""    # -- expressions

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
        made = ""
        for each in tree[2]:
            value = self.eval(each, scope)
            if value is not None:
                made += self.guarded(scope, tree[1], v.text, value)
        return made
#@ else
        values = (self.eval(each, scope) for each in tree[2])
        return "".join([self.guarded(scope, tree[1], v.text, each) for each in values])
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

#@ pipe
    def see_pipe(self, tree, scope):
        value, call = self.eval(tree[2], scope), tree[3]
        called = self.eval(call[2], scope)
        given = [self.eval(each, scope) for each in call[3]]
#@ pipe == "last"
        return self.call(scope, tree[1], called, [*given, value])
#@ else
        return self.call(scope, tree[1], called, [value, *given])
#@ end

#@ end
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
        self.fitting(scope, line, called, given)
        if self.depth == LIMIT:
            self.fail(scope, line, "depth", f"more than {LIMIT} calls")
        self.depth += 1
#@ traces
        self.calls.append((called.name, scope.file, line))
#@ end
        try:
#@ tail
            while True:
                try:
                    return self.enter(called, given)
                except Tail as jump:
                    called, given = jump.called, jump.given
#@ traces
                    self.calls[-1] = (called.name, jump.file, jump.line)
#@ end
#@ else
            return self.enter(called, given)
#@ end
        finally:
            self.depth -= 1
#@ traces
            self.calls.pop()
#@ end

    def fitting(self, scope, line, called, given):
        most = len(called.names)
        least = most - len(called.optional)
        self.count(scope, line, called.name, len(given), least, None if called.rest else most)

    def count(self, scope, line, name, given, least, most):
        if given >= least and (most is None or given <= most):
            return
        wanted = str(least) if least == most else f"{least} to {most}"
        if most is None:
            wanted = f"at least {least}"
        self.fail(scope, line, "type", f"{name} takes {wanted} arguments, got {given}")

    def enter(self, called, given):
        scope = Scope(called.scope, called.scope.file)
#@ tail == "same"
        scope.function = called
#@ end
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
#@ tail
        except Tail:
            self.pending.pop()
            raise
#@ end
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
"""
