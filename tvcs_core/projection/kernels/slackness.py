"""Objective of a support, and gap between support and prices.

bound - objective is a sum of terms >= 0 (complementary slackness): every cap adds its price times
its unused capacity, every entry outside the support its positive surplus, every entry in it its
negative one. Summed in this way the gap is exactly 0 if every term is, and loses no digits by
cancellation otherwise.
"""

import numpy as np

from tvcs_core.jit import kernel


@kernel
def has_priced_room(prices, caps, used_rows, used_cols, used):
    """Return whether a cap with a price is not exactly full."""
    found = prices.total != 0.0 and used != caps.total
    for i in range(caps.rows.size):
        found |= prices.rows[i] != 0.0 and used_rows[i] != caps.rows[i]
    for j in range(caps.cols.size):
        found |= prices.cols[j] != 0.0 and used_cols[j] != caps.cols[j]
    return found


@kernel
def slackness_dense(values, squared, mask, prices, caps):
    """Return objective, slack of the entries, and whether that of the caps is nonzero."""
    n_rows, n_cols = values.shape
    row_duals, col_duals, total_dual = prices.rows, prices.cols, prices.total
    used_rows, used_cols = np.empty(n_rows, np.int64), np.empty(n_cols, np.int64)
    used_rows[:], used_cols[:] = 0, 0
    used = np.int64(0)
    # Neumaier's compensated summation: the objective is as good as rounded once.
    objective = 0.0
    carry = 0.0
    slack = 0.0
    for i in range(n_rows):
        row_price, line, kept_line = row_duals[i] + total_dual, values[i], mask[i]
        # Most entries are on the right side; vectorised code counts the others.
        held, wrong = 0, 0
        for j in range(n_cols):
            gain = line[j] * line[j] if squared else line[j]
            surplus, is_kept = gain - row_price - col_duals[j], kept_line[j]
            held += is_kept
            used_cols[j] += is_kept
            wrong += (surplus < 0.0) if is_kept else (surplus > 0.0)
        used_rows[i] = held
        used += held
        if held == 0 and wrong == 0:
            continue
        for j in range(n_cols):
            if kept_line[j]:
                gain = line[j] * line[j] if squared else line[j]
                total = objective + gain
                larger, smaller = max(objective, gain), min(objective, gain)
                carry += (larger - total) + smaller
                objective = total
        if wrong == 0:
            continue
        for j in range(n_cols):
            gain = line[j] * line[j] if squared else line[j]
            surplus = gain - row_price - col_duals[j]
            if kept_line[j]:
                slack -= min(surplus, 0.0)
            else:
                slack += max(surplus, 0.0)
    return objective + carry, slack, has_priced_room(prices, caps, used_rows, used_cols, used)


@kernel
def slackness_edges(row_of, col_of, values, squared, mask, prices, caps):
    """Do the same for a list of entries. Labels are -1 for entries in no group."""
    row_duals, col_duals, total_dual = prices.rows, prices.cols, prices.total
    used_rows, used_cols = np.empty(row_duals.size, np.int64), np.empty(col_duals.size, np.int64)
    used_rows[:], used_cols[:] = 0, 0
    used = np.int64(0)
    objective = 0.0
    carry = 0.0
    slack = 0.0
    for e in range(values.size):
        i = row_of[e]
        j = col_of[e]
        gain = values[e] * values[e] if squared else values[e]
        surplus = gain - total_dual
        if i >= 0:
            surplus -= row_duals[i]
        if j >= 0:
            surplus -= col_duals[j]
        if mask[e]:
            used += 1
            if i >= 0:
                used_rows[i] += 1
            if j >= 0:
                used_cols[j] += 1
            total = objective + gain
            larger, smaller = max(objective, gain), min(objective, gain)
            carry += (larger - total) + smaller
            objective = total
            if surplus < 0.0:
                slack -= surplus
        elif surplus > 0.0:
            slack += surplus
    return objective + carry, slack, has_priced_room(prices, caps, used_rows, used_cols, used)
