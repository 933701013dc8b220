"""The formulas of a telling's values in index notation: linear layers, activations, losses, sums and products."""

from __future__ import annotations

from derive.notation.symbols import name_of
from derive.question.emitted.lettered import Lettered
from derive.question.sentences.meaning import says
from derive.question.told.values import Axis, Unread, Value, applied, entry

_BEHIND = ("h", "g", "a", "u", "q", "r", "o", "z", "s", "v", "f")
_HINGES = ("hinge", "logistic_loss", "squared_hinge")
_SLOPED = ("leaky_relu", "prelu", "elu", "celu")


class Formulas(Lettered):
    """The part of an emission that writes formulas."""

    def _formula(self, value: Value) -> str:
        method = getattr(self, f"_{value.made}", None)
        if method is None:
            raise Unread(f"“{value.made}”")
        return str(method(value))

    def _dense(self, value: Value) -> str:
        (source,) = value.of
        options = value.options
        inner = self._axes(source)
        if not inner or len(inner) > 2 or (len(inner) == 2 and inner[0] is not self.batch_axis):
            raise Unread("a linear layer on maps")
        units = options.get("units")
        behind = {v.made for v in self.told.values if value in v.of}
        if options.get("hidden") and not behind & {"fn", "own", "softmax"}:
            raise Unread("the activation of the hidden layer")
        scalar = units == "1" or (units is None and "weights" not in options and not options.get("same")
                                  and self._before_scalar_loss(value))
        weights, bias = self._parameters(value, scalar)
        *outer, last = inner
        axis = None if scalar else Axis(next(self.indices), units)
        if options.get("same") and axis is not None:
            last.size = axis.size = last.size or units or self._free(("n", "D", "m"))
        name = self._name(value, "s", "a", "z", "u", "g", "q", "r", "h", "o")
        value.axes = [*outer, *([axis] if axis else [])]
        places = self._oriented(weights, axis, last)
        if bias and "_" in bias and axis is not None:
            self.shaped.append((bias, [axis]))
        options |= {"weights": weights, "places": places}
        total = rf"\sum_{{{last.index}}} {entry(weights, places)} {entry(source.letter or '', inner)}"
        return f"{entry(name, value.axes)} = {total}" + (f" + {entry(bias, [axis] if axis else [])}" if bias else "")

    def _parameters(self, value: Value, scalar: bool) -> tuple[str, str | None]:
        """The letters of the weights and the bias."""
        options = value.options
        if scalar and (options.get("units") != "1" or "model" in options):
            options.setdefault("bias", says(self.told.asks, "biases"))
        weights = options.get("weights") or self._free(("w", "v", "u") if scalar else ("W", "V", "U", "A", "Q", "R"))
        given = options.get("bias", "weights" not in options or options.get("asked", False))
        bias = given if isinstance(given, str) else self._free(("b", "c", "d", "e", "r")) if given else None
        for letter, listed in ((weights, self.weights), (bias, self.biases)):
            if letter is not None:
                if letter in listed:
                    raise Unread("shared weights")
                self.told.letters.setdefault(name_of(letter), Value(letter, words=value.words))
                listed.append(letter)
                self.parameters.append(letter)
        return weights, bias

    def _oriented(self, weights: str, axis: Axis | None, last: Axis) -> list[Axis]:
        """The axes of the weights: units and inputs, unless the card declares it the other way round."""
        places = [a for a in (axis, last) if a is not None]
        known = self.told.table.named(name_of(weights))
        sizes = [str(s) for s in (known.sizes if known is not None else None) or ()]
        if not sizes:
            self.shaped.append((weights, places))
            return places
        if len(sizes) != len(places):
            raise Unread("the shape of the weights")
        fits = [p for p in (places, places[::-1])
                if all(a.size in (None, s) for a, s in zip(p, sizes, strict=True))]
        if not fits or (len(fits) == 2 and len(places) == 2 and self.batch_axis is not None and sizes[0] != sizes[1]):
            raise Unread("the orientation of the weights")
        for a, s in zip(fits[0], sizes, strict=True):
            a.size = s
        return fits[0]

    def _before_scalar_loss(self, value: Value) -> bool:
        """A linear layer before a loss of one number, with no number of units, is one unit."""
        told = self.told
        after = [v for v in told.values if value in v.of]
        while len(after) == 1 and after[0].made == "fn":
            after = [v for v in told.values if after[0] in v.of]
        return len(after) == 1 and after[0].made == "loss" and sum(v.made == "dense" for v in told.values) == 1

    def _fn(self, value: Value) -> str:
        """y_k = f(x_k)"""
        (source,) = value.of
        value.axes = self._axes(source)
        name = self._name(value, *_BEHIND)
        letters = {}
        if slope := value.options.get("slope"):
            letters[r"\alpha"] = slope
            if not slope.replace(".", "").isdecimal() and name_of(slope) not in self.told.roles:
                self.constants.append(slope)
        elif value.options["name"] in _SLOPED:
            letters[r"\alpha"] = self._free((r"\alpha", "a", "c"))
            learned = self.parameters if value.options["name"] == "prelu" else self.constants
            learned.append(letters[r"\alpha"])
        body = applied(value.options["name"], source.letter or "", name, value.axes, letters).partition(" = ")[2]
        return f"{entry(name, value.axes)} = {body}"

    def _own(self, value: Value) -> str:
        (source,) = value.of
        value.axes = self._axes(source)
        name = self._name(value, *_BEHIND)
        return f"{entry(name, value.axes)} = {value.options['name']}({entry(source.letter or '', value.axes)})"

    def _softmax(self, value: Value) -> str:
        (source,) = value.of
        value.axes = self._axes(source)
        if not value.axes or value.axes[-1] is self.batch_axis:
            raise Unread("softmax of a number")
        name = self._name(value, "p", "y", "q", "h")
        *outer, _ = value.axes
        other = next(self.indices)
        below = rf"\sum_{{{other}}} e^{{{entry(source.letter or '', [*outer, other])}}}"
        return rf"{entry(name, value.axes)} = \frac{{e^{{{entry(source.letter or '', value.axes)}}}}}{{{below}}}"

    # --- losses ---------------------------------------------------------------------------------------------------

    def _loss(self, value: Value) -> str:
        prediction, target = value.of
        axes = self._axes(prediction)
        if target.axes is None:
            target.axes = list(axes)
        elif len(target.axes) != len(axes):
            raise Unread("the target has other axes than the output")
        self.used.add(name_of(target.letter or ""))
        name, mean = self._loss_name(value)
        over_batch = self.batch_axis is not None and self.batch_axis in axes
        if over_batch and not mean and not value.options.get("reduce"):
            raise Unread("the mean or the sum over the batch")
        if value.options.get("reduce") == "outputs":
            mean, size = False, axes[-1].size if len(axes) == 1 and not over_batch else None
            if size is None:
                raise Unread("the mean over the outputs")
            value.options["factor"] = rf"\frac{{1}}{{{size}}} "
        if value.options.get("reduce") == "mean" and not over_batch:
            raise Unread("the mean over what")
        value.axes = []
        letter = self._name(value, "L")
        body = applied(name, prediction.letter or "", letter, axes, {"t": target.letter or ""}).partition(" = ")[2]
        factor = r"\frac{1}{2} " if value.options.get("half") else ""
        factor += value.options.get("factor", "")
        if mean or value.options.get("reduce") == "mean":
            assert self.batch_axis is not None
            factor += rf"\frac{{1}}{{{self.batch_axis.size}}} "
        sign = "-" if body.startswith("-") else ""
        return f"{letter} = {sign}{factor}{body.removeprefix('-')}{self._penalty(value)}"

    def _loss_name(self, value: Value) -> tuple[str, bool]:
        """The catalogue's name of a loss behind its prediction, and whether it is a mean over the batch."""
        prediction, name = value.of[0], value.options["name"]
        before = str(prediction.options.get("name") if prediction.made == "fn" else prediction.made)
        if name in ("cross_entropy", "negative_log_likelihood"):
            name = {"softmax": "categorical_cross_entropy", "sigmoid": "binary_cross_entropy"}.get(before, name)
        if name not in ("categorical_cross_entropy", "binary_cross_entropy") and "entropy" in name or (
                name == "categorical_cross_entropy" and before != "softmax") or name == "negative_log_likelihood" or (
                name == "binary_cross_entropy" and before != "sigmoid"):
            raise Unread(f"“{name}” behind “{before}”")
        samples = [a for a in self._axes(prediction) if a is not self.batch_axis]
        if name in _HINGES and (samples or name == "logistic_loss"):
            raise Unread("a hinge of several units" if samples else "the labels of the logistic loss")
        if name != "mean_squared_error":
            return name, False
        if value.options.get("reduce") == "outputs":
            return "squared_error", False
        if not self.batch_axis or samples and value.options.get("reduce") != "sum":
            raise Unread("the mean of what")
        return "squared_error", True

    def _penalty(self, value: Value) -> str:
        r"""+ \lambda \sum_{k,j} W_{kj}^2"""
        given = value.options.get("penalty")
        if given is None:
            return ""
        if "formula" in given:
            return f" + {given['formula'].formula.latex.strip().rstrip('.,;')}"
        layer = self.told.weights_of_penalty(given)
        weights, axes = layer.options["weights"], self._indexed(layer.options["places"])
        factor = given.get("factor")
        letter = factor.formula.latex.strip() if factor is not None and hasattr(factor, "formulas") else None
        if factor is not None and letter is None:
            letter = r"\lambda"
        half = r"\frac{1}{2} " if given.get("half") else ""
        if letter is not None and len(letter.replace("\\", "")) <= len("lambda"):
            self.constants.append(letter)
        indices = ",".join(a.index for a in axes)
        if given.get("norm") == "absolute":
            return rf" + {letter} \sum_{{{indices}}} |{entry(weights, axes)}|"
        return rf" + {half}{letter + ' ' if letter else ''}\sum_{{{indices}}} {entry(weights, axes)}^2"

    # --- sums and products ----------------------------------------------------------------------------------------

    def _binary(self, value: Value, sign: str) -> str:
        a, b = value.of
        if a is b and sign:
            raise Unread("a value and itself")
        if a.made == "latex" or b.made == "latex":
            return self._with_latex(value, sign)
        if b.made is None and b.axes is None:
            b.axes = list(self._axes(a))
        first, second = self._axes(a), self._axes(b)
        if len(first) != len(second) and first and second:
            raise Unread("values of different shapes")
        value.axes = first or second
        for one, other in zip(first, second, strict=False):
            if one.size and other.size and one.size != other.size:
                raise Unread("values of different sizes")
            one.size = other.size = one.size or other.size
        name = self._name(value, "y", *_BEHIND)
        left, right = (entry(v.letter or "", value.axes if self._axes(v) else []) for v in (a, b))
        whole = rf"\frac{{{left}}}{{{right}}}" if sign == "/" else f"{left} {sign} {right}"
        return f"{entry(name, value.axes)} = {whole}"

    def _with_latex(self, value: Value, sign: str) -> str:
        """A value of the card’s own among those of words: as it is written, where it is that of a number."""
        raise Unread("a formula between words")

    def _sum(self, value: Value) -> str:
        return self._binary(value, "+")

    def _difference(self, value: Value) -> str:
        return self._binary(value, "-")

    def _minusfrom(self, value: Value) -> str:
        value.of = value.of[::-1]
        return self._binary(value, "-")

    def _product(self, value: Value) -> str:
        return self._binary(value, "")

    def _quotient(self, value: Value) -> str:
        return self._binary(value, "/")

    def _single(self, value: Value, body: str) -> str:
        (source,) = value.of
        value.axes = self._axes(source)
        name = self._name(value, "y", *_BEHIND)
        return f"{entry(name, value.axes)} = " + body.replace("@", entry(source.letter or "", value.axes))

    def _oneminus(self, value: Value) -> str:
        return self._single(value, "1 - @")

    def _square(self, value: Value) -> str:
        return self._single(value, "@^2")

    def _exponential(self, value: Value) -> str:
        return self._single(value, "e^{@}")

    def _negative(self, value: Value) -> str:
        return self._single(value, "-@")

    def _oneplus(self, value: Value) -> str:
        return self._single(value, "1 + @")

    def _twice(self, value: Value) -> str:
        return self._single(value, "2 @")

    def _half(self, value: Value) -> str:
        return self._single(value, r"\frac{1}{2} @")

    def _scaled(self, value: Value) -> str:
        return self._single(value, f"{value.options['factor']} @")

    def _inner(self, value: Value) -> str:
        a, b = value.of
        if b.made is None and b.axes is None:
            b.axes = list(self._axes(a))
        axes = self._axes(a)
        if len(axes) != 1 or len(self._axes(b)) != 1:
            raise Unread("an inner product")
        value.axes = []
        name = self._name(value, "s", "y", "u")
        return rf"{name} = \sum_{{{axes[0].index}}} {entry(a.letter or '', axes)} {entry(b.letter or '', axes)}"
