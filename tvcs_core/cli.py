"""The command `tvcs`: project a matrix, verify a projection, look at the installation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvcs_core.command.options import NOT_RECORDED, file_option, program, recorded, with_options
from tvcs_core.command.results import refuse_file, write_with_record
from tvcs_core.command.shell import FAILED, exit_with_error, guarded, print_message, run
from tvcs_core.files.display import did_you_mean, plural
from tvcs_core.files.extras import DATA_SETS, write_data_set

if TYPE_CHECKING:
    from scipy.sparse import coo_array

    from tvcs_core import BlockProjection, Certificate, Projection

app = program("Project a matrix onto caps on its rows, its columns and their total.")


@dataclass(frozen=True, kw_only=True)
class ProjectOptions:
    """The options of ``tvcs project``."""

    matrix: Annotated[
        Path,
        typer.Argument(
            metavar="MATRIX",
            help="A .npy file, a .npz file of a scipy sparse matrix (only stored entries may be "
            "kept), or numbers in a .csv or .tsv file (.gz accepted; a first row without any "
            "number is skipped as a header). Or a folder of .npy files, each a block of rows, "
            "in the order of their names; these are not loaded into memory.",
        ),
    ]
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FILE", help="The .npz file that `tvcs verify` reads."),
        NOT_RECORDED,
    ]
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the kept entries to this .csv or .tsv file: row, column, value. Rows "
            "and columns without names are numbered from 0.",
        ),
        NOT_RECORDED,
    ] = None
    row_cap: Annotated[int | None, typer.Option(min=0, help="Most entries per row.")] = None
    col_cap: Annotated[int | None, typer.Option(min=0, help="Most entries per column.")] = None
    total: Annotated[int | None, typer.Option(min=0, help="Most entries in total.")] = None
    row_caps: Annotated[
        Path | None,
        file_option("A cap for each row: one integer per line, in order."),
        NOT_RECORDED,  # an input, as the next one
    ] = None
    col_caps: Annotated[
        Path | None, file_option("A cap for each column, as in --row-caps."), NOT_RECORDED
    ] = None
    names: Annotated[
        bool,
        typer.Option("--names", help="The first row and the first column of a table are names."),
    ] = False
    method: Annotated[str, typer.Option(help="exact, or lp, pgd, pdhg to compare.")] = "exact"
    force: Annotated[
        bool, typer.Option("--force", help="Replace FILE if it exists."), NOT_RECORDED
    ] = False

    def inputs(self) -> list[Path]:
        """Return all input files."""
        from tvcs_core.projection.blocks.readers import sources_of

        matrix = sources_of(self.matrix) if self.matrix.is_dir() else [self.matrix]
        return [*matrix, *(path for path in (self.row_caps, self.col_caps) if path is not None)]


@app.command()
@guarded
@with_options
def project(given: ProjectOptions) -> None:
    """Project a matrix: keep the entries with the largest sum of squares subject to the caps.

    Prints the objective (the sum of squares kept), the gap to proven optimality, and the time. The
    command also writes FILE.run.json, a record to repeat the run.
    """
    from scipy.sparse import coo_array

    from tvcs_core import TVCS
    from tvcs_core.files.folders import write_whole
    from tvcs_core.files.matrices import Matrix, read_caps, read_matrix
    from tvcs_core.files.record import run_record

    _refuse_both("row", given.row_cap, given.row_caps)
    _refuse_both("col", given.col_cap, given.col_caps)
    refuse_file(given.out, given.inputs(), force=given.force)
    _refuse_suffix("--out", given.out, ".npz")
    if given.table is not None:
        _refuse_suffix("--table", given.table, ".csv", ".tsv")
        refuse_file(given.table, given.inputs(), force=given.force)
    V, rows_named, cols_named = (
        Matrix(None)
        if given.matrix.is_dir()
        else read_matrix(given.matrix, names=given.names, log=print_message)
    )
    shape = _shape_of_blocks(given) if V is None else V.shape
    rows, cols = given.row_caps, given.col_caps
    constraint = TVCS.matrix(
        shape,
        row_caps=given.row_cap if rows is None else read_caps(rows, shape[0], "row"),
        col_caps=given.col_cap if cols is None else read_caps(cols, shape[1], "column"),
        total=given.total,
    )
    projection, seconds = _project(given, V, constraint)
    record = run_record(
        "tvcs project",
        recorded(given),
        seed=None,
        inputs=given.inputs(),
        shape=list(projection.constraint.shape),
        objective=projection.objective,
        gap=projection.gap,
    )
    kept = coo_array(projection.matrix)  # a kept entry is never 0: its gain is positive
    if given.table is not None:
        names = [rows_named or range(shape[0]), cols_named or range(shape[1])]
        write_whole(given.table, lambda path: _write_entries(path, kept, *names))
    write_with_record(given.out, projection.save, record)
    entries = plural(kept.nnz, "entry", "entries")
    typer.echo(f"objective  {projection.objective!r} in {entries}")
    typer.echo(f"gap        {projection.gap!r}")
    typer.echo(f"time       {seconds:.3g} s")


@app.command()
@guarded
def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Output of `tvcs project`.")],
    blocks: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the blocks that were projected.")
    ] = None,
) -> None:
    """Check that a projection keeps the caps and that no other support has a larger objective.

    Uses only V, the caps, the support and the prices in FILE; for a projection of blocks, V is read
    from DIR. Exit code 0 if the projection is proved optimal, 1 if it is not, 2 if FILE holds no
    projection.
    """
    certificate = _certify(file, blocks)
    for violation in certificate.violations[:10]:
        print_message(f"{file}: {violation}")
    if len(certificate.violations) > 10:
        print_message(f"{file}: and {len(certificate.violations) - 10} violations more")
    typer.echo(f"feasible  {'yes' if certificate.feasible else 'no'}")
    typer.echo(f"optimal   {'yes' if certificate.optimal else 'not proved'}")
    typer.echo(f"objective {certificate.objective!r}")
    typer.echo(f"bound     {certificate.bound!r}")
    typer.echo(f"gap       {certificate.gap!r}{' (exact)' if certificate.exact else ''}")
    if not certificate.optimal:
        raise SystemExit(FAILED)


@app.command()
@guarded
def data(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME...", help=f"{', '.join(DATA_SETS)}; all without a name."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder to write into.")
    ] = Path("data"),
) -> None:
    """Write the data sets that come with tvcs, to try commands on: tables and their DATASHEET.md.

    Each data set gets a folder of its name in DIR. Files that are there already are kept if they
    are the same, and else refused.
    """
    unknown = next((name for name in names or () if name not in DATA_SETS), None)
    if unknown is not None:
        hint = did_you_mean(unknown, DATA_SETS)
        raise ValueError(f"NAME must be one of {', '.join(DATA_SETS)}, found {unknown!r}{hint}")
    for name in names or DATA_SETS:
        new = len(list(write_data_set(name, out)))
        typer.echo(f"{out / name}: {plural(new, 'file') if new else 'already there'}")


@app.command()
@guarded
def doctor() -> None:
    """Show versions, kernel cache, cores and memory, and warn of unusual settings.

    Projects a small table and reports whether its kernels came from the cache or were compiled.
    Exit code 1 if its proof fails, or if kernels cannot be cached, so that every run compiles them.
    """
    from tvcs_core.doctor import facts, surprises, try_projection

    for name, value in facts():
        typer.echo(f"{name:<10}{value}")
    for warning in surprises():
        print_message(f"warning: {warning}")
    tried, trouble = try_projection()
    typer.echo(f"{'try':<10}{tried}")
    for sentence in trouble:
        print_message(f"error: {sentence}")
    if trouble:
        raise SystemExit(FAILED)


@app.command("compile")
@guarded
def compile_kernels() -> None:
    """Compile the kernels of the usual commands, so that none of them waits for a compiler later.

    They are kept for the user who runs this, on this kind of processor: run it while an image is
    built, or once on every machine. Takes one to two minutes, and seconds if all is kept.
    """
    from tvcs_core.doctor import NOT_KEPT
    from tvcs_core.jit.folder import cache_folder
    from tvcs_core.precompile import precompile

    folder = cache_folder()
    if folder is None:
        exit_with_error(f"error: {NOT_KEPT}", FAILED)
    for command, seconds in precompile(folder.parent):
        typer.echo(f"{command:<20}{seconds:6.1f} s")
    typer.echo(f"kept in {folder.parent}")


def main() -> None:
    """Run the command line."""
    run(app)


def _refuse_suffix(option: str, path: Path, *suffixes: str) -> None:
    if path.suffix.lower() not in suffixes:
        raise ValueError(f"{option} must end in {' or '.join(suffixes)}, found {path.name!r}")


def _write_entries(
    path: Path, kept: coo_array, rows: Sequence[object], cols: Sequence[object]
) -> None:
    """Write the kept entries in the order of rows and columns, each value as it reads back."""
    from tvcs_core.files.spreadsheet import write_csv
    from tvcs_core.files.tables import write_table

    i, j = (index.tolist() for index in kept.coords)
    entries = sorted(zip(i, j, kept.data.tolist(), strict=True))
    write = write_csv if path.suffix.lower() == ".csv" else write_table
    write(path, ["row", "column", "value"], ((rows[i], cols[j], x) for i, j, x in entries))


def _certify(file: Path, blocks: Path | None) -> Certificate:
    """Return the certificate of the projection in FILE, of blocks or of a matrix."""
    from tvcs_core import BlockProjection, DataError, certify, certify_blocks
    from tvcs_core.projection.blocks.file import is_saved

    of_blocks = is_saved(file)
    if of_blocks and blocks is None:
        raise DataError("holds a projection of blocks; give their folder: --blocks DIR", path=file)
    if blocks is None:
        return certify(_load(file))
    if not of_blocks:
        raise DataError("holds no projection of blocks; --blocks is for those", path=file)
    return certify_blocks(BlockProjection.load(file), blocks)


def _load(file: Path) -> Projection:
    from tvcs_core import Projection

    return Projection.load(file)


def _refuse_both(view: str, cap: int | None, caps: Path | None) -> None:
    if cap is not None and caps is not None:
        raise ValueError(f"--{view}-cap and --{view}-caps: give one of the two")


def _shape_of_blocks(given: ProjectOptions) -> tuple[int, int]:
    """Return the shape of all blocks together; raise for options of single files."""
    from tvcs_core.projection.blocks.readers import BlockReaders

    if given.names or given.method != "exact":
        wrong = "--names" if given.names else "--method"
        raise ValueError(f"{wrong} cannot be given where MATRIX is a folder of blocks")
    return BlockReaders(given.matrix, threads=1, retries=0).shape


def _project(
    given: ProjectOptions, V: Any, constraint: Any
) -> tuple[Projection | BlockProjection, float]:
    """Return the projection and its time in seconds, without that of compilation."""
    from time import perf_counter

    from tvcs_core import DataError, project_blocks
    from tvcs_core import project as project_onto
    from tvcs_core.jit import compiling_seconds
    from tvcs_core.projection.projection import METHODS

    if given.method not in METHODS:
        raise ValueError(f"--method must be one of {', '.join(METHODS)}, found {given.method!r}")
    start = perf_counter() - compiling_seconds()
    projection: Projection | BlockProjection
    try:
        if V is None:
            projection = project_blocks(given.matrix, constraint)
        else:
            projection = project_onto(V, constraint, given.method)
    except DataError:
        raise
    except (ValueError, TypeError) as error:
        raise DataError(str(error), path=given.matrix) from None
    return projection, perf_counter() - start - compiling_seconds()


if __name__ == "__main__":
    main()
