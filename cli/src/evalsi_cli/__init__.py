"""The `evalsi` command.

Importing it raises the garbage collector's threshold first: imports create thousands of permanent objects, and
collections among them would take 10% of the time of a short command.
"""

import gc

GARBAGE_AFTER_OBJECTS = 50_000
gc.set_threshold(GARBAGE_AFTER_OBJECTS, 20, 50)
