"""Model connectors for Evals.si: any OpenAI-compatible server, and Anthropic's API."""
