"""What is wrong with what a person wrote: problems told at their places, suggestions, schemas, TOML tables."""
