"""Optional parts of an installation: data sets, and dependencies with their install commands."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path

from tvcs_core.files.errors import DataError
from tvcs_core.files.folders import write_whole

PACKAGE = "tvcs"
DATA_SETS = {"network30": "grn_tvcs", "bsubtilis": "grn_tvcs", "crowd40": "crowd_tvcs"}
"""The data sets that are installed, and the packages that have them."""
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


def write_data_set(name: str, out: Path) -> Iterator[Path]:
    """Write the files of an installed data set into ``out/name``; yield each file that is new.

    A file that is already there with the same bytes is left as it is.

    Raises
    ------
    DataError
        If a file of another content is there; nothing is written then.
    """
    source, target = carried(DATA_SETS[name], name), out / name
    files = {path.name: path.read_bytes() for path in sorted(source.iterdir()) if path.is_file()}
    there = [file for file in files if (target / file).exists()]
    for file in there:
        if not (target / file).is_file() or (target / file).read_bytes() != files[file]:
            message = f"is not the file of the data set {name}; move it away, or give another --out"
            raise DataError(message, path=target / file)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror})", path=target) from None
    for file in sorted(files.keys() - set(there)):
        write_whole(target / file, partial(_fill, content=files[file]))
        yield target / file


def _fill(path: Path, content: bytes) -> None:
    path.write_bytes(content)
