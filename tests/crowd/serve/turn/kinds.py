"""A campaign of each kind of answers that is no class."""

from contextlib import contextmanager
from itertools import combinations

from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.desk.content import Content, content_of_pairs, set_content

ITEMS = ["gpt", "llama", "opus"]
PAIRS = [f"{x} vs {y}" for x, y in combinations(ITEMS, 2)]
KINDS = {
    "scale": {"classes": ["1", "2", "3", "4", "5"], "qualities": {"ann": 0.9, "bob": 0.8}},
    "multilabel": {"classes": ["cat", "dog", "cow"]},
    "pairs": {"tasks": PAIRS},
}


@contextmanager
def campaign_of(kind, folder):
    """Yield a campaign of two people and three tasks; items of pairs have a text."""
    given = {"workers": ["ann", "bob"], "tasks": ["t1", "t2", "t3"], "answer_kind": kind}
    with Campaign.create(folder / "c.db", **given | KINDS[kind]) as made:
        if kind == "pairs":
            bodies = {name: Content(text=f"Text of {k}") for k, name in enumerate(ITEMS)}
            set_content(made.store, content_of_pairs(bodies, PAIRS, None), folder)
        yield made
