"""Constants of beliefs, with unit and source.

Logarithms are natural. A source that is a number is that of a decision (docs/decisions).
"""

# Workers who err independently: Bayes' rule (`independent`).
MIN_PROBABILITY = 1e-9
"""Probability of a class or an answer, at least; of an answer also 1 less this, at most.

Answers of workers who are certain and disagree then stay finite. Own choice: below the error rates
that gold of any size here can show."""

# Workers whose errors depend on each other (`dependent`), decision 64.
KNOTS = (1, 2, 3, 5, 10)
"""Numbers of answers at which the log weight of evidence is a parameter.

The last may be larger. Votes on the first 1, 2, 3, 5 and all answers are what the fit looks at."""
MIN_ANSWER_PROBABILITY = 1e-4
"""Probability of an answer given a class, at least, before it is tempered. Own choice: one answer
then moves the odds of two classes by 10,000 at most."""
MIN_LOG_ODDS = 0.1
"""Log odds of a worker, at least, where workers of a task are compared. Own choice: an accuracy of
.525 with two classes; below, the contrast of a task would be without bound."""
ACCURACY_MARGIN = 1e-3
"""Distance of an accuracy from 0 and 1, at least, where log odds are taken of it. Own choice: the
error rate that a thousand gold answers can show."""

# The gain of the next labels (`gain`).
LOOK_AHEAD = 5
"""Labels that are looked ahead, at most. Own choice: one label often adds nothing where three add
much (docs/answers.md), and every label more multiplies the outcomes to be looked at."""
MAX_OUTCOMES = 500
"""Counts of votes by independent workers, at most; with more, fewer labels are looked ahead. Own
choice, for speed: with up to seven classes it is all `LOOK_AHEAD` labels."""
GAIN_ROUNDING = 1e-12
"""Probability: a smaller gain is rounding. Some thousand times the precision of floats."""
MIN_TELLING_LOG_ODDS = 1e-6
"""Log odds of a worker whose next label is taken to change nothing, at most. Rounding."""
MIN_CLASS_PROBABILITY = 1e-12
"""Probability of a class, at least, where the ratio of two is taken. Rounding."""
MIN_DIVISOR = 1e-300
"""Difference of two probabilities, at least, by which is divided. A float above 0."""
MAX_LOGIT = 500.0
"""Log odds of two classes, at most. The exponential of 710 overflows."""
MAX_PRICE_UPDATES = 20
"""Iterations of Dinkelbach for the price of a label, at most; three or four do."""

# Which task is offered first.
FIRST_LABEL_BOOST = 4.0
"""Factor of the uncertainty of a task without labels where errors depend on each other. Own choice:
a task gets its first label before any its second, unless that tells next to nothing."""
