"""Projection onto three-view cardinality constraints, and solvers that use it.

Names are imported at their first use, so that a command line shows its help without loading
everything and scikit-learn loads only with the estimators.
"""

from typing import TYPE_CHECKING

from tvcs_core.lazy import lazy_exports

if TYPE_CHECKING:
    from tvcs_core.certificate import Certificate, certify, certify_blocks
    from tvcs_core.constraint import TVCS
    from tvcs_core.estimators import TVCSClassifier, TVCSRegressor, TVCSRegressorCV
    from tvcs_core.files.errors import DataError
    from tvcs_core.loss import Huber, LeastSquares, Logistic, Loss, SquaredHinge
    from tvcs_core.problem import Problem
    from tvcs_core.projection.blocks.projection import BlockProjection, project_blocks
    from tvcs_core.projection.blocks.readers import answer_block
    from tvcs_core.projection.projection import Projection, project, project_many
    from tvcs_core.solvers import Solution, solve
    from tvcs_core.solvers.best_subset import BestSubset, best_subset

__all__ = [
    "TVCS",
    "BestSubset",
    "BlockProjection",
    "Certificate",
    "DataError",
    "Huber",
    "LeastSquares",
    "Logistic",
    "Loss",
    "Problem",
    "Projection",
    "Solution",
    "SquaredHinge",
    "TVCSClassifier",
    "TVCSRegressor",
    "TVCSRegressorCV",
    "answer_block",
    "best_subset",
    "certify",
    "certify_blocks",
    "project",
    "project_blocks",
    "project_many",
    "solve",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "certificate": "Certificate certify certify_blocks",
        "constraint": "TVCS",
        "files.errors": "DataError",
        "estimators": "TVCSClassifier TVCSRegressor TVCSRegressorCV",
        "loss": "Huber LeastSquares Logistic Loss SquaredHinge",
        "problem": "Problem",
        "projection.blocks.readers": "answer_block",
        "projection.blocks.projection": "BlockProjection project_blocks",
        "projection.projection": "Projection project project_many",
        "solvers": "Solution solve",
        "solvers.best_subset": "BestSubset best_subset",
    },
)
