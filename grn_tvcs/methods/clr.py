"""CLR, context likelihood of relatedness: mutual information against the background of both genes.

    z_i(j) = max(0, (I(i; j) - mean_i) / sd_i),     score(i, j) = sqrt(z_i(j)^2 + z_j(i)^2),

with mean_i and sd_i (n - 1 in the denominator) over the mutual information of gene i with all
others, itself left out, as in minet. The mutual information is that of `shared.mutual_information`.
Faith, Hayete, Thaden et al., PLoS Biology 5, e8 (2007).
"""

from __future__ import annotations

import numpy as np

from grn_tvcs.expression.expression import Expression
from grn_tvcs.methods.shared.mutual_information import mutual_information, rank_correlation
from grn_tvcs.network.network import Network
from grn_tvcs.network.rules import Rules


def clr(expression: Expression, rules: Rules, rng: np.random.Generator) -> Network:
    """Score pairs by how far their mutual information stands out for either gene; same both ways.

    A gene that is as near to all others has no background: its z is 0.
    """
    rho = rank_correlation(expression.values)
    information = mutual_information(rho)
    n_others = len(information) - 1
    mean = information.sum(axis=0) / max(n_others, 1)
    away = information - mean  # of column i: how far gene i's values lie from its mean
    np.fill_diagonal(away, 0.0)
    sd = np.sqrt((away * away).sum(axis=0) / max(n_others - 1, 1))
    has_spread = sd > 1e-12 * mean
    z = np.clip(away / np.where(has_spread, sd, np.inf), 0.0, None)
    scores = np.hypot(z, z.T)
    return Network(expression.genes, scores, np.sign(rho).astype(np.int8))
