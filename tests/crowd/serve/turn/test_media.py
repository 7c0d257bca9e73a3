"""Files of tasks: judged by their first bytes when read and when sent, and sent as data only."""

import os

import pytest

from crowd_tvcs.campaign.desk.content import Content, check_kept_media, read_content, set_content
from crowd_tvcs.campaign.desk.media import inside, kind_of, open_media
from crowd_tvcs.serve import start
from tests.crowd.serve.turn.files import HOSTILE, KINDS, POLYGLOTS, SVG, png, wav
from tvcs_core import DataError

POLICY = "sandbox; default-src 'none'"


@pytest.fixture
def media(tmp_path):
    """The folder of media, as `served` has it."""
    (tmp_path / "media").mkdir(exist_ok=True)
    return tmp_path / "media"


def put(folder, files):
    for name, body in files.items():
        (folder / name).write_bytes(body)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_known_by_its_first_bytes(kind):
    assert kind_of(KINDS[kind]) == kind
    assert kind_of(b"\n" + KINDS[kind]) is None


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_media_is_refused_when_content_is_read(tmp_path, media, name):
    put(media, HOSTILE)
    for column in ("image", "audio", "video"):
        (tmp_path / "a.csv").write_text(f"task,{column}\nt1,{name}\n")
        with pytest.raises(DataError, match=rf"a.csv:2, column '{column}': must be a .*save it as"):
            read_content(tmp_path / "a.csv", media)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("page.png", "a page of HTML, which may run scripts"),
        ("drawing.jpg", "an SVG drawing, which may run scripts"),
        ("script.js", "text"),
        ("paper.pdf", "a PDF"),
        ("none.png", "empty"),
        ("old.bmp", "a BMP picture"),
        ("new.avif", "an AVIF or HEIC picture"),
        ("film.mkv", "a Matroska film"),
        ("wide.mp3", "of no known kind .it begins with ff fe 3c 00"),
    ],
)
def test_the_refusal_says_what_was_found_and_what_to_do(media, name, found):
    put(media, HOSTILE)
    message = f"must be a picture, found '{name}', which is {found}.*: save it as PNG, JPEG, GIF"
    with pytest.raises(ValueError, match=message):
        open_media(media, name, "image")


def test_a_column_takes_its_own_kinds(media):
    put(media, {kind.replace("/", "."): body for kind, body in KINDS.items()})
    for column, wanted in {
        "image": {"image"},
        "audio": {"audio", "video"},
        "video": {"video"},
    }.items():
        for kind in KINDS:
            if kind.partition("/")[0] in wanted:
                file, found = open_media(media, kind.replace("/", "."), column)
                file.close()
                assert found == kind
            else:
                with pytest.raises(ValueError, match=f"which is of the kind {kind}: save it as"):
                    open_media(media, kind.replace("/", "."), column)


def test_neither_a_link_out_of_the_folder_nor_a_pipe_is_opened(tmp_path, media):
    (tmp_path / "out.png").write_bytes(png())
    (media / "out.png").symlink_to(tmp_path / "out.png")
    (media / "folder").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(media / "pipe.png")
    outside = ("out.png", "folder/out.png", "../out.png", "a/../../out.png", "/dev/null")
    for name in (*outside, "pipe.png", "none.png", "."):
        with pytest.raises(ValueError, match="must be a file inside"):
            open_media(media, name)
    (media / "in.png").write_bytes(png())
    (media / "alias.png").symlink_to(media / "in.png")
    open_media(media, "alias.png")[0].close()
    with pytest.raises(ValueError, match="must be a file inside"):
        inside(media, "x" * 5000)


def test_a_folder_that_becomes_a_link_while_a_file_is_opened_opens_nothing(
    tmp_path, media, monkeypatch
):
    (media / "a").mkdir()
    put(media / "a", {"x.png": png()})
    (tmp_path / "b").mkdir()
    put(tmp_path / "b", {"x.png": png(2, 2)})
    really = os.open

    def late(path, flags, *more):
        if str(path).endswith("x.png"):
            (media / "a").rename(tmp_path / "gone")
            (media / "a").symlink_to(tmp_path / "b", target_is_directory=True)
        return really(path, flags, *more)

    monkeypatch.setattr(os, "open", late)
    with pytest.raises(ValueError, match="must be a file inside"):
        open_media(media, "a/x.png")


@pytest.mark.parametrize("kind", KINDS)
def test_media_are_sent_as_data_of_their_kind(browse, tokens, media, kind):
    put(media, {"x.html": KINDS[kind]})
    answer = browse(tokens["ann"]).get("/media/x.html")
    assert (answer.status_code, answer.content) == (200, KINDS[kind])
    assert answer.headers.get_list("content-type") == [kind]
    assert answer.headers.get_list("content-security-policy") == [POLICY]
    assert answer.headers.get_list("x-content-type-options") == ["nosniff"]
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_what_is_no_media_is_not_sent(browse, tokens, media, capsys):
    put(media, HOSTILE)
    ann = browse(tokens["ann"])
    for name, body in HOSTILE.items():
        answer = ann.get(f"/media/{name}")
        assert answer.status_code == 404, name
        assert body not in answer.content or not body
    assert capsys.readouterr().err.count("a file of --media is not sent: must be") == len(HOSTILE)


def test_a_file_that_is_exchanged_is_judged_again(browse, tokens, media, campaign, tmp_path):
    put(media, {"x.png": png()})
    (tmp_path / "a.csv").write_text("task,image\nt1,x.png\n")
    set_content(campaign.store, read_content(tmp_path / "a.csv", media), tmp_path)
    ann = browse(tokens["ann"])
    assert ann.get("/media/x.png").headers["content-type"] == "image/png"
    put(media, {"x.png": wav()})
    assert ann.get("/media/x.png").headers["content-type"] == "audio/wav"
    put(media, {"x.png": SVG})
    assert ann.get("/media/x.png").status_code == 404
    with pytest.raises(ValueError, match=r"image of task 't1', .* an SVG drawing.*or give its"):
        check_kept_media(campaign.store, media, ())
    check_kept_media(campaign.store, media, {"t1"})


def test_a_desk_does_not_start_with_content_of_before_that_it_cannot_show(
    campaign, media, tmp_path, monkeypatch
):
    monkeypatch.setattr(start, "_run", lambda *_: None)
    set_content(campaign.store, {"t1": Content(image="x.png")}, tmp_path)
    with pytest.raises(ValueError, match=r"'x.png', which needs --media"):
        start.serve(campaign.store.place, start.ListenAddress())
    put(media, {"x.png": SVG})
    with pytest.raises(ValueError, match="an SVG drawing"):
        start.serve(campaign.store.place, start.ListenAddress(), media=media)
    put(media, {"x.png": png()})
    start.serve(campaign.store.place, start.ListenAddress(), media=media)


@pytest.mark.parametrize(
    ("wanted", "first", "end"),
    [
        ("bytes=0-99", 0, 100),
        ("bytes=100-", 100, None),
        ("bytes=-100", -100, None),
        ("bytes=16000-99999999", 16000, None),
        ("bytes=-99999999", 0, None),
        ("bytes=5-5", 5, 6),
    ],
)
def test_a_part_of_a_file_is_sent(browse, tokens, media, wanted, first, end):
    body = wav()
    put(media, {"x.wav": body})
    answer = browse(tokens["ann"]).get("/media/x.wav", headers={"Range": wanted})
    assert (answer.status_code, answer.content) == (206, body[first:end])
    start = first % len(body)
    last = start + len(answer.content) - 1
    assert answer.headers["content-range"] == f"bytes {start}-{last}/{len(body)}"
    assert answer.headers["content-length"] == str(len(answer.content))


def test_parts_that_are_none(browse, tokens, media):
    body = wav()
    put(media, {"x.wav": body})
    ann = browse(tokens["ann"])
    for wanted in ("bytes=99999999-", "bytes=9-3", "bytes=-0"):
        answer = ann.get("/media/x.wav", headers={"Range": wanted})
        assert (answer.status_code, answer.headers["content-range"]) == (
            416,
            f"bytes */{len(body)}",
        )
        assert answer.headers["content-security-policy"] == POLICY
    for wanted in ("bytes=", "bytes=-", "lines=1-2", "bytes=1-2,4-5", "bytes=x-y"):
        answer = ann.get("/media/x.wav", headers={"Range": wanted})
        assert (answer.status_code, answer.content) == (200, body)


def test_a_polyglot_is_what_it_begins_as(browse, tokens, media):
    put(media, POLYGLOTS)
    ann = browse(tokens["ann"])
    for name in POLYGLOTS:
        answer = ann.get(f"/media/{name}")
        assert answer.headers["content-type"].partition("/")[0] in ("image", "audio"), name
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
