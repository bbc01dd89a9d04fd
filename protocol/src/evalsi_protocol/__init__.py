"""The Evals.si plugin protocol: frames, a sans-IO session machine, transports."""
