"""Dataset readers for Evals.si: JSONL, JSON, CSV, TSV, Parquet, compressed files, standard input and hf://."""
