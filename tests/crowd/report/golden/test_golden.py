"""The defaults of this room stay as they were kept."""

from tests.makers.golden import defaults_stay

test_defaults = defaults_stay(__file__)
