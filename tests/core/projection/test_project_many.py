"""Many projections at a time: in the engine that everything else uses."""

import numpy as np
import pytest

import tvcs_core.projection.projection as projection_module
from tvcs_core import TVCS, project_many


def test_of_several_arrays_that_are_refused_the_first_one_is_named():
    constraint = TVCS.matrix((2, 2), total=1)
    good, nan, wide = np.ones((2, 2)), np.full((2, 2), np.nan), np.ones((2, 3))
    for stack, message in (([good, nan, wide], "finite"), ([good, wide, nan], "shape")):
        for _ in range(5):
            with pytest.raises((TypeError, ValueError), match=message):
                project_many(stack * 3, constraint, threads=4)


def test_projections_are_done_by_the_one_engine(monkeypatch):
    seen = []

    def look(jobs, engine, **more):
        seen.append([job.name for job in jobs])
        yield from results(jobs, engine, **more)

    results = projection_module.results
    monkeypatch.setattr(projection_module, "results", look)
    assert len(project_many(np.ones((3, 2, 2)), TVCS.matrix((2, 2), total=1))) == 3
    assert seen == [["projections"]]


def test_what_is_no_stack_is_refused():
    constraint = TVCS.matrix((2, 2), total=1)
    with pytest.raises(TypeError, match="stack must hold arrays, found int"):
        project_many(3, constraint)
    with pytest.raises(ValueError, match="threads must be >= 1, found 0"):
        project_many([np.ones((2, 2))], constraint, threads=0)
