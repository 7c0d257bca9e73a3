"""Copy the addresses of `packaging/home.toml` to the files that need them: `[--write]`.

Without `--write` the command changes nothing. It says which fields are empty and which files hold
something else than the fields say, and ends with exit code 1 if there is anything to say.
Standard library only.
"""

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIELDS = ("repository", "documentation", "security", "conduct", "maintainers", "archive")
ADDRESS = re.compile(r"https://[\w.-]+\.\w+(/[\w.~/#?=&%+-]*)?")
MAIL = re.compile(r"[\w.+-]+@[\w-]+(\.[\w-]+)+")
DOI = re.compile(r"10\.\d{4,}/\S+")

Home = dict[str, object]


def main() -> int:
    """Write, or say what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--write", action="store_true", help="copy the fields to the files")
    try:
        return run(ROOT, write=parser.parse_args().write)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def run(root: Path, *, write: bool) -> int:
    """Do what the command line asks for in a folder; the exit code."""
    if write:
        for name, text in places(root, read(root)).items():
            (root / name).write_text(text, "utf-8")
    found = [*missing(root), *differing(root)]
    print("\n".join(found) or "every address is filled in")
    return 1 if found else 0


def read(root: Path) -> Home:
    """Return the fields of `packaging/home.toml`, checked.

    Raises
    ------
    ValueError
        If a field is unknown, absent, or not an address, a DOI or a list of names.
    """
    home = tomllib.loads((root / "packaging" / "home.toml").read_text("utf-8"))
    if set(home) != set(FIELDS):
        odd = ", ".join(sorted(set(home) ^ set(FIELDS)))
        raise ValueError(f"packaging/home.toml must have {', '.join(FIELDS)}: look at {odd}")
    for field, form, example in (
        ("repository", ADDRESS, "https://github.com/OWNER/tvcs"),
        ("documentation", ADDRESS, "https://tvcs.readthedocs.io"),
        ("security", re.compile(f"{ADDRESS.pattern}|{MAIL.pattern}"), "security@example.org"),
        ("conduct", MAIL, "conduct@example.org"),
        ("archive", DOI, "10.5281/zenodo.1"),
    ):
        if home[field] and not form.fullmatch(str(home[field])):
            raise ValueError(
                f"packaging/home.toml: {field} must be such as {example}, found {home[field]!r}"
            )
    if not isinstance(home["maintainers"], list):
        raise ValueError("packaging/home.toml: maintainers must be a list")
    return home


def missing(root: Path) -> list[str]:
    """Say which fields are empty, one line each."""
    home = read(root)
    return [f"packaging/home.toml: {field} is empty" for field in home if not home[field]]


def differing(root: Path) -> list[str]:
    """Say which files hold something else than the fields say, one line each."""
    texts = places(root, read(root))
    changed = [name for name, text in texts.items() if text != (root / name).read_text("utf-8")]
    return [f"{name} differs: run python3 packaging/home.py --write" for name in changed]


def places(root: Path, home: Home) -> dict[str, str]:
    """Return every file that holds an address, as it should be.

    The lines between the marks `home: begin` and `home: end` are made anew, in order.
    """
    found = {}
    for name, makers in PLACES.items():
        text = (root / name).read_text("utf-8")
        kept = re.split(r"(?<=home: begin)([^\n]*\n)(?:.*\n)*?(?=.*home: end)", text)
        if len(kept) != 2 * len(makers) + 1:
            raise ValueError(f"{name} must have {len(makers)} pairs of home: begin and home: end")
        lines = ["".join(f"{line}\n" for line in make(home)) for make in makers]
        after = [end + new for end, new in zip(kept[1::2], lines, strict=True)]
        found[name] = kept[0] + "".join(
            new + old for new, old in zip(after, kept[2::2], strict=True)
        )
    return found


def _urls(home: Home) -> list[str]:
    repository, documentation = home["repository"], home["documentation"]
    lines = [f'Documentation = "{documentation}"'] if documentation else []
    if repository:
        lines += [
            f'Source = "{repository}"',
            f'Issues = "{repository}/issues"',
            f'Changelog = "{repository}/blob/main/CHANGELOG.md"',
        ]
    return ["[project.urls]", *lines, ""] if lines else []


def _citation(home: Home) -> list[str]:
    keys = {"repository-code": "repository", "url": "documentation", "doi": "archive"}
    return [f"{key}: {json.dumps(home[field])}" for key, field in keys.items() if home[field]]


def _security(home: Home) -> list[str]:
    where = f"to {home['security']}" if home["security"] else "to the people who gave you tvcs"
    return [f"Report a weakness in private {where}, not in a public issue."]


def _conduct(home: Home) -> list[str]:
    where = home["conduct"] or "the people who gave you tvcs"
    return [f"Report a breach to {where}. Reports are read in confidence, and answered."]


def _contacts(home: Home) -> list[str]:
    repository, documentation, lines = home["repository"], home["documentation"], []
    for name, url, about in (
        ("Documentation", documentation, "Most questions are answered here."),
        ("A weakness", repository and f"{repository}/security", "In private, please."),
    ):
        if url:
            lines += [f"  - name: {name}", f"    url: {url}", f"    about: {about}"]
    return ["contact_links:", *lines] if lines else []


def _recipe(home: Home) -> list[str]:
    keys = {"homepage": "repository", "repository": "repository", "documentation": "documentation"}
    return [f"  {key}: {home[field]}" for key, field in keys.items() if home[field]]


def _maintainers(home: Home) -> list[str]:
    names = home["maintainers"]
    assert isinstance(names, list)  # `read` has looked
    lines = [f"    - {name}" for name in names]
    return ["extra:", "  recipe-maintainers:", *lines] if lines else []


def _scverse(home: Home) -> list[str]:
    repository, documentation = home["repository"], home["documentation"]
    lines = [f"project_home: {repository}"] if repository else []
    if documentation:
        lines += [f"documentation_home: {documentation}"]
        lines += [f"tutorials_home: {documentation}/docs/tutorials.html"]
    return lines


PLACES: dict[str, list[Callable[[Home], list[str]]]] = {
    "pyproject.toml": [_urls],
    "CITATION.cff": [_citation],
    "SECURITY.md": [_security],
    "CODE_OF_CONDUCT.md": [_conduct],
    ".github/ISSUE_TEMPLATE/config.yml": [_contacts],
    "packaging/conda/recipe.yaml": [_recipe, _maintainers],
    "packaging/scverse/meta.yaml": [_scverse],
}


if __name__ == "__main__":
    sys.exit(main())
