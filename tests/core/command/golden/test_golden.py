"""The defaults and the ranges of this room stay as they were kept."""

from tests.makers.golden import defaults_stay
from tests.makers.ranges import ranges_hold

test_defaults = defaults_stay(__file__)
test_ranges = ranges_hold("project csv")
