"""The command line. Heavy imports happen inside the commands, so `--help` answers at once."""
