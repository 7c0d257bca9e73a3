"""Which way claims and answers went."""

import pytest

from crowd_tvcs.campaign.desk import by_function


@pytest.fixture
def counted(monkeypatch):
    """How many claims and answers the functions took, and how many they left."""
    took = {"claim": [0, 0], "submit": [0, 0]}
    for name, numbers in took.items():
        monkeypatch.setattr(by_function, name, watched(getattr(by_function, name), numbers))
    return took


def watched(way, numbers):
    def _watched(*args, **options):
        found = way(*args, **options)
        if args[0].has_functions:
            numbers[found is None] += 1
        return found

    return _watched
