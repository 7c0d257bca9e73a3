"""Changes of a support within the caps that lower the loss: additions, exchanges and chains.

An addition needs room in both lines and the total. In an exchange an entry leaves and another
takes its place. In a chain i1 -> j1, i2 -> j2 both lines of j1 are full: i1 leaves its row, i2 its
column, and j2 takes the room that these left elsewhere.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.jit import kernel
from tvcs_core.solvers.kernels.fit import (
    NONE,
    can_enter,
    cost_of_leaving,
    enter,
    explained,
    gain_of_entering,
    leave,
)

Ints = NDArray[np.int64]
WIDTH = 8  # slots of each line, the cheapest to leave, that take part in chains


class Lines(NamedTuple):
    """The lines (row and column groups) of all entries, and the room that the support leaves.

    The last line of either view has no cap: it is that of entries in no group.
    """

    row_of: Ints  # line of each entry
    col_of: Ints
    row_room: Ints  # entries that each line can still take
    col_room: Ints
    total_room: Ints  # (1,)
    may_enter: NDArray[np.bool_]
    of_row: Ints  # (slots + lines + 1,) scratch: starts of the rows' lists of slots, then these
    of_col: Ints
    triples: Ints  # (triples, 3) scratch: j1, i1, i2 of the most promising chains
    promise: NDArray[np.float64]  # (triples,) their changes before j2


@kernel
def put(fit, lines, entry):
    """Add an entry, and take its room."""
    enter(fit, entry)
    lines.row_room[lines.row_of[entry]] -= 1
    lines.col_room[lines.col_of[entry]] -= 1
    lines.total_room[0] -= 1


@kernel
def take(fit, lines, slot):
    """Remove the entry of a slot, and free its room."""
    entry = fit.entry[slot]
    lines.row_room[lines.row_of[entry]] += 1
    lines.col_room[lines.col_of[entry]] += 1
    lines.total_room[0] += 1
    leave(fit, slot)


@kernel
def fill(fit, lines, entries):
    """Add the given entries, but for those that depend linearly on the ones before."""
    for entry in entries:
        if fit.slot_of[entry] < 0 and can_enter(fit, entry):
            put(fit, lines, entry)


@kernel
def list_slots(fit, line_of, room, lists):
    """List the slots of each line: ``lists[lists[line] : lists[line + 1]]``."""
    n = room.size
    lists[: n + 1] = 0
    for slot in range(fit.entry.size):
        if fit.entry[slot] >= 0:
            lists[line_of[fit.entry[slot]] + 1] += 1
    lists[0] = n + 1
    for line in range(n):
        lists[line + 1] += lists[line]
    for slot in range(fit.entry.size):
        if fit.entry[slot] >= 0:
            line = line_of[fit.entry[slot]]
            lists[lists[line]] = slot
            lists[line] += 1
    for line in range(n, 0, -1):
        lists[line] = lists[line - 1]
    lists[0] = n + 1


@kernel
def best_change(fit, lines):
    """Return the best addition or exchange: its gain, the entry, and the slot that leaves or -1.

    The gain is 0 if no change lowers the loss.
    """
    q = fit.counts.size
    list_slots(fit, lines.row_of, lines.row_room, lines.of_row)
    list_slots(fit, lines.col_of, lines.col_room, lines.of_col)
    # The cheapest slot to leave, and the cheapest of another target.
    first, second, cheapest, next_cheapest = -1, -1, np.inf, np.inf
    for slot in range(fit.entry.size):
        if fit.entry[slot] >= 0:
            cost = cost_of_leaving(fit, slot, NONE)
            if cost < cheapest:
                if first >= 0 and fit.entry[first] % q != fit.entry[slot] % q:
                    second, next_cheapest = first, cheapest
                first, cheapest = slot, cost
            elif cost < next_cheapest and fit.entry[first] % q != fit.entry[slot] % q:
                second, next_cheapest = slot, cost
    best, best_entry, best_slot = 0.0, -1, -1
    for entry in range(fit.slot_of.size):
        if fit.slot_of[entry] >= 0 or not lines.may_enter[entry]:
            continue
        row, col, t = lines.row_of[entry], lines.col_of[entry], entry % q
        in_row, in_col = lines.row_room[row] > 0, lines.col_room[col] > 0
        alone = gain_of_entering(fit, entry, NONE, NONE)
        if in_row and in_col and lines.total_room[0] > 0:
            if alone > best:
                best, best_entry, best_slot = alone, entry, -1
            continue
        if in_row and in_col:
            # Only the total is full: of other targets the cheapest slot is the best.
            other = second if first >= 0 and fit.entry[first] % q == t else first
            if other >= 0:
                gain = alone - (next_cheapest if other == second else cheapest)
                if gain > best:
                    best, best_entry, best_slot = gain, entry, other
            for m in range(fit.counts[t]):
                slot = fit.members[t, m]
                gain = gain_of_entering(fit, entry, slot, NONE) - cost_of_leaving(fit, slot, NONE)
                if gain > best:
                    best, best_entry, best_slot = gain, entry, slot
            continue
        lists, line = (lines.of_col, col) if in_row else (lines.of_row, row)
        for m in range(lists[line], lists[line + 1]):
            slot = lists[m]
            if in_row or in_col or lines.col_of[fit.entry[slot]] == col:
                gain = gain_of_entering(fit, entry, slot, NONE) - cost_of_leaving(fit, slot, NONE)
                if gain > best:
                    best, best_entry, best_slot = gain, entry, slot
    return best, best_entry, best_slot


@kernel
def cheapest_first(fit, room, lists):
    """Bring the slots that are cheapest to leave to the front of the list of each capped line."""
    for line in range(room.size - 1):
        end = lists[line + 1]
        for m in range(lists[line], min(lists[line] + WIDTH, end)):
            least, at = np.inf, m
            for n in range(m, end):
                cost = cost_of_leaving(fit, lists[n], NONE)
                if cost < least:
                    least, at = cost, n
            lists[m], lists[at] = lists[at], lists[m]


@kernel
def list_triples(fit, lines):
    """List the triples j1, i1, i2 whose exchange alone changes the loss for the best; their number.

    Only entries j1 count both of whose lines are full.
    """
    found, size = 0, lines.promise.size
    cheapest_first(fit, lines.row_room, lines.of_row)
    cheapest_first(fit, lines.col_room, lines.of_col)
    for entry in range(fit.slot_of.size):
        row, col = lines.row_of[entry], lines.col_of[entry]
        if fit.slot_of[entry] >= 0 or not lines.may_enter[entry]:
            continue
        if lines.row_room[row] > 0 or lines.col_room[col] > 0:
            continue
        end_of_row = min(lines.of_row[row] + WIDTH, lines.of_row[row + 1])
        end_of_col = min(lines.of_col[col] + WIDTH, lines.of_col[col + 1])
        for m in range(lines.of_row[row], end_of_row):
            a = lines.of_row[m]
            if lines.col_of[fit.entry[a]] == col:
                continue
            for n in range(lines.of_col[col], end_of_col):
                b = lines.of_col[n]
                if lines.row_of[fit.entry[b]] == row:
                    continue
                change = gain_of_entering(fit, entry, a, b) - cost_of_leaving(fit, a, b)
                if found == size and change <= lines.promise[size - 1]:
                    continue
                at = min(found, size - 1)
                while at > 0 and lines.promise[at - 1] < change:
                    lines.promise[at] = lines.promise[at - 1]
                    lines.triples[at] = lines.triples[at - 1]
                    at -= 1
                lines.promise[at] = change
                lines.triples[at, 0] = entry
                lines.triples[at, 1], lines.triples[at, 2] = fit.entry[a], fit.entry[b]
                found = min(found + 1, size)
    return found


@kernel
def best_addition(fit, lines):
    """Return the gain and the entry of the best addition; 0 and -1 if none lowers the loss."""
    best, best_entry = 0.0, -1
    for entry in range(fit.slot_of.size):
        if (
            fit.slot_of[entry] < 0
            and lines.may_enter[entry]
            and lines.row_room[lines.row_of[entry]] > 0
            and lines.col_room[lines.col_of[entry]] > 0
        ):
            gain = gain_of_entering(fit, entry, NONE, NONE)
            if gain > best:
                best, best_entry = gain, entry
    return best, best_entry


@kernel
def change_by_chain(fit, lines, least):
    """Make the first of the promising chains that lowers the loss by more than `least`.

    Returns the gain, 0 if there is none. Needs the lists that `best_change` made.
    """
    for n in range(list_triples(fit, lines)):
        entry = lines.triples[n, 0]
        first, second = lines.triples[n, 1], lines.triples[n, 2]
        take(fit, lines, fit.slot_of[first])
        take(fit, lines, fit.slot_of[second])
        if can_enter(fit, entry):
            put(fit, lines, entry)
            gain, other = best_addition(fit, lines)
            if lines.promise[n] + gain > least:
                if other >= 0:
                    put(fit, lines, other)
                return lines.promise[n] + gain
            take(fit, lines, fit.slot_of[entry])
        put(fit, lines, first)
        put(fit, lines, second)
    return 0.0


@kernel
def improve(fit, lines, least, most):
    """Change the support until no change lowers the loss by more than `least`.

    Returns the number of changes, which is at most `most`.
    """
    for change in range(most):
        gain, entry, slot = best_change(fit, lines)
        if gain > least:
            if slot >= 0:
                take(fit, lines, slot)
            put(fit, lines, entry)
        elif change_by_chain(fit, lines, least) <= least:
            return change
    return most


@kernel
def shake(fit, lines, entries, least, most):
    """Remove the given entries and improve what is left; return what the fit explains then."""
    for entry in entries:
        take(fit, lines, fit.slot_of[entry])
    improve(fit, lines, least, most)
    return explained(fit)


@kernel
def restore(fit, lines, entries):
    """Make the given entries the support again."""
    wanted = np.zeros(fit.slot_of.size, np.bool_)
    for entry in entries:
        wanted[entry] = True
    for slot in range(fit.entry.size):
        if fit.entry[slot] >= 0 and not wanted[fit.entry[slot]]:
            take(fit, lines, slot)
    fill(fit, lines, entries)
