"""Kernels of partial information decomposition."""

import numpy as np

from tvcs_core.jit import kernel


@kernel
def decompose(codes, n_codes, logs, target, genes, n_third, shares, information):
    """Fill the unique share and the mutual information, in nats, of `genes` about a target.

    The first `n_third` genes are third genes. The share of a gene is its unique information, summed
    over these without itself and the target, divided by its mutual information. `codes` is
    [gene, sample], of genes with `n_codes` values each; ``logs[k]`` is the logarithm of k.
    """
    n = codes.shape[1]
    y = codes[target]
    of_y = np.zeros(n_codes[target], np.int64)
    for s in range(n):
        of_y[y[s]] += 1
    counts = np.empty((n_codes.max(), of_y.size), np.int64)
    specific = np.zeros((of_y.size, genes.size))
    third = np.empty((of_y.size, n_third))
    n_others = 0
    for k in range(genes.size):
        if genes[k] == target:
            continue
        specific_information(codes[genes[k]], y, of_y, logs, counts, specific[:, k])
        if k < n_third:
            third[:, n_others] = specific[:, k]
            n_others += 1
    sums = np.zeros((of_y.size, n_others + 1))
    for b in range(of_y.size):
        third[b, :n_others].sort()
        for k in range(n_others):
            sums[b, k + 1] = sums[b, k] + third[b, k]
    for k in range(genes.size):
        shares[k] = information[k] = redundant = 0.0
        itself = int(k < n_third)
        for b in range(of_y.size):
            # A third gene shares the smaller of both specific informations: below the gene all of
            # its own, above all of the gene's. The gene itself is among those above.
            own = specific[b, k]
            below = np.searchsorted(third[b, :n_others], own)
            common = sums[b, below] + (n_others - below - itself) * own
            redundant += of_y[b] * common / n
            information[k] += of_y[b] * own / n
        if information[k] > 0.0:
            shares[k] = max(n_others - itself - redundant / information[k], 0.0)


@kernel
def specific_information(x, y, of_y, logs, counts, found):
    """Fill the specific information of x about each value of y: the divergence of p(x|y) from p(x).

    `of_y` counts the samples of each value of y; `counts` is scratch memory, [value of x, of y].
    """
    counts[:] = 0
    for s in range(x.size):
        counts[x[s], y[s]] += 1
    found[:] = 0.0
    for row in counts:
        total = row.sum()
        for b in range(of_y.size):
            if row[b] > 0:
                log_ratio = logs[row[b]] + logs[x.size] - logs[of_y[b]] - logs[total]
                found[b] += row[b] * log_ratio / of_y[b]
    for b in range(of_y.size):
        found[b] = max(found[b], 0.0)
