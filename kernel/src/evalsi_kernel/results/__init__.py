"""What came out of an evaluation: its findings, its file, its table."""
