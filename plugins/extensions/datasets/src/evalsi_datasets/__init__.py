"""Dataset readers for Evals.si: JSONL, JSON, CSV, TSV, Excel, Parquet, compressed files, standard input and hf://."""
