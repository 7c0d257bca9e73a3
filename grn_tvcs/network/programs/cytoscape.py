"""A style of Cytoscape 3 for the networks of this project (File > Import > Styles from File).

The head of an arrow shows the sign; its width and opacity grow with its confidence, or its score
if there is none, and nodes grow with their targets. The names of columns are those of GraphML,
Cytoscape JSON and the table of edges.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import quoteattr

from grn_tvcs.network.network import Network

NAME = "tvcs"
# By relation: arrow, and colours that are told apart without seeing red and green.
ARROWS = {"activates": "DELTA", "represses": "T", "regulates": "CIRCLE", "associated-with": "NONE"}
COLOURS = {"activates": "#0072B2", "represses": "#D55E00", "regulates": "#7F7F7F",
           "associated-with": "#7F7F7F"}  # fmt: skip
THIN, THICK = "1.0", "6.0"
FAINT, FULL = "90", "255"
SMALL, LARGE = "30.0", "90.0"


def write_style(network: Network, path: Path) -> None:
    """Write the style of a network, whose ranges of score and degree it is made for."""
    edges = network.edges(selected_only=True)
    confidences = [edge.confidence for edge in edges if edge.confidence is not None]
    column = "confidence" if confidences and len(confidences) == len(edges) else "score"
    if column == "confidence":
        low, high = 0.0, 1.0
    else:
        scores = [edge.score for edge in edges] or [0.0]
        low, high = min(scores), max(scores)
    most = float(max(network.out_degrees.tolist(), default=0))
    lines = [
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>',
        f'<vizmap id="{NAME}" documentVersion="3.0">',
        f'<visualStyle name="{NAME}">',
        *_part("network", [_plain("NETWORK_BACKGROUND_PAINT", "#FFFFFF")]),
        *_part("node", _of_nodes(most)),
        *_part("edge", _of_edges(column, low, high)),
        "</visualStyle>",
        "</vizmap>",
    ]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def _of_nodes(most: float) -> list[str]:
    return [
        '<dependency value="true" name="nodeSizeLocked"/>',
        _plain("NODE_SHAPE", "ELLIPSE"),
        _discrete("NODE_FILL_COLOR", "#DDDDDD", "is_regulator", "boolean", {"true": "#F0E442"}),
        _plain("NODE_BORDER_WIDTH", "1.0"),
        _plain("NODE_BORDER_PAINT", "#555555"),
        _plain("NODE_LABEL_COLOR", "#000000"),
        _mapped(
            "NODE_LABEL", "", '<passthroughMapping attributeName="name" attributeType="string"/>'
        ),
        _continuous("NODE_SIZE", "out_degree", "integer", (0.0, SMALL), (max(most, 1.0), LARGE)),
    ]


def _of_edges(column: str, low: float, high: float) -> list[str]:
    high = high if high > low else low + 1.0
    return [
        '<dependency value="true" name="arrowColorMatchesEdge"/>',
        _discrete("EDGE_TARGET_ARROW_SHAPE", "DELTA", "interaction", "string", ARROWS),
        _discrete("EDGE_UNSELECTED_PAINT", "#7F7F7F", "interaction", "string", COLOURS),
        _continuous("EDGE_WIDTH", column, "float", (low, THIN), (high, THICK)),
        _continuous("EDGE_TRANSPARENCY", column, "float", (low, FAINT), (high, FULL)),
    ]


def _part(name: str, lines: Iterable[str]) -> list[str]:
    return [f"<{name}>", *lines, f"</{name}>"]


def _plain(name: str, default: str) -> str:
    return f'<visualProperty default={quoteattr(default)} name="{name}"/>'


def _mapped(name: str, default: str, mapping: str) -> str:
    return f'<visualProperty default={quoteattr(default)} name="{name}">{mapping}</visualProperty>'


def _discrete(name: str, default: str, column: str, kind: str, values: dict[str, str]) -> str:
    entries = "".join(
        f'<discreteMappingEntry attributeValue="{key}" value="{value}"/>'
        for key, value in values.items()
    )
    mapping = f'<discreteMapping attributeName="{column}" attributeType="{kind}">'
    return _mapped(name, default, f"{mapping}{entries}</discreteMapping>")


def _continuous(
    name: str, column: str, kind: str, low: tuple[float, str], high: tuple[float, str]
) -> str:
    points = "".join(
        f'<continuousMappingPoint attrValue="{at!r}" equalValue="{value}" '
        f'greaterValue="{value}" lesserValue="{value}"/>'
        for at, value in (low, high)
    )
    mapping = f'<continuousMapping attributeName="{column}" attributeType="{kind}">'
    return _mapped(name, low[1], f"{mapping}{points}</continuousMapping>")
