"""The table of results beside this file: a number that moves is a decision (`tests/support/kept.py`)."""

from kept import test_no_result_has_moved as test_no_result_has_moved
