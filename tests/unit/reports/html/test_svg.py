"""SVG for the page: styles become attributes and classes, ids become its own."""

from __future__ import annotations

from harness.reports.html.svg import embedded

DRAWN = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9pt" height="9pt" viewBox="0 0 9 9">
 <metadata>made by</metadata><defs><style type="text/css">*{stroke-linejoin: round}</style></defs>
 <g id="figure_1"><path id="m1" d="M 0 0" style="stroke: #111111; stroke-width: 0.8; fill: none; pointer-events: all"/>
 <g clip-path="url(#c1)"><use xlink:href="#m1" x="1" style="fill: #222222"/></g><clipPath id="c1"/>
 <text style="font: 9px 'DejaVu Sans'; text-anchor: middle">a &lt;b&gt;</text></g>
</svg>"""


def test_styles_become_attributes_and_colours_classes():
    """What SVG has no attribute for is left out."""
    svg = embedded(DRAWN, name="c", label='what "it" shows', colours={"#111111": "ink", "#222222": "live"})

    assert '<path d="M 0 0" stroke-width="0.8" fill="none" class="stroke-ink" id="c-m1" />' in svg
    assert '<use x="1" class="fill-live" href="#c-m1" />' in svg
    assert '<text text-anchor="middle" font-size="9" class="fill-ink">a &lt;b&gt;</text>' in svg
    assert "style" not in svg
    assert "made by" not in svg


def test_ids_are_those_of_the_chart():
    """Only those that something names are kept, with the chart's name before them."""
    svg = embedded(DRAWN, name="c", label="l", colours={})

    assert '<g clip-path="url(#c-c1)">' in svg
    assert '<clipPath id="c-c1" />' in svg
    assert "figure_1" not in svg


def test_it_fills_its_box_and_has_a_label():
    """No size of its own; a name for who does not see it."""
    svg = embedded(DRAWN, name="c", label='what "it" shows', colours={})

    assert 'viewBox="0 0 9 9" role="img" aria-label="what &quot;it&quot; shows"' in svg
    assert "9pt" not in svg
