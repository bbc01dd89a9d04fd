"""Gates: what must hold of a run's metrics, and whether it does."""
