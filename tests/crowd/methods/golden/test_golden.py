"""What standard runs of this room print and write, its defaults and its ranges stay."""

from tests.makers.golden import defaults_stay, standard_runs
from tests.makers.ranges import ranges_hold

test_standard_runs = standard_runs(__file__)
test_defaults = defaults_stay(__file__)
test_ranges = ranges_hold("what-if", leave_out="--money")
