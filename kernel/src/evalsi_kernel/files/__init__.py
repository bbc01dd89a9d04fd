"""Files and folders of this machine: their places, atomic writes, locks and caches."""
