"""The command `grn-tvcs`, also as ``python -m grn_tvcs``."""

from tvcs_core.command.shell import run_command


def main() -> None:
    """Run the command line."""
    run_command("grn_tvcs.cli.main", "grn-tvcs")


if __name__ == "__main__":
    main()
