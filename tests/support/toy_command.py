"""The `hexathlon` command with the toy event registered, for tests that start processes.

Run as `python -m tests.support.toy_command ARGUMENTS`.
"""

from tests.support.events import register_toy

from hexathlon_cli import main

if __name__ == "__main__":
    register_toy()
    main()
