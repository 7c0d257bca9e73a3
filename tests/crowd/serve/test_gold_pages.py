"""Gold among the tasks: nothing that a worker sees or asks for tells it from the others."""

import json
import re
import time

import pytest
from fastapi.testclient import TestClient

from crowd_tvcs.campaign import Campaign, RejectedError
from crowd_tvcs.campaign.desk.content import Content, set_content
from crowd_tvcs.campaign.desk.figures import figures, without_gold
from crowd_tvcs.campaign.desk.gold import mix_in
from crowd_tvcs.serve import start
from crowd_tvcs.serve.app import create_app
from crowd_tvcs.serve.desk import Served
from tests.crowd.serve.conftest import BASE, PASSWORD, hidden
from tests.crowd.serve.turn.files import png

NAMES = [f"t{j}" for j in range(12)]
GOLD = {f"known-{j}": "good" for j in range(12)}


@pytest.fixture
def campaign(tmp_path, begin):
    """Twelve tasks and twelve gold tasks, half and half, all with text and a picture."""
    (tmp_path / "media").mkdir()
    made = begin(
        workers=["ann", "bob"],
        tasks=NAMES,
        qualities={"ann": 0.9, "bob": 0.8},
        gold=GOLD,
        classes=["bad", "good"],
        prior=0.5,
    )
    for name in (*NAMES, *GOLD):
        (tmp_path / "media" / f"{name}.png").write_bytes(png(more=name.encode()))
    bodies = {n: Content(f"Text {k}", f"{n}.png") for k, n in enumerate((*NAMES, *GOLD))}
    assert mix_in(made.store, {}, bodies) == (12, 0)
    set_content(made.store, bodies, tmp_path)
    made.gold_share = 0.5
    return made


@pytest.fixture
def served(campaign, tmp_path):
    made = Served(campaign, PASSWORD, tmp_path / "media")
    made.per_worker.burst = 1000
    made.pages.least = 0.0
    return made


def shape(page):
    """A page without what must differ: text, names, times and tokens."""
    page = re.sub(r'value="[\w-]+\.[\w-]+\.[\w-]+"', 'value="FORM"', page)
    page = re.sub(r"[\w-]{12}(?=/image\.png|\")", "ALIAS", page)
    return re.sub(r"Text \d+|answered \d+|reserved for you for [\d:]+|data-seconds=.\d+", "X", page)


def test_pages_of_gold_and_of_others_are_alike(browse, tokens, campaign):
    ann, shapes, seen = browse(tokens["ann"]), {"gold": set(), "other": set()}, 0
    page = ann.get("/")
    while 'data-state="task"' in page.text:
        (task,) = [t.name for t in _leased(campaign, "ann")]
        assert not re.search(r"known|(?<![\w.-])t\d+(?![\w.-])", page.text)  # no word of a token
        image = re.search(r'src="(/media/[^"]+)"', page.text)[1]
        assert ann.get(image).content == png(more=task.encode())
        assert ann.get(image).headers["content-type"] == "image/png"
        if seen:  # the first page opens the instructions and has no button to undo
            shapes["gold" if task in GOLD else "other"].add(shape(page.text))
        assert f"You have answered {seen}." in page.text
        page, seen = ann.post("/answer", data=hidden(page) | {"label": "good"}), seen + 1
    assert seen > len(NAMES)
    assert len(shapes["gold"]) == 1
    assert shapes["gold"] == shapes["other"]


def _leased(campaign, name):
    with campaign.store.read() as (connection, _):
        return connection.exec_driver_sql(
            "SELECT task.name FROM pair JOIN task ON task.id = task_id "
            f"JOIN worker ON worker.id = worker_id WHERE state = 2 AND worker.name = '{name}'"
        ).all()


def test_the_api_tells_no_more(browse, tokens, campaign):
    client = browse()
    client.headers["Authorization"] = f"Bearer {tokens['bob']}"
    turn, texts = client.post("/api/v1/next").json(), []
    client.post("/api/v1/skip", json={"task": turn["task"]})
    turn = client.post("/api/v1/next").json()
    while turn["task"]:
        texts.append(json.dumps(turn))
        assert len(turn["task"]) == 12
        assert turn["content"]["image"] == f"{turn['task']}/image.png"
        last = turn["task"]
        turn = client.post("/api/v1/submit", json={"task": last, "label": "bad"}).json()["next"]
    result = [
        client.post("/api/v1/submit", json={"task": last, "label": "good"}),
        client.post("/api/v1/submit", json={"task": "known-1", "label": "good"}),
        client.post("/api/v1/submit", json={"task": "t1", "label": "good"}),
        client.post("/api/v1/skip", json={"task": last}),
    ]
    assert [answer.status_code for answer in result] == [409] * 4
    assert result[0].json()["detail"] == (
        "worker 'bob' answered this task with 'bad' before, now 'good'"
    )
    assert result[1].json() == result[2].json()  # of a task that is there and one that is not
    campaign.next("ann")
    campaign.gold_share = 0.0
    while (offer := campaign.next("ann")).task is not None:
        campaign.submit("ann", offer.task, "good")
    campaign.gold_share = 0.5
    texts += [answer.text for answer in (*result, client.post("/api/v1/undo"))]
    assert not re.search(r"known|\"t\d+\"|'t\d+'", "".join(texts))


def test_a_server_after_it_that_gives_no_gold_keeps_to_the_names(served, campaign, tmp_path):
    offer = campaign.next("ann")
    while offer.task not in GOLD:
        campaign.submit("ann", offer.task, "good")
        offer = campaign.next("ann")
    alias = served.name_of(offer.task)
    campaign.gold_share = 0.0
    again = Served(campaign, PASSWORD, tmp_path / "media")
    assert again.is_mixed
    assert again.name_of(offer.task) == alias
    assert again.task_of(alias, "ann") == offer.task
    assert offer.task not in again.content_of(offer.task).image
    for name in (offer.task, "t1", "none"):  # bob was told none of them
        with pytest.raises(RejectedError, match="there is no such task"):
            again.task_of(name, "bob")


def test_what_workers_had_before_any_gold_goes_by_its_name_too(tmp_path):
    options = {"workers": ["ann"], "tasks": NAMES, "qualities": {"ann": 0.9}, "gold": GOLD}
    with Campaign.create(tmp_path / "d.db", classes=["bad", "good"], **options) as made:
        before = made.next("ann").task
        assert Served(made, PASSWORD).task_of(before, "ann") == before
        mix_in(made.store, {}, ())
        made.gold_share = 0.5
        desk = Served(made, PASSWORD)
        assert desk.task_of(before, "ann") == before
        made.submit("ann", before, "good")
        after = made.next("ann").task
        assert desk.task_of(desk.name_of(after), "ann") == after
        for name in (after, "known-1"):
            with pytest.raises(RejectedError, match="there is no such task"):
                desk.task_of(name, "ann")


def test_no_other_file_can_be_asked_for(browse, tokens, campaign, served):
    ann = browse(tokens["ann"])
    ann.get("/")
    alias = served.name_of("t1")
    for path in ("t1.png", f"{alias}/text", f"{alias}/audio", "x/image.png", f"{alias}/../x"):
        assert ann.get(f"/media/{path}").status_code == 404, path
    assert browse().get(f"/media/{alias}/image.png").status_code == 401


def test_the_operator_sees_which_is_gold_and_what_it_says(operator, campaign):
    while (offer := campaign.next("ann")).task is not None:
        campaign.submit("ann", offer.task, "good" if offer.task in GOLD else "bad")
    page = operator.get("/operator").text
    assert re.search(r"<b>100.0 %</b> of \d+ answers to mixed-in gold are right", page)
    assert "90.0 % expected from skills" in page
    ann = operator.get("/operator/person?name=ann").text
    assert re.search(r"to 100.0 % \((\d+) of \1 right\)", ann)
    assert "known-" in ann
    assert "task?name=known-" not in ann  # gold has no page
    assert "of 12 tasks can be assigned" in page
    on_gold = operator.get("/operator/gold-answers.csv").text.splitlines()
    assert len(on_gold) == 1 + int(re.search(r"of (\d+) answers to mixed-in gold", page)[1])
    assert set(on_gold[1:]) <= {f"{name},ann,good" for name in GOLD}
    assert "known-" not in operator.get("/operator/labels.csv").text
    assert "known-" not in operator.get("/operator/answers.csv").text


def test_a_desk_fits_the_model_to_whoever_labels_while_nobody_waits(tmp_path, monkeypatch):
    monkeypatch.setattr("crowd_tvcs.serve.app.HISTORY_SECONDS", 0.05)
    gold = {f"g{j:02d}": "01"[j % 2] for j in range(30)}
    answers = [
        (task, name, label if j % every else str(1 - int(label)))
        for j, (task, label) in enumerate(gold.items())
        for name, every in (("ann", 9), ("bob", 4), ("cy", 3))
    ]
    options = {"workers": ["ann", "bob", "cy"], "gold": gold, "gold_answers": answers}
    tasks = [f"t{j:02d}" for j in range(30)]
    with Campaign.create(tmp_path / "c.db", tasks=tasks, **options) as campaign:
        with TestClient(create_app(Served(campaign, PASSWORD)), base_url=BASE):
            for _ in range(20):
                campaign.submit("cy", campaign.next("cy").task, "1")
            until = time.monotonic() + 60.0
            while (labels := campaign.state().model.labels) < 20 and time.monotonic() < until:
                time.sleep(0.05)
        assert labels == 20
        assert campaign.learns_in_background


def brought(tmp_path, *answered):
    """Make a campaign whose gold these workers answered before it began; return its place."""
    gold = {"g1": "1", "g2": "0", "g3": "1"}
    answers = [(task, name, label) for name in answered for task, label in gold.items()]
    options = {"workers": ["ann", "bob", "cy"], "gold": gold, "gold_answers": answers}
    if not answered:
        options["qualities"] = dict.fromkeys(options["workers"], 0.8)
    with Campaign.create(tmp_path / "b.db", tasks=["t1", "t2"], **options):
        return tmp_path / "b.db"


@pytest.mark.parametrize(
    ("answered", "message"),
    [
        ((), None),
        (
            ("ann", "bob"),
            "2 of 3 workers (ann, bob) have already answered all 3 gold tasks and get no gold; add "
            "gold that they have not seen with --gold FILE",
        ),
        (
            ("ann", "bob", "cy"),
            "all 3 workers have already answered all 3 gold tasks and get no gold; add gold that "
            "they have not seen with --gold FILE",
        ),
    ],
)
def test_a_desk_says_to_whom_it_hands_out_no_gold(tmp_path, monkeypatch, capsys, answered, message):
    place = brought(tmp_path, *answered)
    monkeypatch.setattr(start, "_run", lambda *_: None)
    start.serve(place, start.ListenAddress(), gold_share=0.5)
    result = [line for line in capsys.readouterr().err.splitlines() if "get no gold" in line]
    assert result == ([] if message is None else [message])
    with Campaign(place) as campaign:
        assert without_gold(campaign.store) == (sorted(answered), 3)
        line = "workers have answered all the gold there is, and get no more of it"
        binding = [one for one in figures(campaign.store).binding if line in one]
        assert binding == ([f"{len(answered)} {line}"] if answered else [])
    (tmp_path / "new.csv").write_text("task,label\nn1,1\n")
    start.serve(place, start.ListenAddress(), gold=tmp_path / "new.csv")
    assert "get no gold" not in capsys.readouterr().err


def test_who_answers_all_gold_at_the_desk_is_counted_too(campaign):
    campaign.gold_share = 1.0
    for _ in range(24):
        offer = campaign.next("ann")
        if offer.task in GOLD:
            campaign.submit("ann", offer.task, "good")
    assert without_gold(campaign.store) == (["ann"], 12)
    assert campaign.next("ann").task not in GOLD


def test_the_right_label_is_shown_after_the_first_gold(served, campaign):
    campaign.gold_share, campaign.gold_first, campaign.gold_feedback = 0.0, 2, True
    with TestClient(create_app(served), base_url=BASE) as client:
        client.get(f"/w/{served.links.make(['ann'], now=time.time())['ann']}")
        page, message = client.get("/"), []
        for label in ("bad", "good", "good"):
            form = hidden(page) | {"label": label}
            page = client.post("/answer", data=form, headers={"X-Part": "main"})
            words = "The right answer was good, not bad", "That was right"
            message.append([word for word in words if word in page.text])
        assert message == [["The right answer was good, not bad"], ["That was right"], []]
