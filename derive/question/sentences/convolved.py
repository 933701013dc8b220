"""Convolutions as the catalogue writes them, with a telling's letters and numbers."""

from __future__ import annotations

import re

from derive.layers import compose
from derive.notation.symbols import latex_of, name_of
from derive.question.sentences.lettered import Lettered
from derive.question.sentences.values import Axis, Unread, Value


class ConvolutionFormulas(Lettered):
    """The part of an emission that writes convolutions, as the catalogue has them."""

    def _conv(self, value: Value) -> str:
        (source,) = value.of
        options = value.options
        rank = options.get("rank") or len(self._axes(source))
        kernel = options.get("kernel")
        if not kernel or not all(k.isdigit() for k in kernel) or "bias" not in options:
            raise Unread("the size of the kernel" if not kernel else "the bias of the convolution")
        if len(kernel) == 1 and rank == 2:
            kernel = kernel * 2
        if rank == 2 and source.made is None and source.axes and len(source.axes) == 1 and not source.axes[0].size:
            source.axes.append(Axis(next(self.indices)))
        if len(self._axes(source)) != rank or len(kernel) != rank:
            raise Unread("the axes of what is convolved")
        given = {k: options.get(k, default) for k, default in (("stride", "1"), ("padding", "0"), ("dilation", "1"))}
        if not all(v.isdigit() for v in given.values()):
            raise Unread("a convolution with letters for numbers")
        letters = {"input": source.letter or "", "weights": options.get("weights") or self._free(("w", "K", "k")),
                   "output": self._name(value, "z", "a", "s")}
        self.told.letters.setdefault(name_of(letters["weights"]), Value(letters["weights"], words=value.words))
        self.weights.append(letters["weights"])
        if options["bias"]:
            letters["bias"] = options["bias"] if isinstance(options["bias"], str) else self._free(("b", "c", "d"))
            self.told.letters.setdefault(name_of(letters["bias"]), Value(letters["bias"], words=value.words))
            self.biases.append(letters["bias"])
        options["weights"] = letters["weights"]
        self.parameters += [letters[k] for k in ("weights", "bias") if k in letters]
        text = ", ".join([f"kernel_size={'x'.join(kernel)}", *(f"{k}={v}" for k, v in given.items()), "channels=false",
                          *([] if options["bias"] else ["bias=false"])])
        taken = [latex_of(name) for name in (*self.used, *self.told.letters) if latex_of(name) not in letters.values()]
        made = compose(f"conv{rank}d({text})", letters=letters, taken=taken)
        self.ranges += made.ranges
        self.shaped_besides += [s for s in made.shapes if not s.startswith(rf"{source.letter} \in")]
        sizes = [a.size for a in self._axes(source)]
        if made.ranges and None in sizes:
            self.shaped_besides += made.shapes
        elif made.ranges:
            self.ranges = [_with_sizes(r, made.shapes, source.letter or "", sizes) for r in self.ranges]
        value.axes = [Axis(next(self.indices)) for _ in range(rank)]
        formula = made.formulas[0]
        return _with_sizes(formula, made.shapes, source.letter or "", sizes) if None not in sizes else formula


def _with_sizes(text: str, shapes: tuple[str, ...], source: str, sizes: list[str | None]) -> str:
    """0 ≤ i < n − 1 with the number that n is."""
    for shape in shapes:
        head, _, space = shape.partition(r" \in \mathbb{R}^{")
        if head == source:
            for letter, size in zip(space.rstrip("}").split(r" \times "), sizes, strict=True):
                text = re.sub(rf"(?<![A-Za-z\\]){re.escape(letter)}(?![A-Za-z])", size or letter, text)
    return text
