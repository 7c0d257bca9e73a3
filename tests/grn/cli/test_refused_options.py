"""What `infer` refuses: in one line that names the remedy, before anything is written."""

import shutil

import pytest

from grn_tvcs import METHODS, infer
from tests.makers.commands import grn_tvcs

TABLE = "Time\tA\tB\n0\t1\t2\n1\t3\t5\n2\t4\t4\n"
FILES = {
    "few.tsv": TABLE,
    "plain.tsv": "A\tB\n1\t2\n",
    "text.tsv": TABLE.replace("5", "five"),
    "perturbed.tsv": "Time\tperturbed\tA\tB\n0\t1\t1.5\t2\n1\t0\t3\t5\n2\t0\t4\t4\n",
    "ids.txt": "ENSG1\n",
    "nobody.txt": "# nobody\n",
    "empty.txt": "",
    "one.txt": "G1\n",
    "two.txt": "G2\nG5\n",
    "three.txt": "G3\nG4\n",
    "caps.tsv": "G1\tmany\n",
    "twice.tsv": "G1\t2\nG1\t3\n",
    "prior.csv": "TF,target,weight\nG1,G2,1\n",
    "alien.csv": "TF,target,weight\nX1,X2,1\n",
    "chip.csv": "TF,target,weight\nG1,G2,812\n",
}
X, REST = "timeseries.tsv", "multifactorial.tsv"
REFUSED = [
    ("plain.tsv", "", "time series (a column Time), found 1 in steady state"),
    ("text.tsv", "", "text.tsv:3, column 'B'"),
    ("perturbed.tsv", "--scale log --perturbed-until 1",
     "give a column perturbed or --perturbed-until, not both"),
    ("few.tsv", "--scale levels --calibrate 4", "calibrate: 2 steps from sample to sample are too "
     "few for edge probabilities; give 6 or more, or --calibrate off"),
    (X, "--max-in-degree -1", "--max-in-degree must be >= 0, found -1"),
    (X, "--max-edges -1", "--max-edges must be >= 0, found -1"),
    (X, "--seed -1", "--seed must be >= 0"),
    (X, "--method magic", "--method must be one of combined,"),
    (X, "--perturbed-until 5000", "every sample is before 5000"),
    (X, "--missing guess", "missing must be one of error, drop, interpolate"),
    (X, "--wildtype wt.tsv", "used beside --knockouts, --knockdowns or --over"),
    # lists
    (X, "--regulators ids.txt", "found none: here stands ENSG1; there G1, G2"),
    (X, "--regulators nobody.txt", "an empty list"),
    (X, "--regulators gone.txt", "No such file"),
    (X, "--regulators empty.txt", "an empty list"),
    (X, "--targets nobody.txt", "must name genes of the expression file, found none"),
    (X, "--genes nobody.txt", "at least 2 genes of the expression file, found none: here"),
    (X, "--genes ids.txt", "found none: here stands ENSG1; there G1"),
    (X, "--genes one.txt", "found 1: here stands G1"),
    (X, "--genes two.txt --regulators three.txt", "none of the regulators"),
    (X, "--top-variable 1", "--top-variable must be >= 2, found 1"),
    (X, "--top -1", "--top must be >= 0, found -1"),
    (X, "--out-degrees caps.tsv --max-out-degree 2", "not both"),
    (X, "--out-degrees caps.tsv", "caps.tsv:1: must be a name and a cap"),
    (X, "--out-degrees twice.tsv", "twice.tsv:2: must name a regulator once, found 'G1' twice"),
    # options of methods
    (X, "--option resamples", "--option must be NAME=VALUE, found 'resamples'"),
    (X, "--option size=3", "combined does not take 'size'; its options: resamples, calibrate"),
    (X, "--option resamples=few", "--option resamples must be like 100, found 'few'"),
    (X, "--method tvcs --option memory=0.3", "--option memory must be like 0.3,0.7, found '0.3'"),
    (X, "--method genie3 --option trees=many", "--option trees must be like "),
    (X, "--method pcc --option lags=2", "pcc does not take 'lags'; its options: none"),
    # prior edges and references
    (X, "--method tvcs --prior prior.csv", "tvcs cannot use prior edges; methods that can: combi"),
    (X, "--prior alien.csv", "alien.csv: must have a prior edge between two different genes"),
    (X, "--prior chip.csv", "chip.csv:2, column 'weight': a weight must be above 0 and"),
    (X, "--prior gone.csv", "gone.csv: No such file"),
    (X, "--reference alien.csv --pairs some", "--pairs must be one of all, linked"),
    (X, "--reference two.txt", "a reference must have 2 or 3 columns, found 1"),
    # samples at rest
    (REST, "--knockouts knockouts.tsv", "are used beside time series"),
    (REST, "--perturbed-until 4", "ends within a series, but all samples are in steady state"),
    (REST, "--method tvcs", "tvcs needs time series, but no sample has a time (a column Time); "
     "methods that need none: combined, pcc, aracne, clr, mrnet, pidc, genie3, tigress, "
     "spearman, partial-correlation"),
    # engines
    (X, "--threads 0", "--threads must be >= 1"),
    (X, "--workers 0", "--workers must be >= 1, found 0"),
    (X, "--workers 2 --threads 2", "found --threads and --workers"),
    (X, "--cluster tcp://192.0.2.7:8786", "give --trust-network"),
    (X, "--cluster http://here", "--cluster must be tcp://HOST:PORT"),
    (X, "--cluster missing.json", "missing.json: cannot be read (No such file"),
    (X, "--tls .", "--tls and --trust-network go with --cluster"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(small, tmp_path_factory):
    path = tmp_path_factory.mktemp("refused") / "data"
    shutil.copytree(small, path)
    for name, text in FILES.items():
        (path / name).write_text(text)
    return path


@pytest.mark.parametrize(("table", "words", "message"), REFUSED)
def test_what_cannot_be_is_one_line_and_writes_nothing(folder, monkeypatch, table, words, message):
    monkeypatch.chdir(folder)
    done = grn_tvcs("infer", table, "--out", "out", *words.split())
    [error] = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert (done.exit_code, message in error) == (2, True), done.stderr
    assert not (folder / "out").exists()


def test_what_calibrate_takes():
    assert "calibrate" in (METHODS["combined"].function.__kwdefaults__ or {})
    with pytest.raises(ValueError, match="calibrate must be an integer >= 0 or 'off', found 'of'"):
        infer([[1.0, 2.0]] * 3, gene_names=["A", "B"], calibrate="of")
