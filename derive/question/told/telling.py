"""What the sentences of a question say, one after the other: a graph of values, what is given, what is asked."""

from __future__ import annotations

from typing import Any

from derive.notation.symbols import name_of
from derive.question.sentences.actions import Say
from derive.question.sentences.tokens import Sentence, Token
from derive.question.told.layers import Layers
from derive.question.told.state import LAST
from derive.question.told.values import Misread, Unread, Value
from derive.question.told.windowed import WINDOWED

__all__ = ["Telling", "Unread"]

_LAYERS = ("dense", "act", "own", "dropout", "residual", "parts", "join", "losses", "penalised",
           "written", "conv", "pool", "module")


_NAMES = ("is", "outof", "lossis", "computes")  # what is said is what it is
_TOLD = ("state", "previous", "gate", "candidate", "forget_gate", "input_gate", "output_gate", "update_gate",
         "reset_gate")
_GENERAL = (Say("thing"), Say("scale"), Say("shift"), Say("state"))


class Telling(Layers):
    """What the sentences have said so far."""

    # --- sentences ------------------------------------------------------------------------------------------------

    def sentence(self, tokens: Sentence, said: Any, words: tuple[int, str]) -> None:
        """Take what one sentence says."""
        self.words, self.start, self.written_value = words, self.current, None
        asked = len(self.asks)
        for token in tokens:
            for formula in token.formulas:
                self.formula(formula)
        for act in said if isinstance(said, tuple) else (said,):
            self.act(act)
        if len(self.asks) > asked:
            self.asked_in.append(words)

    def act(self, act: Any) -> None:
        if not isinstance(act, Say):
            raise Unread("a sentence")
        method = getattr(self, f"on_{act.kind}", None)
        if method is None:
            raise Unread(f"“{act.kind}”")
        method(*act.of)

    # --- values ---------------------------------------------------------------------------------------------------

    def value(self, said: Any) -> Value:
        """The value that an expression names or makes."""
        if isinstance(said, Token):
            return self.new(None, "latex", said.formula.latex.strip())
        match said.kind:
            case "ref":
                value = self.ref(said[0], said[1])
                if isinstance(said[2], Say):
                    self.shape(value, said[2][0])
                elif said[2] is not None:
                    self.attribute_of_input(value, said[2])
                return value
            case "image" | "signal1":
                return self.computed(said)
            case "windowed":
                return self.the_windowed(said[0])
            case "mapped":
                return self.feature_map(said[0], said[1], said[2])
            case "mapshape":
                value = self.ref("featuremap", said[0])
                self.shape(value, said[1])
                return value
            case "same":
                return self.value(said[0]) if said[0] is not None else self.current or self.source()
            case "scalar":
                value = self.lettered(said[0])
                value.axes = []
                self.roles[name_of(value.letter or "")] = "constants"
                return value
            case "ofbatch":
                self.on_batch(said[1])
                return self.ref(said[0])
            case "batch":
                self.on_batch(said)
                return self.source()
            case "equations_batch":
                self.on_batch(said[0])
                return self.written_value or self.source()
            case "equations_value":
                return self.current or self.source()
            case "made":
                return self.verb_giving(self.through(self.source(), said[2]), Say("giving", (said[1], said[0])))
            case "output_parts":
                return self.through(self.current or self.source(), said[0])
            case "apply":
                return self.activation(self.value(said[1]), said[0])
            case "op":
                return self.op(said)
        raise Unread(f"“{said.kind}”")

    def op(self, said: Say) -> Value:
        name = said[0]
        match name:
            case "weighted":
                units = self.new(None, "dense", self.source(), bias=said[1] is not None)
                if said[1] is not None and said[1][0] is not None:
                    units.options["bias"] = said[1][0].letters[0]
                return units
            case "scaled":
                return self.new(None, "scaled", self.value(said[2]), factor=said[1])
            case "scaledact":
                return self.new(None, "product", self.activation(self.value(said[2]), said[1]), self.value(said[3]))
            case "sumproducts":
                a, b, c, d = (self.value(s) for s in said.of[1:])
                return self.new(None, "sum", self.new(None, "product", a, b), self.new(None, "product", c, d))
        return self.new(None, name, *(self.value(s) for s in said.of[1:]))

    # --- flows ----------------------------------------------------------------------------------------------------

    def on_residual_block(self) -> None:
        self.claimed.add("residual_block")

    def on_gated_block(self) -> None:
        self.claimed.add("gated_block")

    def on_skip(self) -> None:
        """Words that compute nothing."""

    on_besides = on_skip

    def on_equations(self, *_: Any) -> None:
        """The formulas of a sentence are taken before its words."""

    def on_shapedletters(self, said: Any) -> None:
        for one in said:
            self.shape(self.lettered(one[0]), one[1])

    def on_functions(self, *_: Any) -> None:
        """As for equations."""

    def on_flow(self, subject: Any, vps: Any = None) -> None:
        verbs = list(vps or ())
        if isinstance(subject, Say) and subject.kind in _LAYERS:
            if any(verb.kind == "equations" for verb in verbs):
                raise Unread("a layer and what it computes")  # «a dense layer without bias computes y = Wx» is one
            source = self.current or self.source()
            at = next((n for n, verb in enumerate(verbs) if not verb.kind.startswith("attrs")), None)
            if at is not None and verbs[at].kind == "applied":  # a layer “is applied to”, “acts on” what it takes
                verb = verbs.pop(at)
                source = self.value(verb[0])
                verbs[at:at] = [Say("giving", (verb[1],))] if verb[1] is not None else []
                verbs[at:at] = [Say("windows", (None, verb[2]))] if verb[2] is not None else []
            elif verbs and verbs[0].kind == "inputs":
                self.source().options["size"] = verbs.pop(0)[0]
            elif verbs and verbs[0].kind == "follows":
                if self.current is None:
                    raise Unread("“follows”")
                verb = verbs.pop(0)
                verbs = [Say("giving", (verb[0],)), *verbs] if verb[0] is not None else verbs
            value = self.current = self.through(source, subject)
        else:
            self.before = self.current
            value = self.subject(subject, verbs)
            only_named = verbs and all(verb.kind == "is" for verb in verbs) and self.current is not None
            if value.made is not None or value is self.input and not only_named or self.current is None:
                self.current = value
            names = verbs and verbs[0].kind in _NAMES
            if self.input is None and value.made is None and value is not self.target and not names:
                self.input = value
        self.verbs(value, verbs)

    def subject(self, said: Any, verbs: Any) -> Value:
        """The value that a sentence is about; «the cell state is c = …» says what a noun means."""
        noun = (said[0].kind if isinstance(said[0], Say) else said[0]) if isinstance(said, Say) and (
            said.kind == "ref") else ""
        if noun in _TOLD and said[1] is None and verbs and verbs[0].kind == "equations" and self.written_value:
            self.nouns[noun] = self.written_value
            return self.written_value
        names = bool(verbs) and verbs[0].kind in _NAMES
        if names and noun in LAST and said[1] is not None and name_of(said[1].letters[0]) not in self.letters:
            self.nouns[noun] = self.lettered(said[1])
            return self.nouns[noun]
        if names and noun == "output" and said[1] is None and self.current is None:
            return self.new(None, None)
        return self.value(said)

    def verb_mapof(self, value: Value, channels: str, area: Any) -> Value:
        """«the feature tensor has two channels of three by four pixels»"""
        if value is not self.input:
            raise Unread("a feature map")
        return self.feature_map(None, channels, area)

    def on_story(self) -> None:
        """Who does what with a network, before anything is said of it."""
        if self.values or self.depth is not None:
            raise Unread("what is told between")

    def on_flow_layer(self, attrs: Any) -> None:
        """«the output layer is linear with …»"""
        self.on_flow(Say("dense", (Say("opts"), attrs)), ())

    def on_classified(self, count: str, parts: Say) -> None:
        """«three classes are recognised by …»"""
        self.current = self.attributes(self.through(self.current or self.source(), parts), (("units", count),))

    def on_flow_several(self, letters: Any, act: str, names: Any) -> None:
        """«a, b and c pass through a sigmoid to give f, g and h»"""
        if len(letters) != len(names) or len(names) < 2:
            raise Misread("which of them gives what")
        for one, name in zip(letters, names, strict=True):
            self.named_act(self.lettered(one), act, name)

    def named_act(self, value: Value, act: str, name: Token) -> None:
        """The activation of a value, under a letter that formulas may use before it."""
        known = self.letters.get(name_of(name.letters[0]))
        made = self.activation(value, act)
        self.current = self.replaced(known, made) if known is not None else self.named(made, name)

    def on_roles(self, letters: Any, role: str) -> None:
        for one in letters:
            self.roles[name_of(self.lettered(one).letter or "")] = role

    def on_flow_equations(self, vps: Any) -> None:
        """«The scores s = Wx + b go into a softmax»"""
        self.on_layer(vps)

    def on_layer(self, vps: Any) -> None:
        """«the layer has …», «it computes …»"""
        self.verbs(self.current or self.source(), vps)

    def on_model(self, model: Say, haves: Any, vps: Any = None) -> None:
        """«a classifier has three inputs, one hidden layer … and a logistic output unit»"""
        if model.kind == "layers_model":
            self.depth = 2 if model[0] == "two" else int(model[0]) if model[0].isdecimal() else None
        if model.kind == "it_model" and any(value.made is not None for value in self.values):
            raise Misread("what “it” is")
        if model.kind in ("residual_block", "gated_block"):
            self.claimed.add(model.kind)
        value = self.current or self.source()
        for have in haves:
            if have.kind == "opts" and have[0][0] == "inputref":
                value = self.ref("input", have[0][1])
            elif have.kind == "opts":
                self.attribute_of_input(value, have[0][1])
            else:
                value = self.through(value, have)
                self.current = value
        if vps and haves and haves[-1].kind == "losses" and any(vp.kind == "attrs" for vp in vps):
            raise Unread("what is said of the loss")
        self.verbs(value, vps or ())

    def on_model_does(self, model: Say, vps: Any) -> None:
        self.on_model(model, (), vps)

    def verbs(self, value: Value, vps: Any) -> None:
        for said in vps or ():
            value = self.verb(value, said)

    def verb(self, value: Value, said: Say) -> Value:
        """The value behind one verb; what is computed last is what “it” and “the output” mean."""
        method = getattr(self, f"verb_{said.kind}", None)
        if method is None:
            raise Unread(f"“{said.kind}”")
        found: Value = method(value, *said.of)
        if found.made is not None and found is not self.loss:
            self.current = found
        return found

    def verb_through(self, value: Value, parts: Say, giving: Any = None) -> Value:
        return self.verb_giving(self.through(value, parts), giving)

    def verb_through2(self, value: Value, first: Say, second: Say, giving: Any = None) -> Value:
        return self.verb_giving(self.through(self.through(value, first), second), giving)

    def verb_transformed(self, value: Value, parts: Say, giving: Any = None) -> Value:
        self.nouns["transformed"] = self.verb_through(value, parts, giving)
        return self.nouns["transformed"]

    def verb_turnedinto(self, value: Value, noun: Say, letter: Token | None, parts: Say) -> Value:
        return self.verb_giving(self.through(value, parts), Say("giving", (letter, noun)))

    def verb_reduces(self, value: Value, said: Any) -> Value:
        self.on_reduce(said)
        return value

    def on_targetgiven(self, letter: Token, shape: Token | None) -> None:
        self.target = self.lettered(letter) if self.target is None else self.named(self.target, letter)
        if shape is not None:
            self.shape(self.target, shape)

    def verb_combine(self, value: Value, how: str, other: Any, giving: Any = None) -> Value:
        if value is self.explained and how == "quotient":
            raise Unread("a mask")
        if how == "product" and self.explained is value:
            self.explained = None
        return self.verb_giving(self.new(None, how, value, self.operand(value, other)), giving)

    def operand(self, value: Value, said: Any) -> Value:
        """The other value of a product or a sum.

        «the vector $g$», told for the first time, is not what was computed; «the input is added to the result» is not
        added to itself.
        """
        letter = said[1] if isinstance(said, Say) and said.kind == "ref" else None
        if isinstance(letter, Token) and name_of(letter.letters[0]) not in self.letters and said[0] in _GENERAL:
            return self.lettered(letter)
        found = self.value(said)
        return self.before if found is value and letter is None and self.before is not None else found

    def verb_matrix(self, value: Value, letter: Token, giving: Any = None) -> Value:
        return self.verb_giving(self.new(None, "dense", value, weights=letter.letters[0], bias=False), giving)

    def verb_addself(self, value: Value, giving: Any = None) -> Value:
        if self.before is None or self.before is value:
            raise Unread("“is added”")
        return self.verb_giving(self.new(None, "sum", self.before, value), giving)

    def verb_transform(self, value: Value, how: str, giving: Any = None) -> Value:
        return self.verb_giving(self.new(None, how, value), giving)

    def verb_inputs(self, value: Value, count: str) -> Value:
        self.attribute_of_input(self.source(), count)
        return value

    def verb_applied(self, value: Value, on: Any, giving: Any = None, given: Any = None) -> Value:
        """«the network takes a feature map»: what has no layer yet begins with it."""
        if giving is not None:
            raise Unread("“is applied to”")
        if value.made in WINDOWED and value.of[0].made is None:
            self.run_over(value, on)
            self.windows(value, given)
            return value
        if given is not None:
            raise Unread("“with”")
        before, found = self.input, self.value(on)
        if value.made is not None:
            self.begins(before, found)
            return value
        if found.made is None:
            if self.input is not None and self.input is not found and self.input in self.values:
                if self.input.letter is not None or self.input.options:
                    raise Unread("two inputs")
                self.values.remove(self.input)
            self.input = found
        return found

    def verb_attrs(self, value: Value, attrs: Any) -> Value:
        if self.loss is not None and self.loss.words == self.words:
            raise Unread("what is said of the loss")
        return self.attributes(value, attrs)

    def verb_attrs_act(self, value: Value, name: str) -> Value:
        return self.activation(value, name)

    def verb_applies(self, value: Value, parts: Say, to: Any = None, giving: Any = None) -> Value:
        return self.verb_giving(self.through(self.value(to) if to is not None else value, parts), giving)

    def verb_feeds(self, value: Value, what: Any, parts: Say, giving: Any = None) -> Value:
        return self.verb_giving(self.through(self.value(what), parts), giving)

    def verb_active(self, value: Value, how: str, one: Any, other: Any, giving: Any = None) -> Value:
        """«… multiplies its input by the mask», «divides the result by p»"""
        first = self.value(one)
        if how == "sum" and other is None:
            first, other = value if value.made is not None else self.current or self.source(), first
        second = other if isinstance(other, Value) else self.operand(first, other)
        return self.verb_giving(self.new(None, how, first, second), giving)

    def verb_converts(self, value: Value, what: Any, count: str) -> Value:
        """«… turns these numbers into probabilities for three classes»"""
        if isinstance(what, Say):
            self.value(what)
        if value.made in (None, "formula"):
            raise Unread("“turns”")
        return self.attributes(value, (("units", count),))

    def verb_designrows(self, value: Value, letter: Token | None) -> Value:
        self.on_batch(Say("batch", (letter,)))
        return value

    def verb_rowsin(self, value: Value, letter: Token, target: Token | None = None) -> Value:
        """«a batch of samples is stored row-wise in X, the targets row-wise in T»"""
        if self.batch is None or value is not self.input:
            raise Unread("what is stored in rows")
        self.on_batch(Say("batch", (letter, None, None, None, target)))
        return value

    def verb_turns(self, value: Value, what: Any, noun: Any, letter: Token | None, target: Any = None) -> Value:
        if target is not None:
            self.target = self.value(target)
        source = self.value(what)
        if value.made is None or value is source:
            raise Unread("“turns”")
        self.begins(self.input, source)
        return self.verb_giving(value, Say("giving", (letter, noun)))

    def verb_outof(self, value: Value, parts: Say, on: Any = None) -> Value:
        source = self.value(on) if on is not None else self.source()
        return self.replaced(value, self.through(source, parts))

    def verb_computes(self, value: Value, said: Any) -> Value:
        """«… gives h»: a name; «… computes the sum of h and x»: a value."""
        if isinstance(said, Say) and said.kind == "ref":
            token = said[1]
            if isinstance(said[2], str) and value.made in ("dense", "fn", "softmax"):
                value = self.attributes(value, (("units", said[2]),))
            known = self.letters.get(name_of(token.letters[0])) if token is not None else None
            if known is not None and known.made is not None:
                if known is not value:
                    raise Unread("what is computed")
                return value
            return self.verb_giving(value, Say("giving", (token, said[0])))
        return self.value(said)

    def verb_is(self, value: Value, said: Any) -> Value:
        letter = name_of(value.letter) if value.letter else ""
        if said.kind == "output_parts" and value.made is None and any(letter in needs for needs in self.needs.values()):
            return self.verb_outof(value, said[0])  # the formula that uses it stands before it
        plain = said.kind == "ref" and (isinstance(said[0], str) or said[0] == Say("thing"))
        if plain and said[1] is not None and value.letter is None:
            self.named(value, said[1])  # «the input is $x$», «the input is the vector $x$»
            if value.made is None:
                value.axes = value.axes or self.axes_known(name_of(said[1].letters[0]))
            return value
        new = self.value(said)
        of_a_layer = said.kind == "output_parts" and value.made is not None  # «a tanh is … the output of a layer»
        if new.made in (None, "formula") or new is value or of_a_layer:
            raise Unread("what is computed")
        return self.replaced(value, new)

    def verb_residual(self, value: Value, letter: Token | None, parts: Say, giving: Any = None) -> Value:
        source = self.ref("input", letter)
        return self.verb_giving(self.new(None, "sum", source, self.through(source, parts)), giving)

    def verb_skip(self, value: Value) -> Value:
        return value

    def verb_equations(self, value: Value, *_: Any) -> Value:
        return self.written_value or self.current or value

    def verb_name(self, value: Value, letter: Token) -> Value:
        return self.named(value, letter)

    def verb_role(self, value: Value, role: Say) -> Value:
        if value.letter is None:
            raise Unread("a role")
        self.roles[name_of(value.letter)] = role.kind
        return value

    def verb_dimension(self, value: Value, count: str) -> Value:
        self.attribute_of_input(value, count)
        return value

    def on_through(self, value: Any, parts: Any, giving: Any = None) -> None:
        self.current = self.verb_giving(self.through(self.value(value), parts), giving)

    def on_define(self, letter: Token, said: Any) -> None:
        if isinstance(said, Say) and said.kind == "ref" and said[0] and (
                getattr(said[0], "kind", said[0]) in ("target", "input", "loss")):
            self.ref(said[0], letter)
            return
        value = self.value(said)
        known = self.letters.get(name_of(letter.letters[0]))
        if known is not None and known is not value:
            value = self.replaced(known, value)
        self.named(value, letter)
        if value.made is not None:
            self.current = value

    def on_named_function(self, name: str, letter: Token) -> None:
        if not (name == "sigmoid" and letter.letters[0] == r"\sigma"):
            raise Unread("a function")

    def verb_batch(self, value: Value, said: Say) -> Value:
        self.on_batch(said)
        return value

    # --- what is given and asked ----------------------------------------------------------------------------------

    def on_given(self, *said: Any) -> None:
        self.given.append(said[0])

    def on_asks(self, asked: Any) -> None:
        """What a request says besides what it asks for is told like any other sentence."""
        for said in asked:
            if said.kind in ("given", "skip"):
                self.act(said)
            elif said.kind == "messagesof":
                kinds, of = said.of
                self.act(Say("flow", (of, None)) if isinstance(of, Say) else Say("equations", (of,)))
                self.asks.append(Say("messages", (kinds,)))
            else:
                self.asks.append(said)

