"""What things look like: shapes, for pictures only."""
