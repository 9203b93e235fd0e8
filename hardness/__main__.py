"""``python -m hardness``: the command line."""

from hardness.cli import main

if __name__ == "__main__":
    main()
