"""Hostile input: made up from bytes, given to everything that reads, and only our own errors may come back.

    PYTHONPATH=tests python -m fuzzing formulas 100000          random bytes, the same every time
    PYTHONPATH=tests python -m fuzzing.guided formulas 100000   bytes that reach new lines, by atheris (pip install it)

A case is a function of bytes, so that random numbers, hypothesis and a coverage-guided fuzzer serve alike.
"""
