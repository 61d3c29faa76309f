"""Where a system starts: on its constraints."""
