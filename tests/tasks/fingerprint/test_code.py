"""Code reduced to what can change its results, the same under every Python."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hexathlon.tasks.fingerprint import code

SAMPLES = Path(__file__).resolve().parents[3] / "tasks" / "roleplay"


def text(source: str) -> str:
    return code.canonical_code(code.reduce_module(ast.parse(source)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1  # one", "x = 1"),
        ("f(1, 2)", "f(\n    1,\n    2,\n)"),
        ("x = 'a' 'b'", 'x = "ab"'),
        ('"""A."""\nx = 1', '"""B."""\nx = 1'),
        ('def f():\n    """A."""', "def f():\n    pass"),
        ('class A:\n    x: int\n    """What x is."""', "class A:\n    x: int"),
        ("class A:\n    def f(self): ...", "class A:\n    def f(self):\n        pass"),
        ("def f(x: int = 1) -> str:\n    return x", "def f(x=1):\n    return x"),
        ("def f():\n    x: int = 1\n    y: str", "def f():\n    x = 1"),
        ("X: Final = 1", "X = 1"),
        ("__all__ = ['x']\n__all__ += ['y']\nx = 1", "x = 1"),
        ("from __future__ import annotations\nx = 1", "x = 1"),
        ("if TYPE_CHECKING:\n    import a\nelse:\n    import b", "import b"),
        ("if typing.TYPE_CHECKING:\n    import a\nx = 1", "x = 1"),
        ("try:\n    f()\nexcept E:\n    '''Why.'''\n    g()", "try:\n    f()\nexcept E:\n    g()"),
        ("match x:\n case 1:\n  'One.'\n  f()", "match x:\n    case 1:\n        f()"),
        ("class A:\n def f(self):\n  x: int = 1", "class A:\n def f(self):\n  x = 1"),
    ],
)  # fmt: skip
def test_spellings_of_the_same_code(one, other):
    assert text(one) == text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1", "x = 2"),
        ("x = 1", "x = 1.0"),
        ("x = True", "x = 1"),
        ("x = 'a'", "x = b'a'"),
        ("f(a)", "f(*a)"),
        ("x = [a]", "x = (a,)"),
        ("def f(a, b=1): return a", "def f(a, b=2): return a"),
        ("class A:\n    x: int", "class A:\n    x: str"),
        ("class A:\n    if B:\n        x: int", "class A:\n    if B:\n        x: str"),
        ("class A:\n    x: int = 1", "class A:\n    x = 1"),
        ("@a\ndef f(): return 1", "def f(): return 1"),
        ("if DEBUG:\n    import a", "import a"),
        ("import a\nimport b", "import b\nimport a"),
        ("x = f'{a}'", "x = f'{a!r}'"),
        ("x = f'{a:>3}'", "x = f'{a:<3}'"),
        ("x = '''A text,\nnot a docstring'''", "x = '''A text'''"),
        ("async def f(): return 1", "def f(): return 1"),
    ],
)
def test_other_code(one, other):
    assert text(one) != text(other)


SAMPLE = r'''
"""Docstring."""
@d
class A(B, k=1):
    x: int = 3
    def f(self, /, a: int, *b, c=-1.5, **e) -> int:
        return f"{a!r:>{b}}" "t" f"{a:%H}" + u"é\u0378" if a is not ... else lambda: {**e}
'''


def test_the_text_is_fixed():
    """The exact text; every Python version must produce the same."""
    name = "Name(id='{}',)".format
    joined = (
        "JoinedStr(values=[FormattedValue(value=Name(id='a',),conversion=114,"
        "format_spec=JoinedStr(values=[str:'>',FormattedValue(value=Name(id='b',),conversion=-1,),],),),"
        "str:'t',FormattedValue(value=Name(id='a',),conversion=-1,"
        "format_spec=JoinedStr(values=[str:'%H',],),),],)"
    )
    test = f"Compare(left={name('a')},ops=[IsNot(),],comparators=[ellipsis:Ellipsis,],)"
    orelse = f"Lambda(args=arguments(),body=Dict(keys=[None,],values=[{name('e')},],),)"
    total = f"BinOp(left={joined},op=Add(),right=str:'\\xe9\\u0378',)"
    arguments = (
        "arguments(posonlyargs=[arg(arg='self',),],args=[arg(arg='a',),],vararg=arg(arg='b',),"
        "kwonlyargs=[arg(arg='c',),],kw_defaults=[UnaryOp(op=USub(),operand=float:1.5,),],"
        "kwarg=arg(arg='e',),)"
    )
    body = f"[Return(value=IfExp(test={test},body={total},orelse={orelse},),),]"
    field = f"AnnAssign(target={name('x')},annotation={name('int')},value=int:3,simple=1,)"
    assert text(SAMPLE) == (
        f"Module(body=[ClassDef(name='A',bases=[{name('B')},],keywords=[keyword(arg='k',value=int:1,),],"
        f"body=[{field},FunctionDef(name='f',args={arguments},body={body},),],"
        f"decorator_list=[{name('d')},],),],)"
    )  # fmt: skip


DIGEST = """
import ast, hashlib, runpy, sys
from pathlib import Path
code = runpy.run_path(sys.argv[1])
digest = hashlib.sha256()
for path in sorted(Path(sys.argv[2]).rglob("*.py")):
    tree = code["reduce_module"](ast.parse(path.read_bytes()))
    digest.update(code["canonical_code"](tree).encode())
print(digest.hexdigest())
"""


def digest_under(python: str) -> str | None:
    command = [python, "-c", DIGEST, code.__file__, SAMPLES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def test_other_pythons_write_the_same_text():
    found = [shutil.which(f"python3.{minor}") for minor in (11, 12, 13, 14)]
    found += sorted(map(str, Path.home().glob(".pyenv/versions/3.1[1-4].*/bin/python")))
    digests = {path: digest_under(path) for path in found if path}
    present = {digest for digest in digests.values() if digest}
    if not present:
        pytest.skip("there is no other CPython of 3.11 to 3.14")
    assert present == {digest_under(sys.executable)}
