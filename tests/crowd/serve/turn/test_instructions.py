"""Instructions: Markdown that runs nothing, with pictures of the folder of media."""

import re

import pytest

from crowd_tvcs.campaign.desk.content import Content, set_content
from crowd_tvcs.campaign.desk.gold import mix_in
from crowd_tvcs.serve import start
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.turn.instructions import pictures, rendered
from tests.crowd.serve.conftest import PASSWORD
from tests.crowd.serve.turn.files import SVG, png

WRITTEN = """![a cat](cats/a%20b.png) ![](/media/dog.png) ![](media/hen.png)

- ![x][1]

[1]: ox.png
"""


def test_pictures_are_those_of_the_folder_of_media():
    assert pictures(WRITTEN) == {"cats/a b.png", "dog.png", "hen.png", "ox.png"}
    page = rendered(WRITTEN, "/label")
    assert re.findall(r'src="([^"]+)"', page) == [
        f"/label/media/{name}" for name in ("cats/a%20b.png", "dog.png", "hen.png", "ox.png")
    ]
    assert 'alt="a cat"' in page
    assert pictures("") == frozenset()


@pytest.mark.parametrize(
    "source", ["https://example.org/x.png", "//example.org/x.png", "data:image/png;base64,AAAA"]
)
def test_a_picture_of_elsewhere_is_refused(source):
    with pytest.raises(ValueError, match=r"which pages do not load: put it into the"):
        pictures(f"See ![x]({source})")


def test_every_block_has_its_direction_and_links_leave_the_task_alone():
    page = rendered("# شرح\n\nنص *مهم*\n\n- a\n\n> b\n\n[c](https://example.org) `d`")
    for tag in ("h1", "p", "ul", "li", "blockquote"):
        assert f'<{tag} dir="auto">' in page
    assert '<a href="https://example.org" target="_blank" rel="noopener noreferrer">' in page


@pytest.mark.parametrize(
    "text",
    [
        "<script>x</script>",
        "<img src=x onerror=x>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](vbscript:x)",
        "[x](data:text/html,<script>x</script>)",
        "[x](file:///etc/passwd)",
        "<javascript:alert(1)>",
        "![x](javascript:alert(1))",
        '![x" onerror="x](a.png)',
        '[x](https://e.org "\\" onclick=\\"x")',
        "```\n</code><script>x</script>\n```",
    ],
)
def test_markdown_runs_nothing(text):
    page = rendered(text)
    tags = set(re.findall(r"<(\w+)", page))
    assert tags <= {"p", "a", "img", "pre", "code"}
    for tag in re.findall(r"<[^>]+>", page):
        assert not re.search(r"\son\w+=", re.sub(r'"[^"]*"', "", tag)), tag
    assert not re.search(r'(?:href|src)="(?:javascript|vbscript|data|file):', page, re.IGNORECASE)


@pytest.fixture
def mixed(tmp_path, begin):
    """A campaign with gold among its tasks, each with a picture, and one of the instructions."""
    (tmp_path / "media").mkdir()
    for name in ("t1.png", "g1.png", "example.png"):
        (tmp_path / "media" / name).write_bytes(png(more=name.encode()))
    made = begin(
        workers=["ann"],
        tasks=["t1"],
        qualities={"ann": 0.9},
        gold={"g1": "good"},
        classes=["bad", "good"],
        prior=0.5,
    )
    bodies = {name: Content(image=f"{name}.png") for name in ("t1", "g1")}
    mix_in(made.store, {}, bodies)
    set_content(made.store, bodies, tmp_path)
    return made


@pytest.fixture
def served(mixed, tmp_path):
    made = Served(mixed, PASSWORD, tmp_path / "media", "Like ![this](example.png).")
    made.pages.least = 0.0
    return made


def test_pictures_of_instructions_are_shown_with_gold_among_the_tasks(browse, tokens, served):
    assert served.is_mixed
    ann = browse(tokens["ann"])
    page = ann.get("/").text
    shown = re.findall(r'src="(/media/[^"]+)"', page)
    assert "/media/example.png" in shown
    assert len(shown) == 2
    for one in shown:
        assert ann.get(one).headers["content-type"] == "image/png"
    for other in ("t1.png", "g1.png"):  # the names of tasks would tell
        assert ann.get(f"/media/{other}").status_code == 404


def test_pictures_of_instructions_are_judged_before_the_desk_starts(mixed, tmp_path, monkeypatch):
    monkeypatch.setattr(start, "_run", lambda *_: None)
    (tmp_path / "how.md").write_text("![x](example.svg)")
    (tmp_path / "media" / "example.svg").write_bytes(SVG)
    given = {"media": tmp_path / "media", "instructions": tmp_path / "how.md"}
    with pytest.raises(ValueError, match=r"how.md: .*'example.svg', which is an SVG drawing"):
        start.serve(mixed.store.place, start.ListenAddress(), **given)
    (tmp_path / "how.md").write_text("![x](https://example.org/x.png)")
    with pytest.raises(ValueError, match=r"how.md: .* show the external picture 'https"):
        start.serve(mixed.store.place, start.ListenAddress(), **given)
    (tmp_path / "how.md").write_text("![x](example.png)")
    start.serve(mixed.store.place, start.ListenAddress(), **given)
