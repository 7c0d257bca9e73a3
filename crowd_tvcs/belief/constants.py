"""Constants of beliefs, with unit and source; logarithms are natural.

Those without another source are own choices, beyond the reach of data or labels.
"""

# Workers who err independently: Bayes' rule (`independent`).
MIN_PROBABILITY = 1e-9  # of a class or an answer; of an answer 1 less this at most

# Workers whose errors depend on each other (`dependent`; docs/decisions, 64).
KNOTS = (1, 2, 3, 5, 10)  # answers of a task at which their weight is fitted; the last may be more
MIN_ANSWER_PROBABILITY = 1e-4  # of an answer given a class, before it is tempered
MIN_LOG_ODDS = 0.1  # of a worker in the contrast of a task, which grows without bound below
ACCURACY_MARGIN = 1e-3  # distance of accuracies from 0 and 1 in log odds

# The gain of the next labels (`gain`).
LOOK_AHEAD = 5  # labels: one often adds nothing where three add much (docs/answers.md)
MAX_OUTCOMES = 500  # counts of votes, for speed: up to seven classes have fewer of 5 labels
GAIN_ROUNDING = 1e-12  # probability: a smaller gain is rounding
MIN_TELLING_LOG_ODDS = 1e-6  # of a worker: with less, their label changes nothing
MIN_CLASS_PROBABILITY = 1e-12  # in the ratio of two classes
MIN_DIVISOR = 1e-300  # difference of two probabilities
MAX_LOGIT = 500.0  # log odds of two classes; exp(710) overflows
DEFAULT_MIN_GAIN = 0.01  # right labels that a label must add beside a target (docs/campaigns.md)
MAX_PRICE_UPDATES = 20  # Dinkelbach's iterations; three or four do

# The offer of tasks: each gets its first label before any its second, where errors depend.
FIRST_LABEL_BOOST = 4.0  # factor of the uncertainty of a task without labels
