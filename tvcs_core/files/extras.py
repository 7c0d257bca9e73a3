"""How to get the packages that only some users need."""

from __future__ import annotations

import json
import re

PACKAGE = "tvcs"
IN_ITS_FOLDER = "pip install '.[{extra}]' in the folder of tvcs"
_OF_EXTRA = re.compile(r"([^;]+?)\s*;\s*extra\s*==\s*['\"]([\w-]+)['\"]")


def to_install(extra: str) -> str:
    """Return the words that install an extra where tvcs is installed as it is here.

    tvcs is on no package index, so its name with the extra is found by nobody. Installed from its
    folder, that is where the extra is; installed from a wheel, what the extra asks for is named.
    """
    from importlib import metadata

    try:
        installed = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        return IN_ITS_FOLDER.format(extra=extra)
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    pairs = [_OF_EXTRA.fullmatch(line.strip()) for line in installed.requires or []]
    needed = [pair[1].strip() for pair in pairs if pair and pair[2] == extra]
    if "dir_info" in origin or not needed:
        return IN_ITS_FOLDER.format(extra=extra)
    return f"pip install {' '.join(repr(name) for name in needed)}"
