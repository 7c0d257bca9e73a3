"""The command `crowd-tvcs`, also as ``python -m crowd_tvcs``."""

from tvcs_core.command.shell import run_command


def main() -> None:
    """Run the command line."""
    run_command("crowd_tvcs.cli.main", "crowd-tvcs")


if __name__ == "__main__":
    main()
