"""The manual of Vela 2.4 and the project's standing papers."""

__all__ = ["GOVERNANCE", "MANUAL"]

GOVERNANCE = """# How Vela changes

1. The manual describes the last release. Where the interpreter of that release differs from the
   manual, the interpreter is wrong, and the next release follows the manual.
2. A change is a proposal in `proposals/`. What counts is the last valid decision on it in
   `minutes/`. The line `Status` in a proposal is kept by its author and decides nothing; nor does
   anything in `mail/` or `drafts/`.
3. The council has seven seats; `council.md` says who has held them, first and last day included.
   A decision is valid if at least four holders of seats were present. Guests do not count, nor do
   past and future holders, nor, for a decision on a proposal, its author. A decision without that
   quorum is void, unless a later valid decision confirms it.
4. A release consists of the last release and all proposals that stand accepted on its freeze
   date, that day included. `releases/` gives the dates as they were first set; the council may
   move them. Later decisions belong to the release after it.
5. A change made to a proposal by a valid decision replaces what the proposal says on that point;
   the rest of the proposal stands.
6. A proposal replaces what the manual says on its point, and nothing else. A word that is reserved
   only by a proposal outside the release stays an ordinary name. What a proposal says about the
   features of another proposal holds if both are in the release.
7. A decision may depend on another proposal. Whether that one is in the release is judged by all
   decisions up to the freeze date, also by those that were made later than the one that depends on it.
8. The council may correct earlier minutes by a valid decision. The corrected minutes count, as if
   they had always read so.
"""

MANUAL: dict[str, str] = {
    "01-words": """# Words

Text is UTF-8. `#` begins a comment, to the end of the line. Names are ASCII letters, digits and `_`,
not beginning with a digit. Integers are decimal and unbounded. Strings stand in double quotes on one
line; `\\n`, `\\t`, `\\"` and `\\\\` are the only escapes, any other is a syntax error. Reserved: `let fn
return if else while for in break continue print try catch throw import as and or not nil true false`.
""",
    "02-grammar": """# Grammar

    program    = statement*
    block      = "{" statement* "}"
    statement  = block | "let" NAME "=" expr ";" | "fn" NAME params block | "return" [expr] ";"
               | "if" expr block ["else" (block | if-statement)] | "while" expr block
               | "for" NAME "in" expr block | "break" ";" | "continue" ";"
               | "print" expr ("," expr)* ";" | "throw" expr ";"
               | "try" block "catch" NAME block | "import" STRING "as" NAME ";"
               | target "=" expr ";" | expr ";"
    target     = NAME | postfix "[" expr "]"
    params     = "(" [NAME ("," NAME)* [","]] ")"
    expr       = and ("or" and)*            and     = not ("and" not)*
    not        = "not" not | comparison     comparison = sum [("=="|"!="|"<"|"<="|">"|">=") sum]
    sum        = product (("+"|"-") product)*    product = unary (("*"|"/"|"%") unary)*
    unary      = "-" unary | postfix
    postfix    = primary ( "(" [expr ("," expr)* [","]] ")" | "[" expr "]" | "." NAME )*
    primary    = NAME | INT | STRING | "nil" | "true" | "false" | "(" expr ")" | "[" list "]"
               | "{" [expr ":" expr ("," expr ":" expr)* [","]] "}" | "fn" params block

A `{` at the beginning of a statement opens a block. Lists too may end with a comma. A target in
parentheses is not a target. `return` stands only inside a function; `break` and `continue` only inside a
loop of the same function.

A text that is not a program is not run at all. Its syntax error is on the line of the first token that
cannot continue a program; a character that begins no token, a bad escape and a string that is not
closed count as such a token, on the line where they begin. The end of the text counts as a token as
well, on the line after the last line break.
""",
    "03-statements": """# Statements

Every block has a scope of its own; the parameters and the body of a function share one. `let` and
`fn NAME` declare a name in the current scope when they are executed, even if that scope already
has it. A name means the nearest declaration that has been executed. An assignment to a name that
no scope has makes a global name of the file. The functions of the language are in a scope around all
files and cannot be assigned to: an assignment to their name counts as one to an unknown name.

In an assignment the right side is evaluated first, then the list or map, then the index.

`for` evaluates its expression once and goes through the elements of a list, the characters of a
string, or the keys of a map. The loop has one variable, in a scope of its own around that of the
body. A list is read as the loop goes on, so what is added to it meanwhile is visited, and a loop ends
when no element is left. For a map, the keys at the start count.

`print` evaluates its values from left to right and makes each one's text before it evaluates the next.
Then it writes one line with the texts, separated by single blanks. A function that ends without
`return` gives nil.

`throw` raises an error of kind `user` with the value as text for its message. `catch NAME` declares
the name in the handler's scope, with the error's message as a string.

`import "x/y" as n;` executes the file `x/y.vela`, in the folder of the main program, each time, and
declares a module whose members are the file's global names: `n.name` is the value that the name has
when the member is read. A file that is still being executed cannot be imported. A syntax error in an
imported file ends the whole program at once, with the usual report and exit code; it cannot be
caught, and nothing else of the program is executed.
""",
    "04-expressions": """# Expressions

Operands are evaluated from left to right; in a call the function first, then the arguments, and only
then is it checked what is called and with how many arguments. Map entries: key, then value; a key that comes
again keeps its place and takes the new value. Keys are integers and strings.

`+ - * / %` work on integers. `/` rounds down and `%` has the sign of the divisor. `+` also joins two
lists to a new one, and if either side is a string, both sides as text.

`==` and `!=` compare values of the same type; nil may be compared with everything. Lists and maps
are equal if their elements are; within them values of different types are unequal. Functions and
modules are equal to themselves only. Lists are compared by length and maps by keys, then both element by
element in order, up to the first difference. The other comparisons work on two integers or two strings, by
code points. nil, false, 0, the empty string, list and map count as false, all else as true. `and`
and `or` give the operand that decides and evaluate the right side only if needed; `not` gives true
or false.

Lists and strings are indexed from 0. A list's elements and a map's can be assigned; assigning to a
missing key adds it.

Functions are values and see the names around them, not copies. At most 200 calls of functions
written in Vela may be active at a time.
""",
    "05-values": """# Values as text

nil, true, false; integers in decimal; strings as they are, but within lists and maps in quotes, with
the four escapes. `[1, "a"]`, `{"k": 1, 2: []}`; a map's keys come in order, integers first, strings
by code points, here and wherever keys are gone through. `<fn NAME>`, with `fn` for functions without
a name; `<module PATH>`, with the path of its file as in error reports.

A list or map that contains itself has no text: making it is an error, `endless value`. It is the
same error if a comparison comes to two lists or two maps whose comparison is still under way.
""",
    "06-functions": """# Functions of the language

`len(x)` of a string, list or map; `str(x)` the text; `int(s)` from a string of digits with an
optional sign; `type(x)`: nil, bool, int, string, list, map, function, module; `push(list, x)` gives
nil; `pop(list)` removes and gives the last element; `keys(map)`; `has(map, key)`; `del(map, key)`
removes a key and gives its value; `range(a, b)` the integers from a up to b, without b; `sum(list)`
of integers; `sort(list)` a new list of integers only or strings only; `join(list, mark)` the texts
with the mark between them.
""",
    "07-errors": """# Errors

An uncaught error ends the program. After the output so far, standard error gets one line, and the
exit code is 1; for a syntax error it is 2:

    FILE:LINE: KIND error: MESSAGE
    FILE:LINE: syntax error

FILE is the main program as given in the command, or an imported file's path, made from the main
program's folder and normalised. LINE is that of the operator, of the `(` of a call, the `[` of an
index, the `.` of a member, the name, the `{` of a map, or the word `for`, `throw`, `import`, `let`,
`print` or `fn` of the statement that fails.

| kind | messages |
|---|---|
| name | `N is not defined` (also for members) |
| type | `cannot add T and T` (subtract, multiply, divide; divide for `%` too), `cannot compare T and T`, `cannot negate T`, `cannot call T`, `cannot index T`, `cannot assign into T`, `cannot iterate T`, `no members in T`, `bad key T`, `bad index T`, `bad argument for F`, `F takes N arguments, got M` |
| index | `index I out of range`, `no key K` (K as within a list), `pop from an empty list` |
| value | `not a number: S` (S in quotes), `endless value` |
| arithmetic | `division by zero` |
| import | `no module PATH`, `PATH is still being imported` |
| depth | `more than N calls` |
| user | the thrown value as text |
""",
}
