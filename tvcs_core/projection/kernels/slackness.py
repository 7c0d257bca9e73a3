"""How far a support and prices are from proving each other optimal.

bound - kept is the sum of terms that are each >= 0 (complementary slackness): the price of
every cap times what is left of it, the excess of every entry that is worth more than its
prices and was left out, and the shortfall of every entry that is worth less and was kept.
Summed this way the gap is exactly 0 when every term is, and loses no digits when it is not.
"""

import numpy as np

from tvcs_core.jit import kernel


@kernel
def has_priced_room(prices, caps, used_rows, used_cols, used):
    """Whether a cap that has a price is not full (or too full)."""
    found = prices.total != 0.0 and used != caps.total
    for i in range(caps.rows.size):
        found |= prices.rows[i] != 0.0 and used_rows[i] != caps.rows[i]
    for j in range(caps.cols.size):
        found |= prices.cols[j] != 0.0 and used_cols[j] != caps.cols[j]
    return found


@kernel
def slackness_dense(values, squared, keep, prices, caps):
    """Return (kept, slack of the entries, whether that of the caps is not 0)."""
    n_rows, n_cols = values.shape
    row_duals, col_duals, total_dual = prices.rows, prices.cols, prices.total
    used_rows, used_cols = np.empty(n_rows, np.int64), np.empty(n_cols, np.int64)
    used_rows[:], used_cols[:] = 0, 0
    used = np.int64(0)
    # Gains are summed with Neumaier's carry: the sum is as good as rounded once.
    kept = 0.0
    carry = 0.0
    slack = 0.0
    for i in range(n_rows):
        row_price, line, kept_line = row_duals[i] + total_dual, values[i], keep[i]
        # Most entries are on their side: how many are not is counted in vector code.
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
                total = kept + gain
                carry += (kept - total) + gain if kept >= gain else (gain - total) + kept
                kept = total
        if wrong == 0:
            continue
        for j in range(n_cols):
            gain = line[j] * line[j] if squared else line[j]
            surplus = gain - row_price - col_duals[j]
            if kept_line[j]:
                slack -= min(surplus, 0.0)
            else:
                slack += max(surplus, 0.0)
    return kept + carry, slack, has_priced_room(prices, caps, used_rows, used_cols, used)


@kernel
def slackness_edges(row_of, col_of, values, squared, keep, prices, caps):
    """Do the same for a list of entries. Labels are -1 where an entry is in no group."""
    row_duals, col_duals, total_dual = prices.rows, prices.cols, prices.total
    used_rows, used_cols = np.empty(row_duals.size, np.int64), np.empty(col_duals.size, np.int64)
    used_rows[:], used_cols[:] = 0, 0
    used = np.int64(0)
    kept = 0.0
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
        if keep[e]:
            used += 1
            if i >= 0:
                used_rows[i] += 1
            if j >= 0:
                used_cols[j] += 1
            total = kept + gain
            carry += (kept - total) + gain if kept >= gain else (gain - total) + kept
            kept = total
            if surplus < 0.0:
                slack -= surplus
        elif surplus > 0.0:
            slack += surplus
    return kept + carry, slack, has_priced_room(prices, caps, used_rows, used_cols, used)
