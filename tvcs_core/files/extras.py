"""Optional parts of an installation: data sets, and dependencies with their install commands."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path

PACKAGE = "tvcs"
IN_ITS_FOLDER = "pip install '.[{extra}]' in the folder of tvcs"
_OF_EXTRA = re.compile(r"([^;]+?)\s*;\s*extra\s*==\s*['\"]([\w-]+)['\"]")


def to_install(extra: str) -> str:
    """Return the command that installs an extra into this installation of tvcs.

    tvcs is on no package index, so pip cannot find ``tvcs[extra]`` by name. If tvcs was installed
    from a source folder, the command names that folder; otherwise it names the required packages.
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


def carried(package: str, name: str) -> Path:
    """Return the folder of a data set of a package.

    An installed package has it in its own folder ``data``. In a folder with the sources it stands
    in ``data`` beside the packages.

    Raises
    ------
    FileNotFoundError
        If the installation lacks it.
    """
    home = Path(str(import_module(package).__file__)).parent
    for folder in (home / "data" / name, home.parent / "data" / name):
        if (folder / "DATASHEET.md").is_file():
            return folder
    raise FileNotFoundError(
        f"{home / 'data' / name}: this installation of tvcs lacks the data set; install it again"
    )
