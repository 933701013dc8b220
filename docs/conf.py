"""How the documentation is built: Sphinx with MyST, formulas as MathML, sheets of the gallery as pages."""

from __future__ import annotations

import json
import os
import sys
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

project = "derive"
author = copyright = "the derive authors"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "derive"
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_css_files = ["derive.css"]
html_static_path = ["static"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
pygments_style = "tango"


class Help(Directive):
    """What each command says of itself."""

    def run(self) -> list[nodes.Node]:
        import click

        from derive.cli import main

        found: list[nodes.Node] = []
        with click.Context(main, info_name="derive") as group:
            for name in (None, *main.list_commands(group)):
                command = main if name is None else main.get_command(group, name)
                assert command is not None
                title = "derive" if name is None else f"derive {name}"
                parent = group if name else None
                context = click.Context(command, parent, info_name=name or "derive", max_content_width=96)
                section = nodes.section(ids=[title.replace(" ", "-")])
                section += nodes.title(text=title)
                section += nodes.literal_block(text=command.get_help(context), language="text")
                found.append(section)
        return found


class Gallery(Directive):
    """A picture for each sheet, which opens it."""

    def run(self) -> list[nodes.Node]:
        from pictures import HANDOUTS, PLACE, THUMBNAILS

        cells = [(name, f"sheets/{card.stem}.html") for name, (card, _) in THUMBNAILS.items()]
        cells += [(name, f"sheets/{name}.pdf") for name in HANDOUTS]
        found = nodes.container(classes=["gallery"])
        for name, page in cells:
            shown = name.replace("_", " ")
            picture = nodes.image(uri=os.path.relpath(PLACE / f"{name}.png", HERE), alt=shown)
            found += nodes.paragraph("", "", nodes.reference("", "", picture, refuri=page), nodes.inline(text=shown))
        return [found]


class Notebook(Directive):
    """The cells of a notebook, with what they showed."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        for cell in json.loads((HERE / self.arguments[0]).read_text("utf-8"))["cells"]:
            text = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                found += [nodes.paragraph(text=text)] if not text.startswith("#") else []  # the page has a title
                continue
            found.append(nodes.literal_block(text=text, language="python"))
            for data in (output["data"] for output in cell["outputs"]):
                if "text/html" in data:
                    found.append(nodes.raw("", formulas("".join(data["text/html"])), format="html"))
                else:
                    found.append(nodes.literal_block(text="".join(data["text/plain"]), language="text"))
        return found


def formulas(html: str) -> str:
    """What a notebook typesets, between dollars, as MathML."""
    import re
    from html import unescape

    from derive.render.hypertext import mathml

    head, table, rest = html.partition("<table>\n")
    if head or not table:
        return html
    return table + re.sub(r"\$([^$]+)\$", lambda m: mathml(unescape(m[1])), rest)


def inline(translator: Any, node: Any) -> None:
    _formula(translator, node, display=False)


def displayed(translator: Any, node: Any) -> None:
    _formula(translator, node, display=True)


def _formula(translator: Any, node: Any, display: bool) -> None:
    from derive.render.hypertext import mathml

    latex = node.astext()
    translator.body.append(f'<div class="formula" title="{escape(latex)}">{mathml(latex, True)}</div>' if display
                           else mathml(latex))
    raise nodes.SkipNode


def sheets(app: Sphinx, error: Exception | None) -> None:
    """The whole sheets beside the built pages."""
    if error is None and app.builder.name == "html":
        from pictures import pages

        pages(Path(app.outdir) / "sheets")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    for name, directive in (("help", Help), ("gallery", Gallery), ("notebook", Notebook)):
        app.add_directive(name, directive)
    app.connect("build-finished", sheets)
    return {"parallel_read_safe": True}
