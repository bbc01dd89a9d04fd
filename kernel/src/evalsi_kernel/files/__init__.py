"""Files and folders of this machine: where they lie, and how they are written whole, locked and kept."""
