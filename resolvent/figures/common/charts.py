"""Charts that the pages draw by script: made with plotly here, coloured by the page's style there."""

import json

from plotly.graph_objects import Figure


def plotly_chart(figure: Figure) -> dict:
    """Return data, layout and frames for `inlined_figure(interactive=…)`.

    Without plotly's own template: page.js gives paper, grid, text and the cycle of colours those of the page,
    light or dark.
    """
    chart = json.loads(figure.to_json())
    chart["layout"].pop("template", None)
    return chart
