"""``python -m hardness``: the command line."""

from hardness.start import main

if __name__ == "__main__":
    main()
