"""What a request asks for, as the rows read it; what changes a request is not read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from derive.card import Card
from derive.notation.rules import LETTERS, rewritten
from derive.question.sentences import grammar
from derive.question.sentences.actions import Say
from derive.question.sentences.meaning import Unread, meaning
from derive.question.sentences.tokens import Sentence, sentences
from derive.question.words.prose import prose_of
from derive.question.words.reading import question_formulas

_CARD = "---\nid: a\ncourse: c\n---\n\n# Question\n{}\n\n## Related Concepts\n- Backpropagation\n"

READ = r"""
(5p) (i) Derive the backward message. [3 + 2]
    asks(messages(backward))
Using the chain rule and your result from (a), derive the gradients of the loss for one sample with respect to all weights and biases of both layers.
    skip, asks(grads(wrtnoun(weights), wrtnoun(biases)))
Derive, in index notation, the backward message of the combined layer, and say whether it can vanish.
    asks(messages(backward)), asks(besides)
Compute the vector-Jacobian products $\partial L/\partial x$ and $\partial L/\partial W$ step by step.
    asks(derivs($\partial L/\partial x$), derivs($\partial L/\partial W$), skip)
You are to find the message $\partial L/\partial x$ that would be sent to the previous layer (you may ignore the corners).
    asks(derivs($\partial L/\partial x$), skip)
What remains of the backward message if the gate closes?
    asks(besides)
Assuming there are no ties, derive $\partial L/\partial x$.
    skip, asks(derivs($\partial L/\partial x$))
Writing $g_k = \partial L/\partial y_k$ for the incoming gradient, derive $\partial L/\partial x_i$, giving your answer in index notation.
    given($g_k = \partial L/\partial y_k$), asks(derivs($\partial L/\partial x_i$), skip)
Given grad_output, derive the gradients of $W_g, b_g$ (note that both are matrices).
    given(upstream), asks(grads(wrtletters($W_g, b_g$)), skip)
State clearly the forward computation, and hence derive the backward message.
    asks(messages(forward)), asks(messages(backward))
Let $\delta = \partial L/\partial y$ be the error signal that arrives from the layer above.
    given($\delta = \partial L/\partial y$)
Write down $\partial L/\partial z$ without ever building the full Jacobian.
    asks(derivs($\partial L/\partial z$), skip)
Derive the backward message.
    asks(messages(backward))
Derive the forward, backward and parameter messages of this layer.
    asks(messages(forward, backward, parameters))
State the forward message of the layer and derive its backward message.
    asks(messages(forward)), asks(messages(backward))
Derive all messages.
    asks(messages(all))
Derive all the parameter gradients.
    asks(messages(parameters))
Derive the gradient.
    asks(bare(gradient))
Compute the Jacobian.
    asks(messages_jacobian)
Derive the Jacobian matrix $\partial y/\partial x$.
    asks(derivs($\partial y/\partial x$))
Derive $\partial L/\partial W$ and $\partial L/\partial b$ in matrix form.
    asks(derivs($\partial L/\partial W$), derivs($\partial L/\partial b$), skip)
(a) 4 p Find $\partial L/\partial x_j$ only, component by component.
    skip, asks(derivs($\partial L/\partial x_j$), skip, skip)
What is $\partial L/\partial \tau$?
    asks(derivs($\partial L/\partial \tau$))
Derive $dW$, $db$ and $dx$.
    asks(derivs($dW$), derivs($db$), derivs($dx$))
Find the gradient of the loss with respect to $W$, $b$ and $x$, given the upstream gradient $\partial L/\partial y$.
    asks(grads(wrtletters($W$), wrtletters($b$), wrtletters($x$)), given($\partial L/\partial y$))
Given $\partial L/\partial y$, derive the gradients for the weights, the biases and the input of the layer.
    given($\partial L/\partial y$), asks(grads(wrtnoun(weights), wrtnoun(biases), wrtnoun(input)))
Derive the gradient of $E$ with respect to $w$.
    asks(gradsof(wrtletters($w$), $E$))
Derive the gradient of the cost function $J(w, b)$ with respect to $w$ and $b$ for a single training pair $(x, t)$.
    asks(gradsof(wrtletters($w$), wrtletters($b$), $J(w, b)$), skip)
Derive the derivative of $h$ with respect to $x$.
    asks(gradsof(wrtletters($x$), $h$))
What is the derivative of the hidden layer $h$ with respect to $U$?
    asks(innerof(wrtletters($U$), hidden, $h$))
Differentiate $u$ by $x$.
    asks(gradsof(wrtletters($x$), $u$))
Derive the gradient of $u$.
    asks(ownderivative($u$))
Derive the Jacobian of $s$.
    asks(ownjacobian($s$))
Derive the Jacobian of $s$ with respect to $x$.
    asks(jacobianof(wrtletters($x$), $s$))
Derive the derivative of the network output $y$ with respect to the weights.
    asks(outputof(wrtnoun(weights), $y$))
Derive the derivative of the activation function in terms of $y$.
    asks(ownderivative(activation function), skip)
Derive the gradient of $\sigma(y)$ with respect to $x$.
    asks(gradsof(wrtletters($x$), $\sigma(y)$))
Determine $f'(x)$.
    asks(primes($f'(x)$))
Derive $\delta_x$ from $\delta_y$.
    asks(named($\delta_x$), given(named($\delta_y$)))
Derive the backward message to $x$ and the gradients of the weights $W$ and of the bias $b$.
    asks(grads(wrtletters($x$)), grads(wrtletters($W$), wrtletters($b$)))
Derive the gradient with respect to the kernel $K$, the offset $b$ and each pixel of the input image.
    asks(grads(wrtletters($K$), wrtletters($b$), wrtnoun(input)))
Derive the gradient with respect to the hidden weights.
    asks(grads(wrtsome(weights, hidden)))
Derive the gradient with respect to the embedding table.
    asks(grads(wrtword(embedding table)))
Derive the gradient that is passed on to the previous time step, $\partial L/\partial h_{t-1}$, and the contributions of this time step to the gradients of $W$ and $U$.
    asks(derivs($\partial L/\partial h_{t-1}$), grads(wrtletters($W$), wrtletters($U$)))
What is the message sent to the previous layer?
    asks(messages(backward))
Derive $\partial L/\partial s_k$ for $k = c$ and for $k \ne c$.
    asks(derivs($\partial L/\partial s_k$), case($k = c$, $k \ne c$))
Compute $\partial J/\partial w_j$ for $w_j \neq 0$.
    asks(derivs($\partial J/\partial w_j$), skip)
Derive $\partial y_k/\partial x_j$ for all $j$.
    asks(derivs($\partial y_k/\partial x_j$), skip)
Derive $\partial L/\partial x_i$ as a function of $\partial L/\partial y_i$ and the stored output $y_i$.
    asks(derivs($\partial L/\partial x_i$), given($\partial L/\partial y_i$))
For $0 \le k < n$ derive $\partial L/\partial x_k$.
    skip, asks(derivs($\partial L/\partial x_k$))
With $\alpha > 0$, derive the derivative $f'(x)$.
    skip, asks(primes($f'(x)$))
Given $z = Wx + b$ and $y = \tanh(z)$, derive the backward pass.
    equations($z = Wx + b$, $y = \tanh(z)$), asks(messages(backward))
Derive the backward message of the layer $y_i = \tanh(x_i)$.
    asks(messagesof(backward, $y_i = \tanh(x_i)$))
Derive expressions for $\partial L/\partial W$ and $\partial L/\partial x$ by backpropagation.
    asks(derivs($\partial L/\partial W$), derivs($\partial L/\partial x$), skip)
Derive the backward message, i.e. express $\partial L/\partial x_i$ in terms of $\partial L/\partial y_i$.
    asks(messages(backward)), asks(derivs($\partial L/\partial x_i$), given($\partial L/\partial y_i$))
Derive $\partial L/\partial z$, and from it the gradients for $W$ and $b$.
    asks(derivs($\partial L/\partial z$), grads(wrtletters($W$), wrtletters($b$)))
Use the chain rule to compute $\partial y/\partial w$.
    asks(derivs($\partial y/\partial w$))
Derive the backward message and simplify as far as possible.
    asks(messages(backward), skip, skip)
Derive $\partial L/\partial x$, and explain why no matrix needs to be built.
    asks(derivs($\partial L/\partial x$)), asks(besides)
Write down the shape of $W$ and derive $\partial L/\partial W$.
    asks(besides), asks(derivs($\partial L/\partial W$))
What is the shape of the gradient with respect to $W$?
    asks(besides)
How much memory does the gradient with respect to $W$ take?
    asks(besides)
Show that $\partial y/\partial x = y(1 - y)$.
    asks(derivs($\partial y/\partial x = y(1 - y)$))
Show what $\partial L/\partial w$ and $\partial L/\partial b$ are.
    asks(derivs($\partial L/\partial w$, $\partial L/\partial b$))
If the gradient at the output of the layer is known, derive the gradient at the input.
    given(upof(upletter)), asks(grads(wrtnoun(input)))
Write $G = \partial L/\partial O$ for the incoming gradient.
    given($G = \partial L/\partial O$)
Derive the gradients with respect to the weights and the slope of a PReLU.
    asks(gradsin(wrtnoun(weights), wrtword(slope), act(prelu)))
Derive the parameter messages of the linear layer.
    asks(messagesin(parameters, linear layer))
Derive the gradients from the gradient with respect to $s$.
    asks(bare(gradient), given(upof(upvalue(ref('', $s$)))))
Derive the parameter messages (weights and biases) of this block.
    asks(messages(parameters))
Derive the messages to $h_{t-1}$ and to $x_t$.
    asks(grads(wrtletters($h_{t-1}$), wrtletters($x_t$)))
Derive the gradients with respect to the weights and biases of both layers.
    asks(grads(wrtnoun(weights), wrtnoun(biases)))
Find $\partial L/\partial x$ where it exists.
    asks(derivs($\partial L/\partial x$), skip)
Express it in terms of $y$.
    asks(skip)
"""

OPEN = r"""
Suppose $\partial L/\partial y$ is zero everywhere.
Using only the second path, derive the backward message.
Derive the backward message in the limit of large inputs.
Derive the backward message by finite differences.
Derive the gradient in expectation with respect to $W$.
Derive the backward message in test mode.
Derive the backward message using half of the samples.
Derive the vector-Jacobian products of the squared layer.
Derive the Jacobian at $x = 0$.
Derive the derivative of $y_k^2$ with respect to $x_k$.
Derive the gradient of $\sqrt{L}$ with respect to $W$.
Derive the gradient of $-L$ with respect to $W$.
Derive the gradient of $3 L$ with respect to $W$.
Derive the gradient of $L^2$ with respect to $W$.
Derive the gradient of $\|z\|^2$ with respect to $U$.
Derive the gradient of $a^T y$ with respect to $x$.
Derive the gradient of $\max_k y_k$ with respect to $x$.
Derive the gradient of $L(2y)$ with respect to $x$.
Derive the derivative of $y(-x)$.
Derive the derivative of $y(2x)$ with respect to $x$.
Derive the derivative of $y_i$ with respect to $2 x_i$.
Derive the derivative of $y_i$ with respect to $x_i^2$.
Derive the derivative of $y$ with respect to $\log x$.
Derive the gradient with respect to $W + b$.
Derive the gradient with respect to $W^T$.
Derive the gradient with respect to $\|W\|$.
Derive the gradient with respect to the product $Wx$.
Derive the gradient with respect to the inverse $W$.
Derive the gradient with respect to the norm of $W$.
Derive the derivative with respect to the pre-activation $Wx + b$.
Derive the derivative of the inverse function.
Derive the derivative of its square.
Derive the derivative of its absolute value.
Derive the derivative of the first function.
Derive the derivative of the product $y_i z_i$.
Derive the derivative twice.
Differentiate $y$ twice with respect to $x$.
Differentiate the inner function.
Derive the second derivative.
Derive the first two derivatives of $y$.
Derive $y''$.
Derive $\partial^2 y/\partial x^2$.
Derive $\partial y/\partial x|_{x=0}$.
Derive $\partial L/\partial W + \lambda W$.
Derive the derivative, and then differentiate again.
Derive the derivative of its derivative.
Derive the backward message and its derivative.
Derive the gradient and its norm with respect to $W$.
Derive the gradient for $W$ and count its entries.
Derive the derivative and evaluate it at $x = 1$.
Derive the derivative for large $x$.
Derive the derivative at the origin.
Derive the gradient at $W$.
Derive $\partial L/\partial W$ for $t = 0$.
Derive $\partial L/\partial W$ for $W = I$.
Derive $\partial L/\partial x$ for $x > 0$.
Derive $\partial L/\partial W$ when $b = 0$.
For $n = 2$, derive $\partial y_i/\partial x_j$.
With $W = I$, derive $\partial L/\partial x$.
Derive $\partial y_i/\partial x_j$ for $n = 2$ and for $n = 3$.
Derive $\partial L/\partial s_j$ for $j \ne c$.
Derive $\partial L/\partial W$ in the limit of large weights.
Derive $\partial L/\partial W$ up to first order in $x$.
Derive $\partial y/\partial x$ holding $\mu$ fixed.
Derive $\partial L/\partial q$ with the weights $a$ detached.
Derive the gradient averaged over the batch.
Derive the gradient per unit of batch size.
Derive the total gradient for two examples with respect to $W$.
Derive the gradient with respect to $W$, clipped to norm 1.
Derive the gradient through time with respect to $W$.
Derive $\partial L/\partial x$ through the student only.
Derive the backward message at inference time.
Derive the backward message, treating $\mu$ as a constant.
Derive $\partial \ell/\partial W$ (not $\partial \ell/\partial b$).
Derive the parameter gradients (only the bias).
Derive the parameter gradients except the bias.
Derive the backward message without the bias.
(Not for the bias) Derive the gradients.
Derive the gradient in the first iteration.
Derive the gradient after one step of gradient descent.
Derive the gradient times the input.
Derive the gradient penalty with respect to $x$.
Derive the policy gradient.
Derive the variance of the gradient.
Derive the largest value of the derivative.
Approximate the derivative by finite differences.
When is the gradient with respect to $b$ zero?
By how much does the gradient shrink after ten layers?
Derive the subgradient with respect to $w$ at the kink.
Explain why, and take the output to be zero.
"""


def _sentence(text: str) -> Sentence:
    card = Card.parse(_CARD.format(text))
    (tokens,) = sentences(prose_of(card.question, card.question_line, rewritten(question_formulas(card), LETTERS)))
    return tokens


def _said(value: Any) -> str:
    if isinstance(value, Say):
        of = [_said(item) for item in value.of if item is not None]
        return value.kind + (f"({', '.join(of)})" if of else "")
    return ", ".join(map(_said, value)) if isinstance(value, tuple) else str(value)


def test_a_request_says_what_is_asked_of_what_and_by_what() -> None:
    lines = READ.strip().splitlines()
    for text, said in zip(lines[::2], lines[1::2], strict=True):
        assert _said(meaning(_sentence(text))) == said.strip(), text


@pytest.mark.parametrize("text", OPEN.strip().splitlines())
def test_what_changes_a_request_is_not_read(text: str) -> None:
    with pytest.raises(Unread):
        meaning(_sentence(text))


def test_a_name_has_its_rows_in_one_file() -> None:
    files = (Path(grammar.__file__).parent / "rows").glob("*.rows")
    heads = Counter(line for f in files for line in f.read_text(encoding="utf-8").splitlines() if line[:1].isalpha())
    assert not [name for name, times in heads.items() if times > 1]
