"""`python -m polhode`."""

from polhode.cli.main import main

main()
