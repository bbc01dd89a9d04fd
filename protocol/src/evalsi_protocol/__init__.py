"""The Evals.si plugin protocol: frames, a sans-IO session machine, byte channels.

Import names from the modules. Nothing is re-exported here, to keep imports fast.
"""
