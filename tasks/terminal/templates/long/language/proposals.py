"""The proposals for Vela 3.0: for each rule a title and what each of its new values means.

The first value is the proposal as written; the text of another value is a change of it.
"""

__all__ = ["PROPOSALS"]

PROPOSALS: dict[str, tuple[str, dict[str, str]]] = {
    "division": ("Division toward zero", {
        "trunc": "`/` drops the fraction, and `%` has the sign of the dividend, so that "
        "`(a / b) * b + a % b` is `a`.",
        "mixed": "`%` is left as it is, with the sign of the divisor; only `/` drops the fraction."}),
    "overflow": ("64-bit integers", {
        "trap": "Integers have 64 bits and a sign. If the result of `+ - * / %`, of a minus or of a "
        "step of `sum` (which adds from the left, starting at 0) does not fit, that is an error of "
        "kind arithmetic, `overflow`. A literal above 9223372036854775807 is a token that cannot "
        "stand there; a minus is not part of a literal. For `int`, what does not fit is not a number.",
        "wrap": "Results that do not fit wrap around, modulo 2 to the 64th, instead of being errors. "
        "What is said of literals and of `int` stands."}),
    "truth": ("What counts as false", {
        "strict": "Only nil and false count as false.",
        "zero": "The integer 0 counts as false as well; nothing else beside nil and false."}),
    "loopvar": ("Loop variables", {
        "fresh": "Each turn of a `for` loop has a new variable. A function made in the body keeps "
        "the variable of its turn. Assigning to it does not affect the next turn."}),
    "snapshot": ("Loops over lists that change", {
        "yes": "`for` over a list goes through the elements that it had when the loop began."}),
    "defer": ("Deferred calls", {
        "early": "`defer CALL;` with a call (not in parentheses, and nothing after it) may stand "
        "anywhere inside a function; elsewhere the word itself is the syntax error, and after another "
        "expression the token that follows the expression. Function and arguments are evaluated at "
        "the `defer`; whether it can be called so is checked when it is called. When the function "
        "ends, in whatever way, its deferred calls are made, last first, after the value of `return` "
        "is known and after handlers of `try` in it. The function counts as active meanwhile. Results "
        "are discarded. If a deferred call fails, the others are still made, and the error that leaves "
        "the function is the one raised last, instead of a result or an earlier error. `defer` is "
        "reserved.",
        "late": "The whole call, function and arguments included, is evaluated only when it is made, "
        "with the scope of the `defer`."}),
    "deferror": ("Errors of deferred calls", {
        "first": "Of several errors in a function and its deferred calls, the one that was raised "
        "first leaves the function. Matters only with \"Deferred calls\"."}),
    "errors": ("Errors as maps", {
        "map": "`catch NAME` gets a map with the keys `kind`, `message` and `line`, put in in "
        "that order.",
        "value": "The map of an error of kind `user` has a fourth key, `value`, with the value that "
        "was thrown."}),
    "rethrow": ("Throwing errors of any kind", {
        "yes": "`throw` with a map whose `kind` and `message` both exist and are strings raises an "
        "error of that kind with that message, on the line of the `throw`. Other keys do not matter."}),
    "ensure": ("`finally`", {
        "over": "`try block [catch NAME block] [finally block]`, with at least one of the two. The "
        "last block is executed in its own scope however the others end, and then the ending takes "
        "its course. If the last block itself ends by an error, `return`, `break` or `continue`, "
        "this ending replaces the other. `finally` is reserved.",
        "shut": "`return`, `break` and `continue` are syntax errors in a `finally` block, at that "
        "word, even where a loop within the block would take them; a function within the block is "
        "free of this."}),
    "defaults": ("Default values", {
        "late": "A parameter may be written `NAME = expr`; those after it must be so too (otherwise "
        "the token after the name is wrong). For a missing argument the expression is evaluated at "
        "the call, in the function's scope, from left to right, so it sees the parameters before it. "
        "The message of a wrong number becomes `F takes N to M arguments, got K`.",
        "early": "The expressions are evaluated once, when the function is made, from left to right, "
        "in the scope around it."}),
    "varargs": ("Remaining arguments", {
        "yes": "The last parameter may be `NAME...` and gets a list of the arguments left, maybe "
        "empty; nothing may follow it. The message of a wrong number is then `F takes at least N "
        "arguments, got K`. With default values, N counts the parameters without one, and parameters "
        "with one are filled first; the last parameter itself has none."}),
    "chain": ("Chained comparisons", {
        "yes": "`a < b <= c` compares neighbours, from left to right, with any of the six operators. "
        "Each operand is evaluated once, and none after the first comparison that is false."}),
    "compound": ("Changing assignments", {
        "before": "`+= -= *= /= %=` with the same targets as `=`. The list or map and the index are "
        "evaluated once and first, then the old value is read, then the right side is evaluated, "
        "then the result is stored. An error of the operation is on the line of the sign, one in "
        "reading or storing on that of the `[` or the name. A name has to exist; a function of the "
        "language can be read, and only storing the result is an assignment to its name.",
        "after": "The right side is evaluated before the old value is read (but after the list or "
        "map and the index)."}),
    "assignorder": ("Order of assignment", {
        "yes": "In `a[i] = x` the list or map is evaluated first, then the index, then the right "
        "side."}),
    "maporder": ("Order of keys", {
        "inserted": "Keys come in the order in which they were first put in, in text and wherever "
        "they are gone through. A new value leaves a key in its place; a key that was removed and "
        "comes again goes to the end.",
        "written": "Text keeps the sorted order, also within other values. Only loops and `keys` "
        "follow the order of putting in."}),
    "index": ("Counting from the end", {
        "slices": "1. A negative index of a list or string counts from the end, -1 is the last "
        "element; this holds for assignment too. Messages give the index as written. 2. `x[a:b]` is "
        "a new list or string, from a up to b, without b. Either may be left out, or be nil, for the "
        "start and the end. Negative ends count from the end, and ends out of range are moved to the "
        "nearest end. An end that is not an integer is `bad index T`. A slice is not a target.",
        "negative": "Section 2 is struck out: there are no slices."}),
    "undeclared": ("No names by accident", {
        "yes": "An assignment to a name that no scope has is an error of kind name, `N is not "
        "defined`, on the name's line, after the right side is evaluated."}),
    "redeclare": ("One declaration", {
        "yes": "Declaring a name that the same scope has already, by `let`, `fn` or `import`, is an "
        "error when it is executed, after its value is evaluated: kind name, `N is already "
        "declared`. A parameter counts, as function and body share a scope."}),
    "exitcodes": ("Exit codes", {
        "new": "A syntax error gives the exit code 65, any other uncaught error 70.",
        "user": "An uncaught error of kind `user` gives 1; 65 and 70 stand for the others."}),
    "leave": ("`exit`", {
        "now": "The function `exit(n)`, n being 0 if left out, ends the program with the exit code n. "
        "It must be an integer (`bad argument for exit`) from 0 to 255 (otherwise kind value, `bad "
        "exit code N`). It cannot be caught. The end is immediate: no `finally` block and no "
        "deferred call is executed.",
        "unwind": "It is not immediate: `finally` blocks and deferred calls of what is active are "
        "executed first, from the inside out."}),
    "interp": ("Expressions in strings", {
        "plain": "`{expr}` in a string literal stands for the expression's text, `{{` and `}}` for "
        "single braces. The expression ends at the first `}` and has no quotes or backslashes. Its "
        "tokens count as standing on the string's line. A lone `}`, a `{` that is not closed and "
        "braces without a proper expression are syntax errors on that line. A string with an "
        "expression is not a path for `import`.",
        "quiet": "nil gives the empty text there; within lists and maps it is still `nil`."}),
    "labels": ("Labels", {
        "yes": "`NAME: while ...` and `NAME: for ...` name a loop; `break NAME;` and `continue NAME;` "
        "are for that loop, which must be around them in the same function. Otherwise the name is "
        "the syntax error."}),
    "match": ("`match`", {
        "open": "`match expr { case expr, expr { ... } case ... else { ... } }`, any number of cases, "
        "`else` optional and last. The cases' expressions are evaluated in order until one equals the "
        "value, and its block is executed, no other. Values of different types are unequal here, "
        "never an error. Without a fitting case and without `else`, nothing happens. `break` and "
        "`continue` are for the loop around. `match` and `case` are reserved.",
        "total": "Without a fitting case and without `else` it is an error of kind value, `no case "
        "for V`, V as within a list, on the line of `match`."}),
    "equality": ("Comparing anything", {
        "free": "`==` and `!=` compare values of any two types; values of different types are "
        "unequal."}),
    "plus": ("Adding to strings", {
        "strings": "`+` joins strings with strings only. Anything else with a string cannot be "
        "added.",
        "left": "If the left side is a string, the right side is still taken as text; a string on "
        "the right alone is an error."}),
    "boolops": ("`and` and `or` give truth", {
        "yes": "`and` and `or` give true or false. They evaluate as little as before."}),
    "modules": ("Modules once", {
        "once": "An imported file is executed once, by its normalised path; all imports give the "
        "same module. One whose execution failed is not kept. The path counts from the folder of the "
        "importing file.",
        "private": "Members whose names begin with `_` are not defined for other files."}),
    "sort": ("Sorting in place", {
        "place": "`sort` sorts the list itself and gives that same list. With a bad list nothing "
        "changes."}),
    "limit": ("Deeper calls", {
        "deep": "At most @FIRST@ calls may be active at a time, instead of 200.",
        "other": "The number is @SECOND@."}),
    "traces": ("Calls in error reports", {
        "full": "The report of an uncaught error other than a syntax error is followed by the calls "
        "of functions written in Vela that were active when the error was raised, innermost first, "
        "each on a line of standard error: two blanks, `in NAME, FILE:LINE`. NAME is that of the "
        "function, `fn` without one; the place is that of the `(` of the call. A call that fails "
        "because of what is called, the number of arguments or the depth is not active yet.",
        "short": "If more than six calls were active, only the three innermost and the three "
        "outermost are listed, and between them stands the line `  ... N more`."}),
    "tail": ("Calls that take the place of a function", {
        "any": "`return` with nothing but a call, not in parentheses, of a function written in Vela "
        "ends the returning function before the called one begins. The former is no longer active "
        "then, so that such calls may follow each other without end. What is called, the arguments "
        "and their number are evaluated and checked before. The call remains an ordinary one if the "
        "`return` is anywhere in a `try` statement of the same function, or if the function still "
        "has deferred calls to make.",
        "same": "Only if the called function is the very function that returns, not another one of "
        "the same name or text, does its call take the place."}),
    "cycles": ("Values that contain themselves", {
        "marked": "Where a list or map would appear within its own text, `[...]` or `{...}` is "
        "written. A comparison that comes to two lists or two maps whose comparison is still under "
        "way takes them for equal. `endless value` no longer occurs.",
        "levels": "Instead of `[...]` and `{...}`, `^N` is written, where N is the number of levels "
        "from there up to the value: 1 for the list or map that directly contains the place."}),
    "within": ("`in` as a comparison", {
        "keys": "`x in y` and `x not in y` stand where comparisons stand, and are among them wherever "
        "comparisons are mentioned. x is in a list if an element equals it (values of different "
        "types are unequal here), in a string if it is a string and occurs there, in a map if it is "
        "a key. A key of a wrong type is the usual error; everything else is one of kind type, "
        "`cannot search T for T`, the type of y first. The operator's line is that of `in`.",
        "values": "A map is searched for x among its values, not among its keys, in the order of the "
        "keys; x may be anything."}),
    "pipe": ("Calls from left to right", {
        "first": "`x |> f(a)` calls f with x before the other arguments. `|>` binds more loosely than "
        "anything else and groups to the left. On its right is a primary with whatever may follow "
        "it, the last part being a call; otherwise the token after it is the syntax error. x is "
        "evaluated first, then the function, then the arguments in the parentheses. Lines are "
        "those of the `(`. `defer` and `return` do not take the whole for a call; for the number of "
        "active calls and in error reports it is one.",
        "last": "x comes after the other arguments. It is evaluated first nevertheless."}),
    "unpack": ("Lists of names", {
        "exact": "In `let` and `for`, and nowhere else, a list of names may stand in the place of the name: "
        "`[a, b, c...]`, not empty and without a comma at its end. The value, or each element, has to "
        "be a list (kind type, `cannot unpack T`) of as many elements (kind value, `N values "
        "expected, got M`). A last name with `...` gets a list of the elements left; the message "
        "is then `at least N values expected, got M`, and N counts the names before it. The "
        "name `_` is not declared, its element is skipped. All is checked before the first name is "
        "declared; then they are declared from left to right.",
        "loose": "The number of elements is not checked: a name without an element becomes nil, an "
        "element without a name is ignored."}),
    "constants": ("Constants", {
        "late": "`const NAME = expr;` is like `let`, but assigning to the name, in any way, is "
        "an error: kind name, `N is constant`, on the line of the name, after everything in the "
        "statement is evaluated and just before the value would be stored. The value "
        "itself may change. A later declaration of the name in the same scope decides anew whether "
        "it is a constant. `const` is reserved.",
        "early": "The error comes first, before anything in the statement is evaluated."}),
    "lines": ("Strings over several lines", {
        "plain": "A string may contain line breaks, which belong to it. The string, and a bad "
        "escape anywhere in it, stand on the line on which it begins; what follows it, on the "
        "line on which it ends.",
        "joined": "A backslash just before a line break in a string is allowed: the two, and all "
        "blanks and tabs at the beginning of the next line, do not belong to the string."}),
}  # fmt: skip
