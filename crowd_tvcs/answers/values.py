"""Tell labels and names from words that programs write for a missing or broken value.

Every input is checked by this module: tables of answers, gold, qualities, tasks and workers,
exports of annotation tools, and rows in Python. A label that the caller names as a class is valid,
whatever it looks like. Names of tasks and workers are checked likewise, but ``NA`` is one
(Namibia).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from tvcs_core.arguments import option_name
from tvcs_core.files.display import quoted
from tvcs_core.files.encodings import DECIMAL_COMMA, THOUSANDS

# Missing values of pandas (`na_values` of `pandas.read_csv`, and NaT), with JavaScript's undefined,
# the NULL of SQL dumps, the point of SAS and Stata, and empty lists of JSON. Case matters: "none"
# and "Null" are written by people.
MISSING = frozenset(
    ["nan", "NaN", "-nan", "-NaN", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "None", "null",
     "NULL", "(null)", "NA", "N/A", "n/a", "<NA>", "NaT", "undefined", r"\N", ".", "[]", "{}"]
)  # fmt: skip
# Names of a row or column that a spreadsheet adds for all others.
SUMMARIES = frozenset(
    ["total", "totals", "sum", "mean", "average", "avg", "overall", "majority", "consensus", "mode"]
)
MAY_BE_NAMES = frozenset(["NA", "N/A", "n/a", "."])
# Errors of Excel, LibreOffice and Google Sheets, in any language: #REF!, #BEZUG!, #NAME?, Err:502;
# and ### of a column that is too narrow.
_ERROR = re.compile(
    r"#[¡¿]?[^\W_a-z][^\Wa-z/]*(/[0-9A-Z]+)?[!?]|#N/[AD]( N/A)?|#NA|#NV|#{3,}|Err:\d+"
)
_JSON = re.compile(r"[\[{]\s*['\"\[{\d].*[\]}]|\(\s*['\"].*\)", re.DOTALL)
_ROUNDED = re.compile(r"[+-]?\d([.,]\d+)?[eE]\+\d{1,3}")
_MONTH = "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DATE = re.compile(rf"\d{{4}}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?)?|\d\d?-{_MONTH}|{_MONTH}-\d\d")
# Codes of currencies in circulation, and of those withdrawn since 2020 (ISO 4217).
_CODES = """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP
    BYN BZD CAD CDF CHF CLP CNY COP CRC CUC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP
    GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES
    KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR
    MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB
    RWF SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY
    TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG ZWL
"""
CURRENCY = re.compile(rf"[$€£]|\b({'|'.join(_CODES.split())})\b")
BAR = "|"  # between selections, as Mechanical Turk writes them; never part of a label
OTHER_BARS = ";,#\n"  # Microsoft's Forms; Google's, Qualtrics; doccano; cells of spreadsheets
DIGITS = 15  # digits of a number that a spreadsheet keeps (IEEE double precision)
MAX_NUMERIC_CLASSES = 20  # distinct numbers; if more, numbers with decimals are measurements
MIN_CUT_ZEROS = 4  # zeros beyond `DIGITS`: by chance once in 10,000 numbers

AS_TEXT = (
    "take the table from before the spreadsheet, or open it there with this column as text "
    "(Excel: Data, From Text/CSV)"
)
OF_QUALTRICS = '"ImportId"'  # in the third row of its tables
_QUALTRICS = (
    "delete the second and third row, or read the table with crowd-tvcs import --format prolific"
)
_REMEDIES = {  # by the kind of a fault, and whether a label has it
    ("missing", False): "else give each its own name, or delete the row",
    ("error", False): "mend the formula, or delete the row",
    ("missing", True): "write the label, or delete the row",
    ("rounded", False): f"{AS_TEXT}; a name that is meant so needs a letter before it",
    ("rounded", True): AS_TEXT,
    ("json", True): "write the label itself, or read the tool's own export with crowd-tvcs import",
    ("number", True): "round the numbers to few classes first",
    ("several", True): "leave such answers out, or vote on each label with crowd-tvcs multilabel",
}


class Fault(NamedTuple):
    """Reason why a text is not a valid label or name.

    Attributes
    ----------
    kind
        ``"missing"``, ``"error"``, ``"json"``, ``"several"``, ``"rounded"`` or ``"number"``.
    description
        The reason, as a clause that follows the value.
    """

    kind: str
    description: str

    @property
    def is_missing(self) -> bool:
        """Whether the value stands for none, so that the answer may be left out."""
        return self.kind in ("missing", "error")


def find_name_fault(text: str) -> Fault | None:
    """Return the fault of a name of a task or a worker; None if it is valid.

    Examples
    --------
    >>> [find_name_fault(text) for text in ("ann", "NA", "007", "1e5")]
    [None, None, None, None]
    >>> [find_name_fault(text).kind for text in ("nan", "#REF!", "1.23457E+17")]
    ['missing', 'error', 'rounded']
    """
    if text in MAY_BE_NAMES:
        return None
    return _nothing(text) or _rounded(text)


def find_label_fault(text: str) -> Fault | None:
    """Return the fault of a single label; None if it is valid.

    Examples
    --------
    >>> [find_label_fault(text) for text in ("cat", "none", "1.0", "A+", "[laughter]")]
    [None, None, None, None, None]
    >>> [find_label_fault(text).kind for text in ("NA", "cat|dog", '["cat"]')]
    ['missing', 'several', 'json']
    """
    found = _nothing(text) or _rounded(text)
    if found is None and _is_json(text):
        return Fault("json", "is a cell of JSON or of a list")
    if found is None and len(_parts(text, BAR)) > 1:
        return Fault("several", f"looks like several selections ({_joined(_parts(text, BAR))})")
    return found


def find_label_faults(labels: Collection[str]) -> dict[str, Fault]:
    """Return the faults of labels that occur together, by label.

    ``cat;dog`` is several selections if ``cat`` and ``dog`` are labels as well.

    Examples
    --------
    >>> list(find_label_faults(["cat", "dog", "cat, dog", "yes, but unclear", "None"]))
    ['cat, dog', 'None']
    """
    alone = {text.strip(OTHER_BARS + " ") for text in labels}
    out = {}
    for text in labels:
        found = find_label_fault(text) or _several_of(text, alone)
        if found is not None:
            out[text] = found
    numbers = numeric_labels(labels)
    if len(numbers) == len(labels) - len(out) and len(numbers) > MAX_NUMERIC_CLASSES:
        description = f"is one of {len(numbers)} different numbers, as of a rating or a measurement"
        out |= {
            text: Fault("number", description) for text in numbers if not numbers[text].is_integer()
        }
    return out


def numeric_labels(labels: Iterable[str]) -> dict[str, float]:
    """Return the labels that are finite numbers, with or without a percent sign."""
    out = {}
    for text in labels:
        try:
            value = float(text.removesuffix("%"))
        except ValueError:
            continue
        if math.isfinite(value):
            out[text] = value
    return out


def describe_fault(
    fault: Fault,
    text: str,
    kind: str,
    *,
    times: int = 0,
    of_answers: bool,
    empty: str = "an empty cell",
) -> str:
    """Describe an invalid value and the remedy, for an error.

    Parameters
    ----------
    fault
        The fault.
    text
        The value.
    kind
        ``"label"``, or the kind of the name: ``"task"``, ``"worker"``.
    times
        Number of rows with the value; 0 if not counted.
    of_answers
        Whether there is an option that leaves such rows out.
    empty
        Name of an empty text.
    """
    if OF_QUALTRICS in text:
        return f"must be one label, found a row of headers of Qualtrics; {_QUALTRICS}"
    is_label = kind == "label"
    must_be = "must be one label" if is_label else f"must be the name of a {kind}"
    if kind == "name" or not text:
        must_be = "must be a name"
    found = f"found {quoted(text)}, which {fault.description}" if text else f"found {empty}"
    many = f" ({times} rows)" if times > 1 else ""
    leave_out = f"{option_name('leave_out_missing')} leaves such rows out and counts them"
    remedies = [leave_out] if of_answers and fault.is_missing else []
    if is_label and text:
        remedies.append(f"if it is a class, name every class with {option_name('classes')}")
    else:
        remedies.append(_REMEDIES[fault.kind, is_label])
    if is_label and not fault.is_missing:
        remedies.insert(0, _REMEDIES[fault.kind, True])
    shared = {"missing": "would", "error": "would", "rounded": "may"}.get(fault.kind)
    if is_label or not text or shared is None:
        return f"{must_be}, {found}{many}; {'; '.join(remedies)}"
    things = "things" if kind == "name" else f"{kind}s"
    return f"{must_be}, {found} and different {things} {shared} share{many}; {'; '.join(remedies)}"


class Amount(float):
    """An amount of money, and the sign or code of its currency as it was written, or nothing."""

    currency: str = ""


def parse_money(text: str) -> Amount:
    """Read an amount, with the sign or the code of a currency or without.

    Examples
    --------
    >>> parse_money("$0.05"), parse_money("5 €"), parse_money("EUR 7"), parse_money("7")
    (0.05, 5.0, 7.0, 7.0)
    >>> parse_money("EUR 7").currency
    'EUR'
    """
    found = CURRENCY.search(text)
    unit = "" if found is None else found[0]
    try:
        out = Amount(with_point(text.strip().removeprefix(unit).removesuffix(unit)))
        out.currency = unit
        return out
    except ValueError:
        raise ValueError(f"must be a number such as 0.05 or $0.05, found {text!r}") from None


def of_no_currency(text: str, currency: str) -> str:
    """Describe an amount in a currency, where it joins others whose currency is not known."""
    return (
        "must be a number in the unit of the costs, as the campaign keeps no currency, found "
        f"{quoted(text)}; leave out {currency}"
    )


def parse_share(text: str) -> float:
    """Read a share, as a number or in per cent.

    Examples
    --------
    >>> parse_share(".5"), parse_share("50 %"), parse_share("0,5")
    (0.5, 0.5, 0.5)
    """
    number = text.strip().removesuffix("%")
    try:
        return float(number.replace(",", ".")) / (1.0 if number == text.strip() else 100.0)
    except ValueError:
        raise ValueError(f"must be a number such as .5 or 50 %, found {text!r}") from None


def with_point(number: str) -> str:
    """Write a decimal comma as a point, unless it may part thousands.

    Examples
    --------
    >>> with_point(" 0,85"), with_point("1,500"), with_point("1,000,000")
    ('0.85', '1,500', '1,000,000')
    """
    cell = number.strip()
    is_clear = DECIMAL_COMMA.fullmatch(cell) and not THOUSANDS.fullmatch(cell)
    return cell.replace(",", ".") if is_clear else number


def without_zeros(text: str) -> str:
    """Return 3 for 3.0, as programs write integers beside empty cells; other texts as they are."""
    whole, _, rest = text.partition(".")
    is_whole = whole.removeprefix("-").isdecimal() and not rest.strip("0")
    return whole if is_whole else text


def is_date(text: str) -> bool:
    """Return whether a text is a spreadsheet's date, perhaps of a name such as 2-3 or MAR2."""
    return "-" in text and _DATE.fullmatch(text) is not None


def truncated_numbers(names: Iterable[str]) -> list[str]:
    """Return the names that are longer numbers than a spreadsheet keeps, if all were truncated.

    Examples
    --------
    >>> truncated_numbers(["1294030472427830000", "1294030472427840000", "7"])
    ['1294030472427830000', '1294030472427840000']
    >>> truncated_numbers(["1294030472427831234", "1294030472427840000"])
    []
    """
    long = [name for name in names if len(name) > DIGITS and name.isascii() and name.isdigit()]
    beyond = "".join(name[DIGITS:] for name in long)
    return long if len(beyond) >= MIN_CUT_ZEROS and not beyond.strip("0") else []


def _nothing(text: str) -> Fault | None:
    if not text:
        return Fault("missing", "is an empty cell")
    if text in MISSING:
        return Fault("missing", "is what programs write where there is no value")
    if text[0] in "#E" and _ERROR.fullmatch(text):
        return Fault("error", "is an error of a spreadsheet")
    return None


def _rounded(text: str) -> Fault | None:
    if "+" in text and _ROUNDED.fullmatch(text):
        return Fault("rounded", "is a number that a spreadsheet rounded")
    return None


def _is_json(text: str) -> bool:
    """Return whether a text is a JSON object or list, or a list as Python or NumPy print it."""
    if text[0] not in "[{(" or not _JSON.fullmatch(text):
        return False
    if text[1:].lstrip()[:1] in "'\"":
        return True
    try:
        return isinstance(json.loads(text), list | dict)
    except (ValueError, RecursionError):
        return False


def _several_of(text: str, alone: Collection[str]) -> Fault | None:
    for bar in OTHER_BARS:
        if bar in text:
            parts = _parts(text, bar)
            if len(parts) > 1 and all(part in alone for part in parts):
                return Fault("several", f"looks like several selections ({_joined(parts)})")
    return None


def _parts(text: str, bar: str) -> list[str]:
    return [part.strip() for part in text.split(bar) if part.strip()] if bar in text else []


def _joined(parts: list[str]) -> str:
    return ", ".join(quoted(part) for part in parts[:3]) + (", ..." if len(parts) > 3 else "")
