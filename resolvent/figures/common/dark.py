"""The colours of figures on a dark page: what stands for each colour that figures have on white."""

import re

DARK = {
    "#ffffff": "#14171b",  # the ground
    "#22272e": "#e2e6eb",  # text and targets
    "#000000": "#e2e6eb",  # text that nobody gave a colour
    "#6b7280": "#9ba5b1",  # text that is less important
    "#7d8590": "#a3adb8",  # baselines
    "#e5e7eb": "#313841",  # the lines of a grid
    "#9aa1ab": "#5b6570",  # axes
    "#0072b2": "#5cb3ea",
    "#d55e00": "#ff8a3d",
    "#00805e": "#3cc29a",
    "#b0418a": "#e58cc6",
    "#a87000": "#e0ab3f",
    "#7a5230": "#c99b73",
    "#4b4fb5": "#9aa0f0",
    "#3d434b": "#b9c1cb",
    "#8a8f00": "#c6cc4a",
    "#c2185b": "#ff7aa8",
    "#00838f": "#4fc4cf",
}
COLOUR = re.compile(r"#[0-9a-f]{6}")


def dark_colours(text: str) -> dict[str, str]:
    """Return the dark colour of each colour of `DARK` that occurs in `text`."""
    found = set(COLOUR.findall(text.lower()))
    return {light: dark for light, dark in DARK.items() if light in found}


def with_dark_colours(svg: str) -> str:
    """Return an SVG of matplotlib with a style for dark pages; elsewhere it looks as it did.

    Matplotlib writes the colours of every element into its attribute `style`, where a selector finds them.
    """
    colours = dark_colours(svg)
    rules = "".join(f"--{light[1:]}:{dark};" for light, dark in colours.items())
    # Matplotlib writes no colour where it is black.
    lines = [f":root{{{rules}fill:{DARK['#000000']}}}"]
    lines += [
        f'[style*="{part}: {light}"]{{{part}:var(--{light[1:]})!important}}'
        for light in colours
        for part in ("fill", "stroke")
    ]

    style = "<style>@media screen and (prefers-color-scheme:dark){" + "\n".join(lines) + "}</style>\n"
    start = svg.index("<defs>")
    return svg[:start] + style + svg[start:]
