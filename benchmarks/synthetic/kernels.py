"""The proximal step of the exclusive lasso, by coordinate descent on magnitudes."""

from tvcs_core.jit import kernel


@kernel
def shrink_exclusive(size, weight, row_of, col_of, w, row_sums, col_sums, tol, max_sweeps):
    """Minimise ``1/2 |w - size|**2 + weight * sum_g (sum of w_g)**2`` over ``w >= 0``.

    Each coordinate is set to its best value given the others, until none moves by more than `tol`.
    The penalty is smooth and the constraints are separable, so coordinate descent reaches the
    minimum. `w` holds the start, `row_sums` and `col_sums` its sums.
    """
    for _ in range(max_sweeps):
        largest = 0.0
        for e in range(size.size):
            i = row_of[e]
            j = col_of[e]
            others = 0.0
            curvature = 1.0
            if i >= 0:
                others += row_sums[i] - w[e]
                curvature += 2.0 * weight
            if j >= 0:
                others += col_sums[j] - w[e]
                curvature += 2.0 * weight
            best = max(0.0, size[e] - 2.0 * weight * others) / curvature
            move = best - w[e]
            w[e] = best
            if i >= 0:
                row_sums[i] += move
            if j >= 0:
                col_sums[j] += move
            largest = max(largest, abs(move))
        if largest <= tol:
            break
