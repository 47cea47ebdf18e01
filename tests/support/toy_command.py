"""The `hexathlon` command with the toy event registered, for tests that start processes.

Run as `python -m support.toy_command ARGUMENTS`.
"""

from hexathlon_cli import main
from support.events import register_toy

if __name__ == "__main__":
    register_toy()
    main()
