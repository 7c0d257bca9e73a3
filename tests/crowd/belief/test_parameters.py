"""The parameters of dependence: each within its range, and given back by its name."""

import math

import pytest

from crowd_tvcs.belief.parameters import KNOTS, MAX_STEP, DependenceParams

LAST = KNOTS[-1]
GOOD = {
    "temperature": 1.5, "overlap": 0.2, "shares": 0.9, "blend": 0.3, "common": 0.1,
    "contrast": 0.4, "steps": [0.1, 0.2, 0.3, 0.4, 0.5], "last": LAST + 4,
}  # fmt: skip
NEXT = math.nextafter
RANGES = [
    ("temperature", [5e-324, 1, 9.0], [0.0, -1.0]),
    ("overlap", [0.0, 0, 9.0], [-5e-324]),
    ("shares", [5e-324, 9.0], [0.0]),
    ("blend", [0.0, 0.5, 1.0], [-5e-324, NEXT(1.0, 2.0)]),
    ("common", [0.0, 0.5, NEXT(1.0, 0.0)], [-5e-324, 1.0]),
    ("contrast", [0.0, 0.5, 1.0], [-5e-324, NEXT(1.0, 2.0)]),
    ("steps", [(MAX_STEP,) * 5, (-MAX_STEP, 0, 0, 0, 0)],
     [(0.0,) * 4, (0.0,) * 6, (NEXT(MAX_STEP, 99.0), 0, 0, 0, 0), (0, 0, 0, 0, math.nan)]),
    ("last", [LAST, LAST + 1], [LAST - 1, float(LAST), True]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "inside", "outside"), RANGES)
def test_a_parameter_may_reach_the_ends_of_its_range_and_no_further(name, inside, outside):
    for value in inside:
        found = DependenceParams.checked(GOOD | {name: value})
        assert found == GOOD | {"steps": tuple(GOOD["steps"])} | {name: value}
        assert getattr(DependenceParams(**found), name) == value
    of_all = [] if name in ("steps", "last") else [math.nan, math.inf, True, "1", None]
    for value in [*outside, *of_all]:
        with pytest.raises(ValueError, match=f"^{name} must be "):
            DependenceParams.checked(GOOD | {name: value})
    with pytest.raises(KeyError, match=name):
        DependenceParams.checked({k: value for k, value in GOOD.items() if k != name})
