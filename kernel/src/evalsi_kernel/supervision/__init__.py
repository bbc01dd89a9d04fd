"""The processes of packs: start, requests, timeouts, shutdown and restart."""
