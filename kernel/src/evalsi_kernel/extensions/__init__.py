"""The installed extensions: discovery, lazy loading and hook calls."""
