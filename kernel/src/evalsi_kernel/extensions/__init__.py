"""The installed extensions: found, loaded on use, asked through their hooks."""
