"""The interpreter's lexer."""

__all__ = ["LEXER"]

LEXER = r'''"""Tokens: (kind, text, line). Kinds: int, name, word, string, op, end, bad."""
import re

WORDS = {
    "let", "fn", "return", "if", "else", "while", "for", "in", "break", "continue", "print",
    "try", "catch", "throw", "import", "as", "and", "or", "not", "nil", "true", "false",
#@ defer
    "defer",
#@ end
#@ ensure
    "finally",
#@ end
#@ match
    "match", "case",
#@ end
#@ constants
    "const",
#@ end
}
TOKEN = re.compile(
    r"(?P<blank>[ \t\r]+|#[^\n]*)|(?P<line>\n)|(?P<int>[0-9]+)|(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
#@ lines == "joined"
    r'|(?P<string>"(?:[^"\\]|\\.|\\\n)*")'
#@ or lines
    r'|(?P<string>"(?:[^"\\]|\\.)*")'
#@ else
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")'
#@ end
#@ pipe
    r"|(?P<pipe>\|>)"
#@ end
#@ dots
    r"|(?P<dots>\.\.\.)"
#@ end
#@ compound
    r"|(?P<two>==|!=|<=|>=|\+=|-=|\*=|/=|%=)|(?P<one>[-+*/%<>=(){}\[\],;:.])"
#@ else
    r"|(?P<two>==|!=|<=|>=)|(?P<one>[-+*/%<>=(){}\[\],;:.])"
#@ end
)
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


def tokens(text):
    found, line, place = [], 1, 0
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            found.append(("bad", text[place], line))
            return found
        place, kind, word = match.end(), match.lastgroup, match.group()
        if kind == "line":
            line += 1
        elif kind == "string":
            found.append(string(word[1:-1], line))
            line += word.count("\n")
        elif kind == "name":
            found.append(("word" if word in WORDS else "name", word, line))
        elif kind == "int":
#@ overflow != "none"
            found.append(("int" if int(word) < 2**63 else "bad", word, line))
#@ else
            found.append(("int", word, line))
#@ end
        elif kind != "blank":
            found.append(("op", word, line))
    found.append(("end", "", line))
    return found


def string(body, line):
#@ interp
    pieces, place, text = [], 0, ""
    while place < len(body):
        mark = body[place]
        if body[place:place + 2] in ("{{", "}}"):
            text, place = text + mark, place + 2
        elif mark == "{":
            stop = body.find("}", place)
            if stop < 0:
                return ("bad", body, line)
            inner = [(kind, word, line) for kind, word, _ in tokens(body[place + 1:stop])]
            pieces += [text, inner]
            text, place = "", stop + 1
        elif mark == "}":
            return ("bad", body, line)
#@ lines == "joined"
        elif body[place:place + 2] == "\\\n":
            place += 2
            while body[place:place + 1] in (" ", "\t"):
                place += 1
#@ end
        elif mark == "\\":
            if body[place + 1] not in ESCAPES:
                return ("bad", body, line)
            text, place = text + ESCAPES[body[place + 1]], place + 2
        else:
            text, place = text + mark, place + 1
    pieces.append(text)
    if len(pieces) > 1:
        return ("pieces", pieces, line)
    return ("string", text, line)
#@ else
#@ lines == "joined"
    body = re.sub(r"((?<!\\)(?:\\\\)*)\\\n[ \t]*", r"\1", body)
#@ end
    if any(mark not in ESCAPES for mark in re.findall(r"\\(.)", body)):
        return ("bad", body, line)
    return ("string", re.sub(r"\\(.)", lambda found: ESCAPES[found[1]], body), line)
#@ end
'''
