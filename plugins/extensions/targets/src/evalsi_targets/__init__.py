"""What a run asks for outputs: models, HTTP services, Python functions, commands and recorded answers."""
