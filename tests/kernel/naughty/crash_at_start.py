"""A pack whose import ends the process."""

import sys

sys.stderr.write("cannot find my configuration\n")
sys.exit(7)
