"""From outcomes to numbers: scores checked, added up, summed up with their intervals."""
