"""What standard runs of this room print and write, and its defaults, stay as they were kept."""

from tests.makers.golden import defaults_stay, standard_runs

test_standard_runs = standard_runs(__file__)
test_defaults = defaults_stay(__file__)
