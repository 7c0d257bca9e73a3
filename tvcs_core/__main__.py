"""The command `tvcs`, also run as ``python -m tvcs_core``."""

from tvcs_core.command.shell import run_command


def main() -> None:
    """Run the command line."""
    run_command("tvcs_core.cli", "tvcs")


if __name__ == "__main__":
    main()
