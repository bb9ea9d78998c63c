"""Charts that the pages draw by script: made with plotly here, coloured by the page's style there."""

import json

from plotly.graph_objects import Figure

from resolvent.figures.common.dark import dark_colours


def plotly_chart(figure: Figure) -> dict:
    """Return data, layout, frames and colours for a dark page, for `inlined_figure(interactive=…)`.

    Without plotly's own template: page.js gives paper, grid, text and the cycle of colours those of the page,
    light or dark.
    """
    text = figure.to_json()
    chart = json.loads(text)
    chart["layout"].pop("template", None)
    return chart | {"dark": dark_colours(text)}
