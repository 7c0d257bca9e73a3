"""Data sets that the packages carry: files that a wheel has beside the code."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path


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
