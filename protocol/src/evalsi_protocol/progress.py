"""The memory that a kernel may share with the process of a pack, to learn which record holds its interpreter.

Three unsigned 64-bit numbers in native byte order: request id, 1 + index of the record in the request (0 where no
record is being scored), session.
"""

DESCRIPTOR_VARIABLE = "EVALSI_PROGRESS_FD"
"""Names the file descriptor that the pack inherits; a pack that does not know it loses nothing else."""
CELLS = 3
SIZE_BYTES = 8 * CELLS
