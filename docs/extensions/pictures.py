"""Take the picture of a plan's report that the site shows: `python docs/extensions/pictures.py`.

Needs a Chromium (`TVCS_BROWSER`, or one on the path) and playwright.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ASSIGN = (
    "crowd-tvcs assign data/crowd40/quality.csv --max-workers-per-task 5 "
    "--max-tasks-per-worker 20 --budget 480"
)
WIDTH, HEIGHT = 1000, 800


def main() -> None:
    """Make the plan and photograph its report."""
    from playwright.sync_api import sync_playwright

    program = os.environ.get("TVCS_BROWSER") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        plan = Path(folder, "plan")
        subprocess.run([*shlex.split(ASSIGN), "--out", str(plan)], cwd=ROOT, check=True)
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto((plan / "report.html").as_uri())
        page.screenshot(path=ROOT / "docs" / "figures" / "crowd-report.png")
        browser.close()


if __name__ == "__main__":
    main()
