"""The Evals.si kernel: records, scores, catalog, supervisor and summaries."""
