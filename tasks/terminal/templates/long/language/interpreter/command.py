"""The interpreter's command, and the errors that it reports."""

__all__ = ["ERRORS", "MAIN"]

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
#@ traces
        self.calls = ()
#@ end


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
#@ tail


class Tail(Exception):
    """The end of a function by a call that takes its place."""

    def __init__(self, called, given, file, line):
        super().__init__("tail")
        self.called, self.given, self.file, self.line = called, given, file, line
#@ end
#@ leave


class Exit(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code
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
#@ traces
        lines = [f"  in {name}, {file}:{line}" for name, file, line in reversed(fault.calls)]
#@ traces == "short"
        if len(lines) > 6:
            lines[3:-3] = [f"  ... {len(lines) - 6} more"]
#@ end
        for line in lines:
            print(line, file=sys.stderr)
#@ end
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
