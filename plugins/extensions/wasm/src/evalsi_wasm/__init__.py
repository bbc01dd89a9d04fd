"""Runs evaluator packs that are a WebAssembly module, for Evals.si."""
