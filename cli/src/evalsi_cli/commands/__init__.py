"""One module a command: `configure` adds its flags, `run` does it. Loaded only when the command is named."""
