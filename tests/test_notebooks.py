"""The notebooks run from top to bottom, and what is stored in them is what they show."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.notebooks import FOLDER, outputs, run, shown_by, store

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LARGEST = 300_000  # bytes of a notebook with its pictures
# Which of equal workers gets a task hangs on the last bits of fits, and these on what BLAS does on
# a processor: of these notebooks the words are compared, not the numbers.
HANGS_ON_THE_PROCESSOR = {"campaign"}
ANEW = "python -m benchmarks.notebooks stores it anew"


@pytest.fixture(autouse=True)
def no_figures():
    """Close the figures that tests of other files have left open: a cell would show them."""
    import matplotlib.pyplot as plt

    plt.close("all")


def cells(path: Path, kind: str) -> list[dict]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def headings(page: Path) -> set[str]:
    """What the headings of a page are called in links."""
    found = (line for line in page.read_text(encoding="utf-8").splitlines() if line[:1] == "#")
    return {line.lstrip("# ").lower().replace(" ", "-") for line in found}


def without_pictures(stored: list[dict]) -> list[dict]:
    """The outputs of a cell, as `shown_by` gives them without pictures."""
    bare = json.loads(json.dumps(stored))
    for output in bare:
        output.get("data", {}).pop("image/png", None)
    return bare


def numbers(outputs: list[dict]) -> list[float]:
    """All numbers that are printed, in order."""
    return [float(found) for found in re.findall(r"\d+\.?\d*(?:e[+-]?\d+)?", json.dumps(outputs))]


def words(outputs: list[dict]) -> list[object]:
    """What is printed without its numbers, and of what kind all else is."""
    return [
        re.sub(r"\d[\d.]*", "#", "".join(output["text"]))
        if "text" in output
        else (output["output_type"], sorted(output["data"]))
        for output in outputs
    ]


@pytest.mark.filterwarnings("ignore:.*3 samples are the same as another")  # they are
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_stored_in_it(path):
    stored = cells(path, "code")
    found = list(shown_by(path, pictures=False))
    assert len(found) == len(stored)
    for number, (cell, shown) in enumerate(zip(stored, found, strict=True), start=1):
        known = without_pictures(cell["outputs"])
        where = f"code cell {number} ({ANEW})"
        assert words(known) == words(shown), where
        if path.stem not in HANGS_ON_THE_PROCESSOR:  # fits end a little elsewhere on another one
            assert numbers(known) == pytest.approx(numbers(shown), rel=1e-6), where
        assert cell["execution_count"] == number


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_its_pictures_and_nothing_of_a_machine(path):
    outputs = [output for cell in cells(path, "code") for output in cell["outputs"]]
    drawn = [output for output in outputs if "drawn" in output.get("metadata", {})]
    assert drawn
    assert all(output["data"]["image/png"].startswith("iVBORw0KGgo") for output in drawn), ANEW
    assert path.stat().st_size < LARGEST
    text = json.dumps([*cells(path, "markdown"), without_pictures(outputs)], ensure_ascii=False)
    for result in ("/home/", "/root", "/tmp", str(FOLDER), " at 0x"):
        assert result not in text


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_link_of_a_notebook_leads_somewhere(path):
    for cell in cells(path, "markdown"):
        for _, _, rest in (part.partition("](") for part in "".join(cell["source"]).split("[")[1:]):
            target = rest.partition(")")[0]
            page, _, heading = target.partition("#")
            if page and not page.startswith("http"):
                assert (path.parent / page).exists(), f"{path.name} links to {target}"
                assert not heading or heading in headings(path.parent / page), target


@pytest.fixture
def notebook(tmp_path):
    """A notebook of three cells that prints, shows a value and draws."""
    sources = [
        "import matplotlib.pyplot as plt\nimport pandas as pd\nprint('two', 1 + 1)",
        "pd.DataFrame({'x': [1.5]})",
        "plt.plot([1, 2], [3, LAST])\nplt.show()",
    ]
    path = tmp_path / "made.ipynb"

    def make(last: str) -> Path:
        made = [
            {"cell_type": "code", "source": [text.replace("LAST", last)], "outputs": []}
            for text in sources
        ]
        path.write_text(json.dumps({"cells": made}), encoding="utf-8")
        return path

    return make


def test_text_tables_and_pictures_are_stored_and_the_same_twice(notebook):
    path = notebook("4")
    store(path)
    first = path.read_bytes()
    printed, table, picture = (cell["outputs"] for cell in cells(path, "code"))
    assert printed == [{"name": "stdout", "output_type": "stream", "text": ["two 2\n"]}]
    assert "<td>1.5</td>" in "".join(table[0]["data"]["text/html"])
    assert [list(output["data"]) for output in picture] == [["image/png", "text/plain"]]
    store(path)
    assert path.read_bytes() == first


def test_a_picture_of_other_numbers_is_seen_without_its_bytes(notebook):
    one, same, other = (
        list(shown_by(notebook(last), pictures=False))[2] for last in ("4", "4.0", "5")
    )
    assert one == same
    assert one != other


@pytest.mark.parametrize(
    ("draw", "other"),
    [
        ("ax.hist([1, 2, 2])", "ax.hist([1, 1, 2])"),
        ("ax.scatter([1], [2])", "ax.scatter([1], [3])"),
        ("ax.bar(['a'], [1])", "ax.bar(['a'], [2])"),
        ("ax.axvspan(1, 2)", "ax.axvspan(1, 3)"),
        ("ax.fill_between([0, 1], [1, 1])", "ax.fill_between([0, 1], [1, 2])"),
        ("ax.set_title('a')", "ax.set_title('b')"),
        ("ax.text(0, 0, 'a')", "ax.text(0, 0, 'b')"),
        ("ax.plot([1], [1], label='a')", "ax.plot([1], [1], label='b')"),
        ("ax.imshow([[1, 2]])", "ax.imshow([[1, 3]])"),
    ],
)
def test_whatever_is_drawn_counts(draw, other):
    import matplotlib as mpl

    def hash_of(source: str) -> str:
        with mpl.rc_context({"backend": "agg"}):
            names: dict = {}
            run(f"import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\n{source}", "", names)
            (shown,) = outputs("", names["fig"], 1, False)
            names["plt"].close("all")
            return shown["metadata"]["drawn"]

    assert hash_of(draw) == hash_of(draw)
    assert hash_of(draw) != hash_of(other)


def test_arrows_are_the_same_whether_their_picture_is_made_or_not():
    import matplotlib.pyplot as plt
    from matplotlib.patches import FancyArrowPatch

    def shown(pictures: bool) -> str:
        _, ax = plt.subplots()
        ax.annotate("", (0.2, 0.3), (0.8, 0.9), arrowprops={"arrowstyle": "->"})
        ax.add_patch(FancyArrowPatch((0.1, 0.1), (0.7, 0.5), shrinkB=9))
        (output,) = outputs("", None, 1, pictures)
        plt.close("all")
        return output["metadata"]["drawn"]

    assert shown(pictures=True) == shown(pictures=False)


def test_a_name_of_no_notebook_is_refused_with_those_there_are(monkeypatch, capsys):
    from benchmarks.notebooks import main

    monkeypatch.setattr("sys.argv", ["notebooks", "network"])
    with pytest.raises(SystemExit):
        main()
    message = capsys.readouterr().err
    assert "NAME must be one of" in message
    assert "networks" in message
