"""Texts of the pages of workers: English, German, or a file of the operator."""

from __future__ import annotations

import json
import string
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from tvcs_core.files.display import joined, quoted
from tvcs_core.files.errors import DataError

LANGUAGES = ("en", "de")
"""Languages that are carried."""
DIRECTIONS = ("ltr", "rtl")
OF_SCRIPT = "script_"
"""Begins the names of the texts that the script of the page says."""
MAX_CHARACTERS = 500
"""Most characters of a text."""


@lru_cache
def carried(language: str = "en") -> Mapping[str, str]:
    """Return the texts of a language that is carried."""
    there = files("crowd_tvcs.serve") / "languages" / f"{language}.json"
    return json.loads(there.read_text(encoding="utf-8"))


def read_texts(language: str) -> Mapping[str, str]:
    """Return the texts of a language, or of a file; those that it lacks are English.

    The file is a JSON object with the names of ``en.json``: each text may have the places in braces
    of the English one, such as ``{n}``. `lang` is the language as in HTML, and `dir` is ``ltr`` or
    ``rtl``.

    Raises
    ------
    DataError
        Naming the file and the text: an unknown name, something other than text, a place that is
        not in the English text, or a direction that is none.
    """
    if language in LANGUAGES:
        return carried(language)
    path, english = Path(language), carried()
    if not path.is_file():
        raise ValueError(
            f"--language must be {' or '.join(LANGUAGES)}, or a file, found {quoted(language)}"
        )
    try:
        given: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"must be JSON in UTF-8: {error}", path=path) from None
    if not isinstance(given, dict):
        raise DataError('must be an object such as {"lang": "fr", "skip": "..."}', path=path)
    for name, text in given.items():
        _check(path, name, text, english)
    if "lang" not in given:
        raise DataError('must have "lang", the language as in HTML, such as fr or ar', path=path)
    return {**english, **given}


def missing(texts: Mapping[str, str]) -> list[str]:
    """Return the names of the texts of another language that are still English."""
    english = carried()
    if texts["lang"].partition("-")[0] == english["lang"]:
        return []
    same = ("dir", "one", "other")
    return [name for name in english if texts[name] == english[name] and name not in same]


def _check(path: Path, name: str, text: object, english: Mapping[str, str]) -> None:
    if name not in english:
        known = joined(list(english))
        raise DataError(f"has the text {quoted(name)}, which is none; there are {known}", path=path)
    if not isinstance(text, str) or not 0 < len(text.strip()) <= MAX_CHARACTERS:
        raise DataError(
            f"{quoted(name)} must be text of 1 to {MAX_CHARACTERS} characters", path=path
        )
    if name == "dir" and text not in DIRECTIONS:
        raise DataError(f"'dir' must be ltr or rtl, found {quoted(text)}", path=path)
    try:
        found = _places(text)
    except ValueError as error:
        raise DataError(f"{quoted(name)} has a brace too many: {error}", path=path) from None
    allowed = _places(english[name])
    if found != allowed:
        wanted = " ".join(f"{{{one}}}" for one in sorted(allowed)) or "no place in braces"
        raise DataError(f"{quoted(name)} must have {wanted}, found {quoted(text)}", path=path)


def _places(text: str) -> set[str]:
    return {
        name + ("!" if form or how else "")
        for _, name, form, how in string.Formatter().parse(text)
        if name is not None
    }
