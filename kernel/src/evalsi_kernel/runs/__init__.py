"""Runs: a target asked for every record of a dataset, its answers scored, all of it written down as it comes."""
