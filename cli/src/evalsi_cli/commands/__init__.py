"""One module for each command: `configure` adds its flags, `run` executes it. Imported only if the command is used."""
