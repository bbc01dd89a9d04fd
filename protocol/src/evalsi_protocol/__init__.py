"""The Evals.si plugin protocol: frames, a sans-IO session machine, byte channels.

Import names from the modules; nothing is gathered here, so that a part costs only what it uses.
"""
