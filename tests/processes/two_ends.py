"""Where each of several processes that run the tests begins."""

from xdist.scheduler import LoadFileScheduling

# Those at one end need the kernels of the projection and of crowds, those at the other the kernels
# of networks. By the time the processes meet in the middle, where all are needed, they are cached.
ORDER = ("tests/core/", "tests/crowd/", "tests/benchmarks/", "tests/", "tests/grn/")
# Files of long tests that share nothing: as a whole, the other process would wait for the last.
ONE_BY_ONE = ("tests/test_docs.py", "tests/test_hostile_input.py", "tests/test_notebooks.py")


class TwoEnds(LoadFileScheduling):
    """Every other process takes its files from the end of the list.

    A file is run by one process, so what its tests share is made once; those of `ONE_BY_ONE` share
    nothing and go to whichever process is free.
    """

    def __init__(self, config, log=None):
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid):
        return nodeid if nodeid.startswith(ONE_BY_ONE) else super()._split_scope(nodeid)

    def _assign_work_unit(self, node):
        if self.nodes.index(node) % 2:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)


def place(item):
    """Return where in `ORDER` the most of a test's folders is named."""
    named = [len(folder) * item.nodeid.startswith(folder) for folder in ORDER]
    return named.index(max(named))
