"""The site: every page can be reached, the reference is whole, what pages tell to type is there."""

import builtins
import doctest
import importlib
import inspect
import json
import re
import shlex
import subprocess
import sys
import tempfile
import typing
from dataclasses import fields, is_dataclass
from fnmatch import fnmatch
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from threading import Thread

import pytest

from tests.browser import chromium

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
PACKAGES = ("tvcs_core", "grn_tvcs", "crowd_tvcs")


def extension(name):
    """One of the site's own modules; none of them needs Sphinx to be imported."""
    sys.path.insert(0, str(DOCS / "extensions"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


def toctree_entries():
    """What the toctrees of all pages name, as patterns from the project's folder."""
    for page in DOCS.rglob("*.md"):
        for block in re.findall(
            r"^```\{toctree\}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S
        ):
            for line in block.splitlines():
                if line and not line.startswith(":"):
                    base = ROOT if line.startswith("/") else page.parent
                    path = (base / line.lstrip("/")).resolve()
                    yield path.relative_to(ROOT).as_posix()


def test_every_page_is_in_a_toctree():
    pages = [*PAGES, *(ROOT / "data").rglob("*.md"), *(ROOT / "notebooks").glob("*.ipynb")]
    names = {path.relative_to(ROOT).with_suffix("").as_posix() for path in pages}
    names -= {"README", "docs/index"}  # the first page of a checkout, and of the site
    entries = [one for one in toctree_entries() if "gallery-pages/" not in one]  # made by the build
    lost = {name for name in names if not any(fnmatch(name, entry) for entry in entries)}
    assert not lost, "name them in a toctree, of docs/index.md or docs/studies.md"
    dead = [entry for entry in entries if not any(fnmatch(name, entry) for name in names)]
    assert not dead
    assert len(entries) == len(set(entries)), "a page has one place"


def words_of(app, words):
    """The commands of a typer app by its own registers, not by what typer makes of them."""
    yield words
    for one in app.registered_commands:
        if not one.hidden:
            yield f"{words} {one.name or one.callback.__name__.replace('_', '-')}"
    for group in app.registered_groups:
        yield from words_of(group.typer_instance, f"{words} {group.name}")


@pytest.mark.parametrize("program", ["tvcs", "grn-tvcs", "crowd-tvcs"])
def test_the_reference_has_every_command(program):
    commands = extension("commands")
    app = importlib.import_module(commands.PROGRAMS[program]).app
    shown = commands.commands_of(program)
    assert {one.words for one in shown} == set(words_of(app, program))
    page = (DOCS / "reference" / f"{program}.md").read_text(encoding="utf-8")
    assert f"\n.. commands:: {program}\n" in page
    assert all(text for one in shown for _, text in one.rows), "an option without a word of help"


def test_the_reference_shows_defaults_and_what_is_required():
    [infer] = [one for one in extension("commands").commands_of("grn-tvcs") if "infer" in one.words]
    rows = {name.split()[0]: text for name, text in infer.rows}
    assert "[required]" in rows["--out"]
    assert "[default: 0]" in rows["--seed"]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_reference_has_every_public_name(package):
    shown = extension("public_names").shown(ROOT)
    assert set(shown[package]) == set(importlib.import_module(package).__all__)


def test_every_name_of_the_reference_is_there():
    shown = extension("public_names").shown(ROOT)
    gone = [
        f"{module}.{name}"
        for module, names in shown.items()
        for name in names
        if not hasattr(importlib.import_module(module), name)
    ]
    assert not gone, "name them in docs/reference as they are called now"


def types_of(thing):
    """The types that a public name's fields or arguments are written with, as its page shows."""
    written = [field.type for field in fields(thing)] if is_dataclass(thing) else []
    written += getattr(thing, "__annotations__", {}).values()
    return set(re.findall(r"(?<![\w.])[A-Z]\w+", " ".join(map(str, written))))


def test_a_type_that_a_public_name_shows_is_in_the_reference_or_another_word():
    settings = (DOCS / "conf.py").read_text(encoding="utf-8")
    other = "|".join(re.findall(r'\("py:class", r?"(.+?)"\)', settings))
    names = extension("public_names")
    shown = names.shown(ROOT)
    known = {*names.SHORT, *dir(builtins), *dir(typing), *chain(*shown.values())}
    unknown = {
        f"{module}.{name}: {one}"
        for module, found in shown.items()
        for name in found
        for one in types_of(getattr(importlib.import_module(module), name)) - known
        if not re.fullmatch(other, one)
    }
    assert not unknown, "name them in docs/reference"


def test_the_first_words_of_every_public_name_are_a_sentence():
    names = extension("public_names")
    for module, found in names.shown(ROOT).items():
        for name in found:
            text = names.first_sentence(getattr(importlib.import_module(module), name))
            assert text, f"{module}.{name}"


def test_a_page_of_a_name_has_what_its_docstring_lacks():
    text = extension("public_names").page("grn_tvcs", "infer", ">>> 1 + 1\n2\n")
    assert ".. autofunction:: grn_tvcs.infer" in text
    assert text.endswith(".. rubric:: Examples\n\n>>> 1 + 1\n2\n")


NEEDS_A_SCHEDULER = {"tvcs_core.answer_block"}  # called by `project_blocks`, where the data are


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_an_example(package):
    home, more = importlib.import_module(package), extension("public_names").examples(ROOT)
    without = {
        f"{package}.{name}"
        for name in home.__all__
        if ">>> " not in (inspect.getdoc(getattr(home, name)) or "")
    }
    assert without - set(more) <= NEEDS_A_SCHEDULER
    assert {name for name in more if name.startswith(f"{package}.")} <= without


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("package", PACKAGES)
def test_the_examples_beside_the_docstrings_are_true(package, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    runner = doctest.DocTestRunner()
    for name, text in extension("public_names").examples(ROOT).items():
        if name.startswith(f"{package}."):
            runner.run(doctest.DocTestParser().get_doctest(text, {}, name, None, 0))
    results = runner.summarize(verbose=False)
    assert results.attempted > 30
    assert results.failed == 0


def imports_of_pages():
    """What pages and notebooks import from our packages, with where they do."""
    for page in PAGES:
        for block in re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
            yield page.name, block
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                yield path.name, "".join(cell["source"])


def test_what_a_page_imports_is_in_the_reference():
    shown = extension("public_names").shown(ROOT)
    homes = [(module, name) for module, names in shown.items() for name in names]
    found = 0
    for where, source in imports_of_pages():
        pattern = r"^from ((?:tvcs_core|grn_tvcs|crowd_tvcs)[\w.]*) import (\([^)]*\)|.+)$"
        for module, names in re.findall(pattern, source, re.M):
            for name in re.findall(r"\w+", names.replace(" as ", "  ")):
                is_module = f"{module}.{name}" in shown
                same = (
                    is_module
                    or (module, name) in homes
                    or any(
                        getattr(importlib.import_module(home), name)
                        is getattr(importlib.import_module(module), name)
                        for home, other in homes
                        if other == name
                    )
                )
                assert same, f"{where}: {module}.{name}"
                found += 1
    assert found > 30


def lines_of_pages():
    """Every line of a page that calls one of our commands."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for block in re.findall(r"^```(?:console|sh)\n(.*?)^```", text, re.M | re.S):
            for line in block.splitlines():
                words = shlex.split(line.strip().removeprefix("$ "), comments=True)
                if words and words[0] in extension("commands").PROGRAMS:
                    yield page.relative_to(ROOT).as_posix(), words


def test_every_command_line_of_a_page_names_options_that_there_are():
    commands = extension("commands")
    known = {
        one.words: one for program in commands.PROGRAMS for one in commands.commands_of(program)
    }
    ran = 0
    for page, words in lines_of_pages():
        most = max(n for n in range(1, len(words) + 1) if " ".join(words[:n]) in known)
        command = known[" ".join(words[:most])]
        options = set(re.findall(r"--[\w-]+", " ".join(name for name, _ in command.rows)))
        if command.words == "crowd-tvcs serve":  # without a command it is `start`
            options |= set(re.findall(r"--[\w-]+", str(known["crowd-tvcs serve start"].rows)))
        given = {word.partition("=")[0] for word in words[most:] if word.startswith("--")}
        assert given <= options, f"{page}: {shlex.join(words)}: no {given - options}"
        ran += 1
    assert ran > 50


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 120


def test_dead_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here"><a href="b.html#gone"><img src="no.png"><a href="#top">'
        '<a href="https://example.org/x"><a href="../outside.html"><p id="top">'
    )
    (tmp_path / "b.html").write_text('<p id="here"><a href="a.html">')
    dead = extension("links").dead_links(tmp_path)
    assert [line.split()[-1] for line in dead] == ["b.html#gone", "no.png", "../outside.html"]


@pytest.fixture(scope="module")
def site():
    """The folder of what `python3 dev.py docs` builds, in the environment of the tests."""
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    message = []

    def run_here(words):
        done = subprocess.run(
            [sys.executable, *words[1:]], cwd=ROOT, capture_output=True, text=True
        )
        message.append(done.stdout + done.stderr)
        return done.returncode

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        dev = importlib.import_module("dev")
        patch.setattr(dev, "install", lambda *extras: False)
        patch.setattr(dev, "run", run_here)
        assert dev.docs([]) == 0, "\n".join(message)
    return ROOT / "out" / "site" / "html"


FOUND_FIRST = {  # what is typed into the search, and the first page found
    "knockout": "docs/reference/commands/grn-tvcs-infer.html",
    "budget": "docs/crowds.html",
    "certificate": "docs/reference/names/tvcs_core.Certificate.html",
    "install": "docs/installation.html",
}


@pytest.mark.slow
def test_the_search_finds_first_what_belongs_first(site):
    serve = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server, chromium() as browser:
        Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page()
        for words, wanted in FOUND_FIRST.items():
            page.goto(f"http://127.0.0.1:{server.server_port}/search.html?q={words}")
            first = page.locator("#search-results ul li a").first
            first.wait_for(timeout=60_000)
            assert first.get_attribute("href").split("?")[0].split("#")[0] == wanted, words
        server.shutdown()


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_has_no_dead_link(site):
    html = site
    for program in extension("commands").PROGRAMS:
        for one in extension("commands").commands_of(program):
            page = html / f"{extension('commands').page_of(one.words)[1:]}.html"
            text = page.read_text(encoding="utf-8")
            assert f"<h1>{one.words}<" in text
            assert text.count("<dt>") >= len(one.rows)
    for module, names in extension("public_names").shown(ROOT).items():
        for name in names:
            page = html / "docs" / "reference" / "names" / f"{module}.{name}.html"
            assert f'id="{module}.{name}"' in page.read_text(encoding="utf-8"), page.name
    shown = html / "docs" / "gallery-pages"
    assert len(list(shown.glob("plot_*.html"))) == 10


def test_the_page_for_biologists_can_be_read_at_a_sitting():
    assert len((DOCS / "networks.md").read_text("utf-8").split()) <= 2000
