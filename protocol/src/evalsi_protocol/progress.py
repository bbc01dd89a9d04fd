"""Shared memory in which a pack's process publishes the record that it is scoring.

Three unsigned 64-bit numbers in native byte order: request id, 1 + index of the record in the request (0: no record is
being scored), session.
"""

DESCRIPTOR_VARIABLE = "EVALSI_PROGRESS_FD"
"""Environment variable with the inherited file descriptor. Supporting it is optional for a pack."""
CELLS = 3
SIZE_BYTES = 8 * CELLS
