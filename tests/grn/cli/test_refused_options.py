"""Options that `infer` refuses, with what to give in their place."""

import pytest

from grn_tvcs import METHODS, infer
from tests.makers.commands import grn_tvcs

TABLE = "time,A,B,C\n" + "\n".join(
    f"{t},{t % 3 + 1}.5,{t % 4 + 1}.25,{t % 5 + 1}" for t in range(30)
)
REFUSED = [
    (["--max-edges", "-1"], "--max-edges must be >= 0, found -1"),
    (["--option", "lags"], "--option must be NAME=VALUE, found 'lags'"),
    (["--option", "trees=many", "--method", "genie3"], "--option trees must be like "),
    (["--option", "lags=2", "--method", "pcc"], "pcc does not take 'lags'; its options: none"),
    (["--out-degrees", "caps.tsv"], "caps.tsv:2: must name a regulator once, found 'A' twice"),
]


@pytest.mark.parametrize(
    ("words", "message"), REFUSED, ids=[" ".join(words) for words, _ in REFUSED]
)
def test_an_option_that_is_none(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text(TABLE)
    (tmp_path / "caps.tsv").write_text("A\t2\nA\t3\n")
    done = grn_tvcs("infer", "x.csv", "--out", "out", *words)
    assert (done.exit_code, (tmp_path / "out").exists()) == (2, False)
    assert f"error: {message}" in done.stderr


def test_when_the_perturbation_ends_stands_in_the_table_or_in_the_option(tmp_path):
    path = tmp_path / "x.csv"
    lines = TABLE.splitlines()
    marked = [
        lines[0] + ",perturbed",
        *(f"{line},{int(t < 5)}" for t, line in enumerate(lines[1:])),
    ]
    path.write_text("\n".join(marked))
    words = ("--scale", "log", "--perturbed-until", "5")
    done = grn_tvcs("infer", path, "--out", tmp_path / "out", *words)
    assert done.exit_code == 2
    assert "error: give a column perturbed or --perturbed-until, not both" in done.stderr


def test_what_calibrate_takes():
    assert "calibrate" in (METHODS["combined"].function.__kwdefaults__ or {})
    with pytest.raises(ValueError, match="calibrate must be an integer >= 0 or 'off', found 'of'"):
        infer([[1.0, 2.0]] * 3, gene_names=["A", "B"], calibrate="of")
