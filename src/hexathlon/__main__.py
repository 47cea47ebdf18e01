"""`python -m hexathlon` is the `hexathlon` command."""

from hexathlon_cli import main

if __name__ == "__main__":
    main()
