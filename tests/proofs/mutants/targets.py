"""What is changed, and which fast tests must notice it."""

import math
import re
from pathlib import Path
from typing import NamedTuple

LIBRARIES = ("numpy", "scipy.sparse", "pandas", "numba", "sklearn", "networkx")
CROWD = ("numpy", "scipy.optimize", "scipy.sparse", "scipy.stats", "pandas", "numba", "hypothesis")
CROWD += ("sqlalchemy.dialects.sqlite", "itsdangerous", "fastapi.testclient")
VOTES = (
    "gains_of_a_large_group_are_what_one_more_voter_adds",
    "many_tasks_at_once_equal_each_alone",
    "twenty_voters_equal_enumeration",
    "equal_voters_are_exact_in_any_number",
    "up_to_22_voters_the_bounds_agree",
    "certain_voters_and_useless_voters",
    "a_second_equal_worker_adds_exactly_nothing",
    "the_sampled_accuracy_lies_within_its_error",
    "bad_arguments_are_named",
)
CAMPAIGN = (
    "creation", "campaign", "entries", "estimates", "gold_calibration", "ingest/additions",
    "ingest/labels", "ingest/tables", "leases", "offers", "read_state", "rounds", "settings",
    "state", "stopping", "stored_model", "tasks",
)  # fmt: skip
CAMPAIGN_TESTS = (
    "creation",
    "gold_calibration",
    "ingest",
    "leases",
    "planning",
    "refits",
    "task_status",
    "stored_model",
    "tables",
    "worth",
)
BELIEFS = (
    "claims_and_arrays_and_the_vote_agree_in_a_store",
    "gold_answers_that_come_later_fit_the_model_anew",
    "the_best_worker_and_what_is_sure_follow_the_gold",
)
OF_KINDS = (
    "a_campaign_of_kinds_says_what_the_one_of_its_table_says",
    "tasks_workers_and_kinds_are_added",
    "the_first_round_of_a_large_crowd_is_the_plan_of_assign",
)
SHARES = (
    "a_share_of_the_tasks_is_gold_and_none_of_it_comes_twice",
    "without_a_share_nobody_gets_any",
)
DESK = ("access", "content", "desk", "figures", "gold", "tables", "actions")
STORE = ("errors", "gold", "queries", "statements", "store")
# The three packages and where their tests are, for the sample of all rooms.
PACKAGES = {"tvcs_core": "tests/core", "grn_tvcs": "tests/grn", "crowd_tvcs": "tests/crowd"}
OF_TEXT = ("test_docs.py", "test_layers.py")  # they name modules and run none of them


def _in(folder: str, names: str) -> list[str]:
    """Some modules and folders of a folder."""
    return [f"{folder}/{name}" for name in names.split()]


class Target(NamedTuple):
    """Modules that are changed together.

    Attributes
    ----------
    modules
        Files or folders.
    tests
        Files or folders of tests, of which those are run that touch what is changed.
    interpreted
        Whether kernels run as plain Python. They must where one is changed: the compiled ones are
        kept by their source.
    sample
        How many mutants are tried of them all; None for each.
    imports
        What is imported once and for all.
    seconds
        What tests may take longer than without a change.
    slowest
        Tests that take more seconds are left out.
    together
        Those are run, the quickest first, that take so many seconds together.
    is_open
        Whether less than nine of ten are killed so far.
    options
        Options of pytest.
    """

    modules: tuple[str, ...]
    tests: tuple[str, ...]
    interpreted: bool = False
    sample: int | None = None
    imports: tuple[str, ...] = LIBRARIES
    seconds: float = 5.0
    slowest: float = math.inf
    together: float = math.inf
    is_open: bool = False
    options: tuple[str, ...] = ()


TARGETS = {
    "constraint": Target(("tvcs_core/constraint.py",), ("tests/core/test_constraint.py",)),
    "certificate": Target(
        ("tvcs_core/certificate.py", "tvcs_core/projection/bound.py"),
        (
            "tests/core/test_certificate.py",
            "tests/core/projection/blocks/test_certified_blocks.py",
            "tests/core/projection/test_gap.py",
        ),
    ),
    "accuracy": Target(
        (
            "crowd_tvcs/accuracy/common_error.py",
            "crowd_tvcs/accuracy/gradient.py",
            "crowd_tvcs/accuracy/many_classes.py",
            "crowd_tvcs/accuracy/model.py",
            "crowd_tvcs/accuracy/two_classes.py",
        ),
        (
            *(f"tests/crowd/accuracy/test_accuracy.py::test_{name}" for name in VOTES),
            "tests/crowd/accuracy/test_common_error.py",
            "tests/crowd/accuracy/test_models.py",
            "tests/crowd/accuracy/test_teams.py",
        ),
        sample=150,
        imports=CROWD,
    ),
    "accuracy-kernels": Target(
        ("crowd_tvcs/accuracy/kernels",),
        ("tests/crowd/accuracy/test_class_kernels.py", "tests/crowd/accuracy/test_kernels.py"),
        interpreted=True,
        sample=250,
        imports=CROWD,
    ),
    # What is PostgreSQL's own (`pipeline`) and the tables (`schema`) are left out.
    "campaign": Target(
        (
            *(f"crowd_tvcs/campaign/{name}.py" for name in CAMPAIGN),
            *(f"crowd_tvcs/campaign/desk/{name}.py" for name in DESK),
            *(f"crowd_tvcs/campaign/store/{name}.py" for name in STORE),
        ),
        (
            *(f"tests/crowd/campaign/test_{name}.py" for name in CAMPAIGN_TESTS),
            "tests/crowd/campaign/desk/test_desk.py",
            "tests/crowd/campaign/desk/test_figures.py",
            *(f"tests/crowd/campaign/desk/test_gold.py::test_{name}" for name in SHARES),
            "tests/crowd/campaign/store/test_errors.py",
            "tests/crowd/campaign/store/test_store.py",
            *(f"tests/crowd/campaign/test_dependence.py::test_{name}" for name in BELIEFS),
            *(f"tests/crowd/campaign/test_kinds.py::test_{name}" for name in OF_KINDS),
            "tests/crowd/campaign/test_rounds.py::test_answers_that_come_while_a_plan_is_made_make_it_anew",
            "tests/crowd/serve/test_content.py",
        ),
        sample=300,
        imports=CROWD,
    ),
    "readers": Target(
        (
            *_in("tvcs_core/files", "display encodings matrices rows spreadsheet tables workbook"),
            *_in("grn_tvcs/expression", "expression formats from_sheet genes_in_rows judge"),
            *_in("grn_tvcs/expression", "missing_values read sample_sheet sheet"),
            *_in("crowd_tvcs/answers", "answers columns gold names recorded"),
        ),
        (
            *_in("tests/core/files", "test_encodings.py test_files.py test_matrices.py"),
            "tests/core/files/test_display.py",
            "tests/grn/expression",
            "tests/crowd/answers",
        ),
        sample=340,
        imports=(*LIBRARIES, "anndata", "openpyxl"),
        slowest=0.3,
    ),
}


def room_of(file: str) -> str:
    """Return the room of a module: a folder of a package, or the module itself."""
    return "/".join(file.split("/")[:2])


def files_in(packages: dict[str, str], root: Path) -> list[str]:
    """Return all modules of the packages but those of kernels."""
    paths = [path for package in packages for path in sorted((root / package).rglob("*.py"))]
    files = [path.relative_to(root).as_posix() for path in paths]
    return [file for file in files if "kernels" not in file]


def room_tests(file: str, packages: dict[str, str], root: Path) -> list[str]:
    """Return the test files of a module's room, first those that name the module."""
    package, room = room_of(file).removesuffix(".py").split("/")
    tests = root / packages[package]
    if (tests / room).is_dir():
        found = sorted((tests / room).rglob("test_*.py"))
    elif (tests / f"test_{room}.py").exists():
        found = [tests / f"test_{room}.py"]
    else:
        imported = rf"from {package} import (?:\([^)]*|[^\n]*)\b{room}\b"
        named = re.compile(rf"\b{package}\.{room}\b|{imported}")
        beside = [*sorted(root.glob("tests/test_*.py")), *sorted(tests.rglob("test_*.py"))]
        ours = [path for path in beside if path.name not in OF_TEXT]
        found = [path for path in ours if named.search(path.read_text(encoding="utf-8"))]
    word = re.compile(rf"\b{Path(file).stem}\b")
    found.sort(key=lambda path: not word.search(path.read_text(encoding="utf-8")))
    return [path.relative_to(root).as_posix() for path in found]
