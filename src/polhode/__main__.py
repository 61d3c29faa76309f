"""`python -m polhode`."""

from polhode.cli.main import main

if __name__ == "__main__":  # not in the processes of `papers`, which import this under another name
    main()
