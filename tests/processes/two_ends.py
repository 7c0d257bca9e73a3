"""Where each of several processes that run the tests begins."""

from xdist.scheduler import LoadFileScheduling

# Files of tests that share nothing, the longest first. The processes meet there, and as each test
# is taken by itself, none waits long for the last of another.
ONE_BY_ONE = (
    *("tests/test_packaging.py", "tests/test_notebooks.py", "tests/test_docs.py"),
    *("tests/test_interrupt.py", "tests/test_hostile_input.py"),
)
# Those at one end need the kernels of the projection and of crowds, those at the other the kernels
# of networks. By the time the processes meet in the middle, where all are needed, they are cached.
ORDER = ("tests/core/", "tests/crowd/", "tests/benchmarks/", *ONE_BY_ONE, "tests/", "tests/grn/")
MIDDLE = "tests/crowd/"  # its first files need other kernels than those of the projection


class TwoEnds(LoadFileScheduling):
    """Every other process takes its files from the end of the list, the third from the middle.

    A file is run by one process, so what its tests share is made once; those of `ONE_BY_ONE` share
    nothing and go to whichever process is free.
    """

    def __init__(self, config, log=None):
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid):
        return nodeid if nodeid.startswith(ONE_BY_ONE) else super()._split_scope(nodeid)

    def _assign_work_unit(self, node):
        self.workqueue.move_to_end(self.next_unit(self.nodes.index(node)), last=False)
        super()._assign_work_unit(node)

    def next_unit(self, number):
        """Return the unit that process `number` takes next."""
        if number % 2:
            return next(reversed(self.workqueue))
        middle = (unit for unit in self.workqueue if number and unit.startswith(MIDDLE))
        return next(middle, next(iter(self.workqueue)))


def collected(nodes, number):
    """Return files and folders in the order in which process `number` collects them.

    Each file is compiled by one process, and the others read what it kept: half of the time of
    collecting from a fresh checkout. So no two begin at the same place.
    """
    nodes = list(nodes or ())
    middle = len(nodes) // 2
    return nodes[::-1] if number % 2 else nodes[middle:] + nodes[:middle] if number else nodes


def place(item):
    """Return where in `ORDER` the most of a test's folders is named."""
    named = [len(folder) * item.nodeid.startswith(folder) for folder in ORDER]
    return named.index(max(named))
