"""The interpreter's parser, from tokens to trees."""

__all__ = ["PARSER"]

PARSER = r'''"""Trees: tuples (kind, line, ...). The grammar is in manual/02-grammar.md."""
from .errors import SyntaxFault
from .lexer import tokens

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class Parser:
    def __init__(self, found, loops=(), inside=False, shut=False):
        self.found, self.place = found, 0
        self.loops, self.inside, self.shut = list(loops), inside, shut
        self.tries = 0

    @property
    def line(self):
        return self.found[self.place][2]

    def fail(self):
        raise SyntaxFault(self.line)

    def at(self, *words):
        kind, text, _ = self.found[self.place]
        return kind in ("op", "word") and text in words

    def accept(self, *words):
        if self.at(*words):
            self.place += 1
            return self.found[self.place - 1][1]
        return None

    def need(self, *words):
        return self.accept(*words) or self.fail()

    def name(self):
        kind, text, _ = self.found[self.place]
        if kind != "name":
            self.fail()
        self.place += 1
        return text

    # -- statements

    def program(self):
        body = []
        while self.found[self.place][0] != "end":
            body.append(self.statement())
        return body

    def block(self):
        self.need("{")
        body = []
        while not self.at("}"):
            body.append(self.statement())
        self.need("}")
        return body

    def statement(self):
        line, kind = self.line, self.found[self.place]
#@ labels
        if kind[0] == "name" and self.found[self.place + 1][:2] == ("op", ":"):
            label = self.name()
            self.need(":")
            if not self.at("while", "for"):
                self.fail()
            return self.loop(label)
#@ end
        if self.at("while", "for"):
            return self.loop("")
        if self.at("{"):
            return ("block", line, self.block())
        if self.at("fn") and self.found[self.place + 1][0] == "name":
            self.need("fn")
            name = self.name()
            return ("let", line, name, self.function(line, name))
        word = self.found[self.place][1] if kind[0] == "word" else ""
        method = getattr(self, "read_" + word, None) if word else None
        if method:
            if self.shut and word in ("return", "break", "continue"):
                self.fail()
            return method(line)
        left = self.expression()
#@ compound
        if self.at("+=", "-=", "*=", "/=", "%=") and left[0] in ("name", "index"):
            where, sign = self.line, self.need("+=", "-=", "*=", "/=", "%=")[0]
            right = self.expression()
            self.need(";")
            return ("compound", where, sign, left, right)
#@ end
        if self.at("=") and left[0] in ("name", "index"):
            where = self.line
            self.need("=")
            right = self.expression()
            self.need(";")
            return ("assign", where, left, right)
        self.need(";")
        return ("value", line, left)

    def read_let(self, line):
        self.need("let")
#@ unpack
        if self.at("["):
            pattern = self.pattern()
            self.need("=")
            value = self.expression()
            self.need(";")
            return ("unpack", line, pattern, value)
#@ end
        name = self.name()
        self.need("=")
        value = self.expression()
        self.need(";")
        return ("let", line, name, value)

#@ constants
    def read_const(self, line):
        self.need("const")
        name = self.name()
        self.need("=")
        value = self.expression()
        self.need(";")
        return ("const", line, name, value)

#@ end
#@ unpack
    def pattern(self):
        self.need("[")
        names, rest = [], None
        while True:
            name = self.name()
            if self.accept("..."):
                rest = name
                break
            names.append(name)
            if not self.accept(","):
                break
        self.need("]")
        return names, rest

#@ end
    def read_print(self, line):
        self.need("print")
        values = [self.expression()]
        while self.accept(","):
            values.append(self.expression())
        self.need(";")
        return ("print", line, values)

    def read_return(self, line):
        if not self.inside:
            self.fail()
        self.need("return")
        value = ("constant", line, None) if self.at(";") else self.expression()
        self.need(";")
#@ tail
        if value[0] == "call" and not self.tries:
            return ("tail", line, value)
#@ end
        return ("return", line, value)

    def read_break(self, line):
        if not self.loops:
            self.fail()
        kind, label = self.need("break", "continue"), ""
#@ labels
        if not self.at(";"):
            if self.found[self.place][1] not in self.loops or not self.found[self.place][1]:
                self.fail()
            label = self.name()
#@ end
        self.need(";")
        return (kind, line, label)

    read_continue = read_break

    def read_throw(self, line):
        self.need("throw")
        value = self.expression()
        self.need(";")
        return ("throw", line, value)

    def read_if(self, line):
        self.need("if")
        test, then, other = self.expression(), self.block(), []
        if self.accept("else"):
            other = [self.read_if(self.line)] if self.at("if") else self.block()
        return ("if", line, test, then, other)

    def loop(self, label):
        line = self.line
        if self.need("while", "for") == "while":
            head = ("while", line, label, self.expression())
        else:
#@ unpack
            name = self.pattern() if self.at("[") else self.name()
#@ else
            name = self.name()
#@ end
            self.need("in")
            head = ("for", line, label, name, self.expression())
        self.loops.append(label)
        body = self.block()
        self.loops.pop()
        return (*head, body)

    def read_try(self, line):
        self.need("try")
        self.tries += 1
        body, name, handler, last = self.block(), None, None, None
#@ ensure
        if not self.at("catch", "finally"):
            self.fail()
        if self.accept("catch"):
            name, handler = self.name(), self.block()
        if self.accept("finally"):
#@ ensure == "shut"
            before, self.shut = self.shut, True
            last = self.block()
            self.shut = before
#@ else
            last = self.block()
#@ end
#@ else
        self.need("catch")
        name, handler = self.name(), self.block()
#@ end
        self.tries -= 1
        return ("try", line, body, name, handler, last)

    def read_import(self, line):
        self.need("import")
        kind, path, _ = self.found[self.place]
        if kind != "string":
            self.fail()
        self.place += 1
        self.need("as")
        name = self.name()
        self.need(";")
        return ("import", line, path, name)

#@ defer
    def read_defer(self, line):
        if not self.inside:
            self.fail()
        self.need("defer")
        call = self.expression()
        if call[0] != "call":
            self.fail()
        self.need(";")
        return ("defer", line, call)

#@ end
#@ match
    def read_match(self, line):
        self.need("match")
        value, cases, other = self.expression(), [], None
        self.need("{")
        while self.accept("case"):
            choices = [self.expression()]
            while self.accept(","):
                choices.append(self.expression())
            cases.append((choices, self.block()))
        if self.accept("else"):
            other = self.block()
        self.need("}")
        return ("match", line, value, cases, other)

#@ end
    # -- expressions

    def function(self, line, name):
        self.need("(")
        names, defaults, rest = [], [], None
        while not self.at(")"):
            param = self.name()
#@ varargs
            if self.accept("..."):
                rest = param
                break
#@ end
#@ defaults
            if defaults and not self.at("="):
                self.fail()
            if self.accept("="):
                defaults.append(self.expression())
#@ end
            names.append(param)
            if not self.accept(","):
                break
        self.need(")")
        outer = self.loops, self.inside, self.shut, self.tries
        self.loops, self.inside, self.shut, self.tries = [], True, False, 0
        body = self.block()
        self.loops, self.inside, self.shut, self.tries = outer
        return ("fn", line, name, names, defaults, rest, body)

#@ pipe
    def expression(self):
        left = self.disjunction()
        while self.accept("|>"):
            call = self.postfix()
            if call[0] != "call":
                self.fail()
            left = ("pipe", call[1], left, call)
        return left

    def disjunction(self):
#@ else
    def expression(self):
#@ end
        left = self.conjunction()
        while self.at("or"):
            line = self.line
            self.need("or")
            left = ("or", line, left, self.conjunction())
        return left

    def conjunction(self):
        left = self.negation()
        while self.at("and"):
            line = self.line
            self.need("and")
            left = ("and", line, left, self.negation())
        return left

    def negation(self):
        if self.at("not"):
            line = self.line
            self.need("not")
            return ("not", line, self.negation())
        return self.comparison()

    def comparison(self):
        first = self.sum()
#@ chain
        links = []
        while self.comparing():
            sign, line = self.sign()
            links.append((sign, line, self.sum()))
        return ("chain", first[1], first, links) if links else first
#@ else
        if self.comparing():
            sign, line = self.sign()
            return ("compare", line, sign, first, self.sum())
        return first
#@ end

    def comparing(self):
#@ within
        if self.at("not"):
            return self.found[self.place + 1][:2] == ("word", "in")
        return self.at("in", *COMPARISONS)
#@ else
        return self.at(*COMPARISONS)
#@ end

    def sign(self):
#@ within
        if self.accept("not"):
            line = self.line
            return "not " + self.need("in"), line
        line = self.line
        return self.need("in", *COMPARISONS), line
#@ else
        line = self.line
        return self.need(*COMPARISONS), line
#@ end

    def sum(self):
        left = self.product()
        while self.at("+", "-"):
            line, sign = self.line, self.need("+", "-")
            left = ("binary", line, sign, left, self.product())
        return left

    def product(self):
        left = self.unary()
        while self.at("*", "/", "%"):
            line, sign = self.line, self.need("*", "/", "%")
            left = ("binary", line, sign, left, self.unary())
        return left

    def unary(self):
        if self.at("-"):
            line = self.line
            self.need("-")
            return ("minus", line, self.unary())
        return self.postfix()

    def postfix(self):
        tree = self.primary()
        while self.at("(", "[", "."):
            line, mark = self.line, self.need("(", "[", ".")
            if mark == "(":
                tree = ("call", line, tree, self.several(")"))
            elif mark == ".":
                tree = ("member", line, tree, self.name())
            else:
                tree = self.index(line, tree)
        return tree

    def index(self, line, tree):
#@ index == "slices"
        low = None if self.at(":") else self.expression()
        if self.accept(":"):
            high = None if self.at("]") else self.expression()
            self.need("]")
            return ("slice", line, tree, low, high)
#@ else
        low = self.expression()
#@ end
        self.need("]")
        return ("index", line, tree, low)

    def several(self, end):
        values = []
        while not self.at(end):
            values.append(self.expression())
            if not self.accept(","):
                break
        self.need(end)
        return values

    def primary(self):
        kind, text, line = self.found[self.place]
        if kind == "name":
            self.place += 1
            return ("name", line, text)
        if kind in ("int", "string"):
            self.place += 1
            return ("constant", line, int(text) if kind == "int" else text)
#@ interp
        if kind == "pieces":
            self.place += 1
            return ("pieces", line, [self.piece(each) for each in text])
#@ end
        if self.accept("nil"):
            return ("constant", line, None)
        if self.at("true", "false"):
            return ("constant", line, self.need("true", "false") == "true")
        if self.accept("("):
            tree = self.expression()
            self.need(")")
            # A parenthesis is no place to assign to, and no call to defer.
            return ("group", line, tree)
        if self.accept("["):
            return ("list", line, self.several("]"))
        if self.accept("fn"):
            return self.function(line, "fn")
        if self.accept("{"):
            return ("map", line, self.pairs())
        return self.fail()

    def pairs(self):
        pairs = []
        while not self.at("}"):
            key = self.expression()
            self.need(":")
            pairs.append((key, self.expression()))
            if not self.accept(","):
                break
        self.need("}")
        return pairs
#@ interp

    def piece(self, each):
        if isinstance(each, str):
            return ("constant", 0, each)
        inner = Parser(each, (), False)
        tree = inner.expression()
        if inner.found[inner.place][0] != "end":
            inner.fail()
        return tree
#@ end


def parse(text):
    return Parser(tokens(text)).program()
'''
