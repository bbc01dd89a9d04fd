"""The evalsi command.

Before anything else is loaded it sets how seldom Python looks for garbage: loading makes thousands of objects that
stay, and the search among them costs a tenth of a short command.
"""

import gc

GARBAGE_AFTER_OBJECTS = 50_000
gc.set_threshold(GARBAGE_AFTER_OBJECTS, 20, 50)
