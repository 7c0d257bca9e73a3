"""Files and lists as people have them, from the command line; `check` says what would read them."""

import json
import shlex

import pandas as pd
import pytest

from tests.makers.commands import check_done, grn_tvcs

LEVELS = [[((3 * t + 5 * g + t * g) % 11) / 10 for g in range(4)] for t in range(12)]
FRAME = pd.DataFrame(LEVELS, columns=["GeneA", "GeneB", "GeneC", "GeneD"])


@pytest.fixture
def timed(tmp_path):
    path = tmp_path / "x.csv"
    FRAME.assign(Timepoint=[f"{t}h" for t in range(12)], kit="k").to_csv(path)
    return path


def offered(done):
    """The commands that `check` says would work."""
    mark = "): grn-tvcs "
    return [
        shlex.split(line.partition(mark)[2]) for line in done.stderr.splitlines() if mark in line
    ]


def test_check_prints_the_command_that_would_work_and_it_does(timed, tmp_path):
    refused = grn_tvcs("check", timed)
    assert refused.exit_code == 2
    assert "error: " in refused.stderr.splitlines()[-1]
    both = ["check", str(timed), "--time-column", "Timepoint", "--ignore", "kit"]
    assert offered(refused) == [both]
    refused = grn_tvcs("check", timed, "--ignore", "kit")
    [words] = offered(refused)
    assert words == ["check", str(timed), "--time-column", "Timepoint", "--ignore", "kit"]
    done = check_done(grn_tvcs(*words))
    line = next(line for line in done.stdout.splitlines() if line.startswith("to infer"))
    words = shlex.split(line.partition("grn-tvcs ")[2].replace("DIR", str(tmp_path / "out")))
    assert words[0] == "infer"
    assert grn_tvcs(*words, "--method", "pcc").exit_code == 0
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["parameters"]["time_column"] == "Timepoint"
    assert record["parameters"]["ignore"] == ["kit"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "--time-column Timepoint" in page
    assert "--ignore kit" in page


def test_options_that_are_not_given_are_not_recorded(tmp_path):
    FRAME.assign(Time=range(12)).to_csv(tmp_path / "x.csv", index=False)
    assert (
        grn_tvcs("infer", tmp_path / "x.csv", "--method", "pcc", "--out", tmp_path / "o").exit_code
        == 0
    )
    options = json.loads((tmp_path / "o" / "run.json").read_text())["parameters"]
    new = {"sample_column", "ignore", "sheet", "samples_sheet", "layer", "gene_column"}
    assert not new & set(options)
    assert options["series_column"] is None


def test_several_columns_of_series_are_recorded_as_a_list_and_one_by_its_name(tmp_path):
    frame = FRAME.assign(Time=[*range(6)] * 2, donor=["a"] * 6 + ["b"] * 6, arm="x")
    frame.to_csv(tmp_path / "x.csv", index=False)
    for names in (["donor"], ["arm", "donor"]):
        given = [word for name in names for word in ("--series-column", name)]
        words = [*given, "--method", "pcc", "--out", tmp_path / names[0]]
        words += ["--ignore", "arm"] if len(names) == 1 else []
        check_done(grn_tvcs("infer", tmp_path / "x.csv", *words))
        kept = json.loads((tmp_path / names[0] / "run.json").read_text())["parameters"]
        assert kept["series_column"] == (names[0] if len(names) == 1 else names)


LISTS = {
    "another case": "genea\nGENEB\n",
    "two columns": "TF,Family\nGeneA,MYB\nGeneB,NAC\nOther,X\n",
    "second column": "id\tsymbol\nENS1\tGeneA\nENS2\tGeneB\n",
    "both": "TF;Family\ngenea;MYB\ngeneb;NAC\n",
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_regulators_may_be_tables_and_of_another_case(name, tmp_path):
    FRAME.assign(Time=range(12)).to_csv(tmp_path / "x.csv", index=False)
    (tmp_path / "r.txt").write_text(LISTS[name])
    done = check_done(grn_tvcs("check", tmp_path / "x.csv", "--regulators", tmp_path / "r.txt"))
    assert "regulators   2 of 2 names are genes" in done.stdout
    assert "2 of " in done.stderr
    assert "names are genes" in done.stderr
    assert ("another case of letters" in done.stderr) == (name in ("another case", "both"))
    words = ["--regulators", "--targets", "--genes"]
    infer = "infer", tmp_path / "x.csv", "--method", "pcc", "--out"
    made = [grn_tvcs(*infer, tmp_path / f"o{word}", word, tmp_path / "r.txt") for word in words]
    assert [one.exit_code for one in made] == [0, 0, 0]


def test_a_list_may_be_a_workbook(tmp_path):
    pytest.importorskip("openpyxl")
    FRAME.assign(Time=range(12)).to_csv(tmp_path / "x.csv", index=False)
    table = pd.DataFrame({"TF": ["GeneA", "GeneC"], "family": ["MYB", "NAC"]})
    table.to_excel(tmp_path / "r.xlsx", index=False)
    done = grn_tvcs("check", tmp_path / "x.csv", "--regulators", tmp_path / "r.xlsx")
    assert "regulators   2 of 2 names are genes" in done.stdout, done.stderr


@pytest.mark.filterwarnings("ignore")
def test_check_prints_the_series_with_names_and_times_and_the_last_genes(tmp_path):
    path = tmp_path / "x.csv"
    FRAME.assign(Time=[0, 1, 2, 4, 8, 24] * 2, condition=[*"aaaaaabbbbbb"]).assign(
        **{f"G{k}": FRAME["GeneA"] * k for k in range(2, 9)}
    ).to_csv(path, index=False)
    message = grn_tvcs("check", path).stdout
    assert "genes        11: GeneA, GeneB, GeneC, GeneD, G2, ..., G7, G8\n" in message
    assert "series       2 of 6 time points\n" in message
    assert "\n  1          a: 0, 1, 2, 4, 8, 24\n" in message
    assert "\n  2          b: 0, 1, 2, 4, 8, 24\n" in message


LATE = "Time,A,B\n0,1.5,2\n0,2.5,3\n2,4,5\n2,5,6\n"
OFFERED = {
    "unpaired replicates": (LATE, "check --replicates unpaired"),
    "repeats": (LATE, "check --replicates average"),
    "Entrez": ("entrez,1h,2h,3h\n14281,1,2,3\n16476,2,5,4\n", "check --genes-in-rows"),
    "units": (
        "gene,a_count,a_tpm,b_count,b_tpm\nA,1,1.5,2,2.5\nB,4,4.5,1,9.5\n",
        "check --genes-in-rows --ignore '*_tpm'",
    ),
    "rises": (
        "t,A,B\n" + "".join(f"{2 * k},{7 * k % 5},{3 * k % 4}\n" for k in range(6)),
        "check --time-column t",
    ),
    "results": (
        "gene,a,b,c,d,logFC,adj.P.Val\nA,1,2,3,4,0.1,0.5\nB,2,1,2,1,0.2,0.5\n",
        "check --genes-in-rows --ignore logFC --ignore adj.P.Val",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", OFFERED)
def test_check_offers_each_reading_as_a_command_and_all_of_them_read(kind, tmp_path):
    text, wanted = OFFERED[kind]
    path = tmp_path / "x.csv"
    path.write_text(text)
    given = ["--genes-in-rows"] if kind in ("units", "results") else []
    refused = grn_tvcs("check", path, *given)
    assert refused.exit_code == 2
    commands = offered(refused)
    first, *words = shlex.split(wanted)
    assert [first, str(path), *words] in commands
    for command in commands:
        check_done(grn_tvcs(*command))
