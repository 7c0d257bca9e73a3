"""The defaults of this room stay as they were kept; its runs are kept with the methods."""

from tests.makers.golden import defaults_stay

test_defaults = defaults_stay(__file__)
