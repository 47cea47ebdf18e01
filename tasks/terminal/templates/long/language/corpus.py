"""Old programs of Vela with their outputs, and the faults of its interpreter 2.4."""

__all__ = ["CORPUS", "FAULTS"]

FAULTS: dict[str, tuple[str, str, str]] = {
    "tabs": ("vela/values.py", ', ("\\t", "\\\\t")', ""),
    "del": ("vela/builtins.py", "    return table.pop(key)", "    table.pop(key)"),
    "sign": ("vela/builtins.py", "[+-]?[0-9]+", "-?[0-9]+"),
    "callee": (
        "vela/evaluation.py",
        "        called = self.eval(tree[2], scope)\n"
        "        given = [self.eval(each, scope) for each in tree[3]]\n"
        "        return self.call",
        "        given = [self.eval(each, scope) for each in tree[3]]\n"
        "        called = self.eval(tree[2], scope)\n"
        "        return self.call",
    ),
    "points": (
        "vela/values.py",
        "len(left) == len(right) and all(same(a, b",
        "all(same(a, b",
    ),
    "keyplace": (
        "vela/values.py",
        'return (left < right) == (sign == "<")',
        'return left < right if sign == "<" else left > right',
    ),
}
"""Faults by name: the file, the right text, and what 2.4 has in its place."""

CORPUS: dict[str, str] = {
    "fib": "fn fib(n) { if n < 2 { return n; } return fib(n - 1) + fib(n - 2); }\nprint fib(15);\n",
    "count": """let words = ["pear", "fig", "pear", "apple"];
let seen = {};
for w in words { if has(seen, w) { seen[w] = seen[w] + 1; } else { seen[w] = 1; } }
print seen;
for w in seen { print w + ": " + seen[w]; }
""",
    "stack": """let s = [];
fn op(t) { if t == "+" { push(s, pop(s) + pop(s)); } else { push(s, int(t)); } }
for t in ["3", "4", "+", "10", "+"] { op(t); }
print s;
pop(s);
try { pop(s); } catch e { print e; }
""",
    "primes": """let found = [];
let n = 2;
while len(found) < 12 {
  let good = true;
  for p in found { if n % p == 0 { good = false; break; } }
  if good { push(found, n); }
  n = n + 1;
}
print join(found, ",");
""",
    "counter": """fn counter(start) { let n = start; return fn() { n = n + 1; return n; }; }
let a = counter(5);
let b = counter(100);
a();
print a(), b(), a;
""",
    "sorting": """let names = ["mo", "al", "zed"];
print sort(names), names;
let total = 0;
for n in range(1, 11) { total = total + n * n; }
print total, sum(range(1, 11)), 2 * 3 - 10 / 4;
""",
    "trouble": 'fn check(n) {\n  if n > 3 { throw "too large: " + n; }\n  return n;\n}\n'
    "print check(2);\nprint check(7);\n",
    "broken": "let a = 1;\nlet b = [1, 2;\nprint a;\n",
}
