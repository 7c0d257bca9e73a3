"""Find dead links inside a built site: `python docs/extensions/links.py FOLDER`.

Every address of a page or a picture must lead to a file in the folder, and what follows `#` to an
element with that id (or name). Other hosts are not asked. Exit code 1 if a link is dead.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """What a page can be linked by, and what it links to."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value is not None}
        self.ids |= {found[name] for name in ("id", "name") if name in found}
        self.links += [found[name] for name in ("href", "src", "poster") if name in found]


def dead_links(folder: Path) -> list[str]:
    """Return a sentence for every link of the pages in a folder that leads nowhere inside it."""
    pages = {path.resolve(): _read(path) for path in sorted(folder.rglob("*.html"))}
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target = target / "index.html"
            fragment = unquote(parts.fragment)
            if not target.is_relative_to(folder.resolve()) or not target.exists():
                dead.append(f"{path.relative_to(folder.resolve())}: no file for {link}")
            elif fragment and target in pages and fragment not in pages[target].ids:
                dead.append(f"{path.relative_to(folder.resolve())}: no such place {link}")
    return dead


def main() -> int:
    """Print the dead links of the folder on the command line."""
    folder = Path(sys.argv[1])
    dead = dead_links(folder)
    print("\n".join(dead) or f"no dead link in {len(list(folder.rglob('*.html')))} pages")
    return 1 if dead else 0


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


if __name__ == "__main__":
    sys.exit(main())
