"""How work is done: stages of one total, and folders within folders."""

from pathlib import Path

import pytest

from grn_tvcs.stability.execution import SERIAL, Execution


@pytest.mark.parametrize("networks", [0, 1, 7])
def test_progress_of_stages_goes_from_0_to_the_end_and_never_back(networks):
    result = []
    first, second = Execution(progress=lambda *at: result.append(at)).stages(100, 100 * networks)
    for done in range(4):
        first.progress(done, 3)
    for done in range(networks + 1):
        second.progress(done, networks)
    done, total = zip(*result, strict=True)
    assert set(total) == {100 * (1 + networks)}
    assert list(done[:5]) == [0, 33, 67, 100, 100]
    assert list(done[4:]) == [100 * (1 + k) for k in range(networks + 1)]


def test_without_a_report_or_a_folder_stages_are_the_same():
    assert SERIAL.stages(3, 4) == [SERIAL, SERIAL]
    assert SERIAL.within("a") is SERIAL
    assert Execution(checkpoint_dir=Path("x")).within("a").checkpoint_dir == Path("x/a")
