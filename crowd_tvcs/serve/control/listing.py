"""Long lists in pages: search, filter and order, all in the address."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

MAX_SEARCH = 200
"""Characters of a search that are read."""
MAX_PAGE = 1_000_000


class Choice(NamedTuple):
    """The choices of a list; the first of `shown` and of `orders` are the defaults."""

    search: str
    show: str
    order: str
    page: int
    shown: Sequence[str]
    orders: Sequence[str]

    @classmethod
    def of(cls, given: Mapping[str, str], shown: Sequence[str], orders: Sequence[str]) -> "Choice":
        """Read an address; an unknown choice counts as the first.

        Raises
        ------
        ValueError
            If the search holds the character 0, which no name has.
        """
        search = given.get("search", "").strip()[:MAX_SEARCH]
        if "\0" in search:
            raise ValueError("search must have no character 0")
        show, order, page = (given.get(name, "") for name in ("show", "order", "page"))
        number = int(page) if page.isascii() and page.isdigit() and len(page) < 8 else 1
        return cls(
            search,
            show if show in shown else shown[0],
            order if order in orders else orders[0],
            min(max(1, number), MAX_PAGE),
            shown,
            orders,
        )


class Listing(NamedTuple):
    """A list as its page shows it: the choice, the number of rows, and ways to other pages."""

    path: str
    choice: Choice
    number: int
    first: int
    before: str
    after: str


def listing_of(path: str, choice: Choice, number: int, rows: int) -> Listing:
    """Return the list of a page of so many rows."""
    last = max(1, -(-number // rows))

    def way(page: int) -> str:
        if not 1 <= page <= last:
            return ""
        named = {"search": choice.search, "show": choice.show, "order": choice.order}
        return path_of(path, **named, page=str(page))

    first = min(number, rows * (choice.page - 1) + 1)
    return Listing(path, choice, number, first, way(choice.page - 1), way(choice.page + 1))


def path_of(path: str, **named: str) -> str:
    """Return an address of the desk with values of strangers in it."""
    return f"{path}?{urlencode(named)}"
