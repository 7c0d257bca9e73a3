"""Drawing of a network with matplotlib, for notebooks and figures."""

from __future__ import annotations

from typing import Any

from grn_tvcs.network.confidence import LIKELY
from grn_tvcs.network.edge import Edge
from grn_tvcs.network.network import Network
from grn_tvcs.report.layout import HEIGHT, WIDTH, Node, draw
from tvcs_core.arguments import check_number
from tvcs_core.files.extras import to_install

INCH = 100.0  # pixels of the layout
# Colour and arrow head by sign, in the colours of the report.
STYLES = {
    "+": ("#2f6f9f", "-|>"),
    "-": ("#b8532f", "|-|,widthA=0,widthB=.35"),
    "?": ("#5b6878", "->"),
}
NO_ARROW = ("#5b6878", "-")  # of undirected edges
INK, PAPER = "#1d2733", "#ffffff"
THICK, THIN = 1.8, 0.7  # points: supported edges and others
LINE = 1.2  # points, where there is no confidence


def plot(network: Network, ax: Any, max_edges: int) -> Any:
    """Draw the top selected edges of a network; see `Network.plot`."""
    check_number("max_edges", max_edges, whole=True, least=1)
    edges = network.edges(selected_only=True)[:max_edges]
    if not edges:
        raise ValueError(
            "the network has no selected edge to draw; select some, as with select_top(20)"
        )
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        raise ModuleNotFoundError(
            f"plot needs matplotlib, which is not installed; {to_install('plot')} installs it, "
            "and report(path) writes a drawing without it",
            name="matplotlib",
        ) from None
    if ax is None:
        _, ax = pyplot.subplots(figsize=(WIDTH / INCH, HEIGHT / INCH))
    nodes, _ = draw(edges)
    place = {node.name: node for node in nodes}
    pairs = {(edge.regulator, edge.target) for edge in edges}
    for edge in edges:
        is_mutual = (edge.target, edge.regulator) in pairs
        _draw_edge(ax, edge, place[edge.regulator], place[edge.target], is_mutual)
    for node in nodes:
        _draw_gene(ax, node)
    ax.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0), xticks=[], yticks=[])
    return ax


def _draw_edge(ax: Any, edge: Edge, source: Node, target: Node, is_mutual: bool) -> None:
    from matplotlib.patches import FancyArrowPatch

    colour, head = NO_ARROW if edge.undirected else STYLES[edge.sign]
    known = edge.confidence
    is_supported = known is None or known >= LIKELY
    patch = FancyArrowPatch(
        (source.x, source.y),
        (target.x, target.y),
        arrowstyle=head,
        connectionstyle=f"arc3,rad={0.15 if is_mutual else 0.0}",
        mutation_scale=10,
        shrinkA=source.radius * 0.8,
        shrinkB=target.radius * 0.8,
        color=colour,
        linewidth=LINE if known is None else THICK if is_supported else THIN,
        alpha=0.9 if is_supported else 0.45,
    )
    patch.set_gid(f"{edge.regulator} -> {edge.target}")
    ax.add_patch(patch)


def _draw_gene(ax: Any, node: Node) -> None:
    fill = INK if node.is_regulator else PAPER
    ax.plot(
        *([node.x], [node.y]),
        marker="o",
        markersize=1.5 * node.radius,
        markerfacecolor=fill,
        markeredgecolor=INK,
        linestyle="none",
    )
    if node.is_named:
        below = (0, -0.75 * node.radius - 2)
        ax.annotate(
            node.name, (node.x, node.y), below, textcoords="offset points", ha="center", va="top",
            fontsize=7, color=INK, parse_math=False,
        )  # fmt: skip
