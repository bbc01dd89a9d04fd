"""From rows to records on the wire, and the chunks in which they travel."""
