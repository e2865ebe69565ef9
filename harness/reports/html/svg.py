"""matplotlib's SVG as the page's policy takes it: classes and attributes instead of styles, names that no other chart has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree as ET

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_DROPPED = frozenset({f"{_SVG}metadata", f"{_SVG}style", f"{_SVG}title"})
_ATTRIBUTES = frozenset({
    "fill", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray", "stroke-dashoffset", "opacity",
    "fill-opacity", "stroke-opacity", "text-anchor", "font-size",
})  # fmt: skip
"""Properties of a style that SVG knows as attributes of their own (SVG 2, 6.6)."""
_named_id = re.compile(r"url\(#([^)]+)\)")
_size = re.compile(r"(\d+(?:\.\d+)?)px")


def embedded(svg: str, *, name: str, label: str, colours: Mapping[str, str]) -> str:
    """
    Make an SVG that can stand in a page.

    Args:
        svg: What matplotlib wrote.
        name: Prefix of all ids in it.
        label: What the chart shows, for who does not see it.
        colours: Which class stands for which colour: `#111111` → `ink` gives `fill-ink` and `stroke-ink`.
    """
    ET.register_namespace("", _SVG[1:-1])
    root = ET.fromstring(svg[svg.index("<svg") :])  # noqa: S314 – written by matplotlib a moment ago
    for parent in root.iter():
        for child in [child for child in parent if child.tag in _DROPPED]:
            parent.remove(child)
    used = _used_ids(root)
    for element in root.iter():
        _restyle(element, colours)
        _rename(element, name, used)
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    root.attrib |= {"role": "img", "aria-label": label}
    return ET.tostring(root, encoding="unicode")


def _restyle(element: ET.Element, colours: Mapping[str, str]) -> None:
    stated = dict(element.attrib)
    for part in element.attrib.pop("style", "").split(";"):
        key, _, value = part.partition(":")
        if key.strip():
            stated[key.strip()] = value.strip()
    if found := _size.search(stated.get("font", "")):
        stated["font-size"] = found[1]
    classes = []
    for key, value in stated.items():
        if key in ("fill", "stroke") and value in colours:
            classes.append(f"{key}-{colours[value]}")
            element.attrib.pop(key, None)
        elif key in _ATTRIBUTES:
            element.set(key, value)
    if element.tag == f"{_SVG}text" and "fill" not in stated:
        classes.append("fill-ink")
    if classes:
        element.set("class", " ".join(classes))


def _used_ids(root: ET.Element) -> set[str]:
    used = set()
    for element in root.iter():
        used |= {found for value in element.attrib.values() for found in _named_id.findall(value)}
        if (link := element.get(_LINK)) is not None:
            used.add(link.removeprefix("#"))
    return used


def _rename(element: ET.Element, name: str, used: set[str]) -> None:
    own = element.attrib.pop("id", None)
    if own in used:
        element.set("id", f"{name}-{own}")
    for key, value in list(element.attrib.items()):
        if "url(#" in value:
            element.set(key, value.replace("url(#", f"url(#{name}-"))
    if (link := element.attrib.pop(_LINK, None)) is not None:
        element.set("href", f"#{name}-{link.removeprefix('#')}")
