"""Make a release ready and say what to upload: `[--environments NAME ...]`; uploads nothing.

Refuses a working tree that differs from its commit, a version that is not the same everywhere or
has no section in CHANGELOG.md, one that was tagged before, and empty fields of
`packaging/home.toml`. With `--tagged TAG` it only says whether TAG may be published. Else it builds
the source distribution and the wheel, checks what they hold and say of themselves, and uses them in
empty environments.
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"tvcs_core", "grn_tvcs", "crowd_tvcs"}
NEEDED_IN_SOURCE = (
    *("tests/conftest.py", "packaging/release.py", "CHANGELOG.md"),
    *("LICENSE", "data/bsubtilis/LICENSE"),
)
USED_IN = ("newest", "sdist")
RECIPE = "packaging/conda/recipe.yaml"
INDEX = "https://pypi.org/packages/source/t/tvcs/"


def main() -> int:
    """Refuse, or build, check and say what to upload."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--environments", nargs="*", default=USED_IN, metavar="NAME")
    parser.add_argument("--tagged", metavar="TAG", help="only say whether TAG may be published")
    given = parser.parse_args()
    import environments
    import home

    version = version_of(ROOT)
    refused = refusals(ROOT, version, given.tagged)
    refused += [*home.missing(ROOT), *home.differing(ROOT)]
    if refused:
        print("\n".join(f"error: {line}" for line in refused), file=sys.stderr)
        return 2
    if given.tagged:
        print(f"{given.tagged} may be published")
        return 0

    dist = ROOT / "dist" / f"tvcs-{version}"
    shutil.rmtree(dist, ignore_errors=True)
    environments.build(dist)
    shutil.rmtree(dist / "unpacked")
    files = sorted([*dist.glob("*.whl"), *dist.glob("*.tar.gz")])
    checks = [
        [sys.executable, "-m", "twine", "check", "--strict", *map(str, files)],
        [environments.UV, "tool", "run", "cffconvert", "--validate", "-i", "CITATION.cff"],
    ]
    wrong = [*contents(files, version), *(line for check in checks for line in objections(check))]
    if wrong:
        print("\n".join(f"error: {line}" for line in wrong), file=sys.stderr)
        return 1
    used = [sys.executable, str(ROOT / "packaging/environments.py"), "--dist", str(dist)]
    if given.environments and subprocess.run([*used, *given.environments]).returncode:
        return 1
    recipe = write_recipe(dist, version)
    print(what_to_do(files, recipe, version))
    return 0


def version_of(root: Path) -> str:
    """Return the version that `pyproject.toml` names."""
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def refusals(root: Path, version: str, tagged: str | None = None) -> list[str]:
    """Say why this tree is not to be released as `version`; nothing if it may be.

    A tree that is `tagged` must bear the tag of that version; any other must have none yet.
    """
    found = []
    changed = git(root, "status", "--porcelain").splitlines()
    if changed:
        found.append(f"the working tree differs from its commit: {changed[0].strip()}")
    if tagged is not None and tagged != f"v{version}":
        found.append(f"the tag is {tagged}, pyproject.toml names the version {version}")
    if tagged is None and git(root, "tag", "--list", f"v{version}"):
        found.append(f"the tag v{version} is there already: give pyproject.toml a new version")
    heading = rf"^## \[?{re.escape(version)}\]?( |$)"
    if not re.search(heading, (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE):
        found.append(f"CHANGELOG.md has no section '## {version}'")
    for name, pattern in (
        ("CITATION.cff", r"^version: (\S+)$"),
        (RECIPE, r'^  version: "(\S+)"$'),
    ):
        said = re.search(pattern, (root / name).read_text("utf-8"), re.MULTILINE)
        if said is None or said[1] != version:
            found.append(f"{name} names the version {said and said[1]}, pyproject.toml {version}")
    return found


def contents(files: list[Path], version: str) -> list[str]:
    """Say what the files lack or hold too much of."""
    found = []
    for file in files:
        if file.suffix == ".whl":
            names = zipfile.ZipFile(file).namelist()
            rooms = {name.split("/")[0] for name in names} - {f"tvcs-{version}.dist-info"}
            if rooms != PACKAGES:
                found.append(f"{file.name} holds {', '.join(sorted(rooms ^ PACKAGES))}")
        else:
            with tarfile.open(file) as archive:
                names = archive.getnames()
            lacking = {f"tvcs-{version}/{name}" for name in NEEDED_IN_SOURCE} - set(names)
            found += [f"{file.name} lacks {name}" for name in sorted(lacking)]
        odd = [name for name in names if re.search(r"__pycache__|\.pyc$|/\.(?!gitignore$)", name)]
        found += [f"{file.name} holds {odd[0]}"] if odd else []
    return found


def objections(check: list[str]) -> list[str]:
    """Return what a program says that is to check something; nothing if it agrees."""
    done = subprocess.run(check, capture_output=True, text=True, cwd=ROOT)
    return [] if done.returncode == 0 else [*done.stdout.splitlines(), *done.stderr.splitlines()]


def write_recipe(dist: Path, version: str) -> Path:
    """Write the recipe of conda for the source distribution as it will lie on the index."""
    [source] = dist.glob("*.tar.gz")
    recipe = dist / "conda" / "recipe.yaml"
    recipe.parent.mkdir()
    text = (ROOT / RECIPE).read_text("utf-8")
    there = f"  url: {INDEX}{source.name}\n  sha256: {sha256(source)}"
    text, count = re.subn(r"^#.*\nsource:\n  path: \S+$", f"source:\n{there}", text, flags=re.M)
    assert count == 1
    recipe.write_text(text, "utf-8")
    return recipe


def what_to_do(files: list[Path], recipe: Path, version: str) -> str:
    """Say what to upload, and how."""
    names = " ".join(str(file.relative_to(ROOT)) for file in files)
    sums = "\n".join(f"  {sha256(file)}  {file.name}" for file in files)
    return f"""
Nothing was uploaded. What was built, by sha256:
{sums}

To release {version}, in this order:
  git tag -a v{version} -m "tvcs {version}" && git push origin v{version}
  python -m twine upload {names}
  {recipe.relative_to(ROOT)}: send it to conda-forge's staged-recipes, or to the feedstock
  docker build -f packaging/Dockerfile --target commands -t tvcs:{version} .
  docker build -f packaging/Dockerfile --target desk -t tvcs-desk:{version} ."""


def git(root: Path, *words: str) -> str:
    """Return what git says of a folder."""
    return subprocess.run(
        ["git", *words], cwd=root, capture_output=True, text=True, check=True
    ).stdout


def sha256(file: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
