"""Each of several processes rewrites the asserts of a part of the test files, for all of them."""

import sys
from contextlib import suppress

from _pytest.assertion import rewrite


def rewrite_part(config, number, of):
    """Write what pytest makes of every `of`-th test file where all processes look for it first."""
    if sys.dont_write_bytecode:
        return
    state = config.stash[rewrite.assertstate_key]
    given = [config.invocation_params.dir / one.partition("::")[0] for one in config.args]
    files = {file for one in given for file in ([one] if one.is_file() else one.rglob("test_*.py"))}
    for path in sorted(files)[number::of]:
        cache = rewrite.get_cache_dir(path)
        kept = cache / (path.stem + rewrite.PYC_TAIL)
        with suppress(Exception):  # what is wrong with a file is said where it is collected
            if rewrite._read_pyc(path, kept, state.trace) is None and rewrite.try_makedirs(cache):
                status, code = rewrite._rewrite_test(path, config)
                rewrite._write_pyc(state, code, status, kept)
