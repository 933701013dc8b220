"""A clause that names a layer between formulas is read as the layer's formula; words that do more are never passed over."""

from __future__ import annotations

import numpy as np
import pytest

import derive
from derive.question import module_of
from tests.bank import card_of, is_read

CARDS = {
    "linear": r"A fully connected layer with weight matrix $W \in \mathbb{R}^{K\times D}$ and bias $b \in \mathbb{R}^K$ acts on "
              r"the vector $x \in \mathbb{R}^D$, and its pre-activations $u \in \mathbb{R}^K$ are then bounded by "
              r"$$y_k = \frac{u_k}{2 + |u_k|}.$$ Derive the gradients of $W$, $b$ and $x$ when $\partial L/\partial y$ is given.",
    "unit": r"The logit $a_n$ of the $n$-th case is an affine function of its covariate vector $x_n$, with coefficient vector "
            r"$\theta$ and intercept $\kappa$. The loss over the sample is $$L = \sum_{n=1}^{N} \log(1 + e^{a_n}).$$ "
            r"Derive $\partial L/\partial \theta$ and $\partial L/\partial \kappa$.",
    "relu": r"Let $$a_k = \beta + \sum_j V_{kj} x_j,$$ and afterwards every value passes a ReLU, which gives the activation "
            r"$z_k$. From above we receive $\partial L/\partial z_k$. Derive $\partial L/\partial V_{kj}$ and "
            r"$\partial L/\partial \beta$.",
    "gate": r"The mixing weights $\pi_1, \dots, \pi_E$ come from a softmax over the gate scores, and gate scores are computed "
            r"from the patch $x \in \mathbb{R}^N$ by a linear map without bias, with matrix $G \in \mathbb{R}^{E\times N}$. "
            r"The output is $$y = \sum_{e=1}^{E} \pi_e v_e.$$ Find $\partial y/\partial G_{en}$ and $\partial y/\partial v_e$.",
    "entropy": r"Let $$\eta_{nk} = \sum_m B_{km} h_{nm} + c_k.$$ The logits of each case are turned into class probabilities by a "
               r"softmax over $k$, and the loss $E$ is the cross-entropy of these against one-hot targets $t_{nk}$, averaged over "
               r"the $N$ cases. Derive $\partial E/\partial B_{km}$ and $\partial E/\partial c_k$.",
    "error": r"Let $$f_n = \alpha e^{-\beta u_n}, \qquad n = 1,\dots,N.$$ The loss $S$ is one half of the sum, over the sample, of "
             r"the squared differences between $f_n$ and $y_n$. Find $\partial S/\partial \alpha$ and $\partial S/\partial \beta$.",
    "binary": r"Let $$a_n = \sum_{d} v_d x_{nd}^2, \qquad n = 1,\dots,N.$$ The activation $a_n$ is squashed by the logistic sigmoid "
              r"to the probability $\pi_n$, and the loss $J$ is the binary cross-entropy of $\pi_n$ and the label "
              r"$y_n \in \{0,1\}$, summed over the $N$ samples. Find $\partial J/\partial v_d$.",
    "hidden": r"For the dosage model, the feature vector $x \in \mathbb{R}^n$ first passes through a tanh, with the result "
              r"$h \in \mathbb{R}^n$. Then a linear map without bias, $P \in \mathbb{R}^{m\times n}$ being its matrix, is applied to "
              r"$h$; the result is $e$. The output is $$y = \sum_{k=1}^{m} c_k e_k^2.$$ No $e_k$ is zero. "
              r"Derive $\partial y/\partial P$ and $\partial y/\partial x$.",
    "hinge": r"Let $$s = \sum_{i}\sum_j A_{ij} x_i x_j + b.$$ It is trained with the hinge loss (margin one) for labels "
             r"$t \in \{-1, 1\}$. Do not assume that $A$ is symmetric. "
             r"Derive the gradients of the loss with respect to $A$ and $b$.",
    "absolute": r"The response $$f_n = v e^{-q x_n}, \qquad n = 1,\dots,N,$$ is fitted to labels $t_n$. Because they contain outliers "
                r"the loss $J$ is the mean absolute error over the $N$ cases. You may suppose that no residual is zero. "
                r"Find $\partial J/\partial q$.",
    "penalty": r"With scores $a_n = w^\top x_n + b$, $w \in \mathbb{R}^D$, for $n=1,\dots,N$ and labels $y_n\in\{-1,+1\}$, "
               r"the objective $J$ is the average of the hinge losses over the $N$ examples plus $\frac{\lambda}{2}$ times the squared "
               r"norm of $w$. Derive $\partial J/\partial w$ and $\partial J/\partial b$.",
    "patient": r"For the $i$-th patient the risk score is $$s_i = \sum_{j} \beta_j z_{ij}, \qquad i = 1,\dots,n,$$ and the "
               r"predicted probability $p_i$ is obtained by applying the logistic sigmoid to $s_i$. As loss $\ell$ we use the binary "
               r"cross-entropy between $p_i$ and the outcome $y_i\in\{0,1\}$, averaged over the $n$ patients. "
               r"Find $\partial\ell/\partial\beta_j$.",
    "update": r"Let $c = \tanh(Wx + Rh)$ with the state $h\in\mathbb{R}^n$ and the input $x\in\mathbb{R}^m$. The update gate $z$ is the "
              r"logistic sigmoid of $Vx + Sh$. The new state is $$y = z\odot c + (1-z)\odot h .$$ "
              r"Derive $\partial L/\partial W$ and $\partial L/\partial V$, given $\partial L/\partial y$.",
    "norm": r"A feature vector $x\in\mathbb{R}^{4}$ is first layer-normalised: subtract the mean of its entries and divide by the "
            r"square root of their (biased) variance plus $\epsilon$, where $\epsilon>0$ is fixed and there are no learned gains or "
            r"offsets; the result is $\hat x$. Then $$y_i=\hat x_i\,\exp(-\omega_i\,\hat x_i^{2}),\qquad i=1,\dots,4.$$ "
            r"Derive $\partial L/\partial\omega_i$ and $\partial L/\partial x_i$, given $\partial L/\partial y_i$.",
    "pool": r"The signal $x_1,\dots,x_{2m}$ is first reduced by average pooling over pairs of neighbours to $p_1,\dots,p_{m}$. Then "
            r"$$y_k = w_k p_k^2, \qquad k=1,\dots,m.$$ Derive $\partial L/\partial w_k$ and $\partial L/\partial x_i$ for given "
            r"$\partial L/\partial y_k$.",
    "map": r"The map $X_{i,j}$ (even height and width) is subsampled by $2\times 2$ max pooling with stride 2, which gives $P_{i,j}$. "
           r"The output is $$Y_{i,j} = \tanh(\alpha P_{i,j} + \beta).$$ Derive $\partial L/\partial\alpha$ and "
           r"$\partial L/\partial X_{i,j}$, given $\partial L/\partial Y_{i,j}$.",
    "neuron": r"A single neuron with weight vector $w$ and bias $b$ forms the weighted sum of its inputs $x$ and applies the logistic "
              r"sigmoid. The result is scored by the binary cross-entropy $L$ (natural logarithm) against the label $t$. "
              r"Derive the gradients of the loss with respect to $w$, $b$ and $x$.",
    "time": r"A filter is applied at all valid positions, $$a_i = \sum_{k=1}^{3} w_k x_{i+k-1} + b,$$ every $a_i$ is passed through a "
            r"tanh to give $h_i$, and then max-pooling over time picks the largest of the $h_i$ as the single output $y$. "
            r"Find $\partial y/\partial w_k$ and $\partial y/\partial b$.",
    "whole": r"An image $x_{rs}$ is filtered by $$z_{rs} = b + \sum_{u=1}^{2} \sum_{v=1}^{2} w_{uv} x_{r+u-1,s+v-1}.$$ This is followed by a "
             r"ReLU, and the resulting map is averaged over all its positions (global average pooling) to give the scalar $y$. "
             r"Derive $\partial y/\partial w_{uv}$ and $\partial y/\partial b$.",
    "tags": r"The scores $z = W x + b$ (one for each of the $K$ tags) are each squashed by a sigmoid to obtain $p_1,\dots,p_K$, and the "
            r"loss $L$ is the binary cross-entropy between $p_k$ and the tag indicator $t_k \in\{0,1\}$, averaged over the $K$ tags. "
            r"Find $\partial L/\partial W$ and $\partial L/\partial b$.",
    "gains": r"Let $$u_k = \sum_j V_{kj} x_j.$$ The vector $u$ is passed through a tanh, which gives $h_k$; then $h_k$ is multiplied by its "
             r"own gain $g_k$, which gives $y_k$. Derive $\partial L/\partial V_{kj}$ and $\partial L/\partial g_k$ from "
             r"$\partial L/\partial y_k$.",
    "skip": r"Let $h = \tanh(Wx + b)$ with $x, h \in \mathbb{R}^n$. Then every component of $h$ is multiplied with its own learned "
            r"gain $g_i$, and finally the input $x$ is added back to give $y$. Derive the backward message to $x$ and the "
            r"gradients with respect to $W$, $b$ and $g$.",
}
LATER = ("absolute", "penalty", "patient", "update", "norm", "pool", "map", "neuron", "time", "whole", "tags", "gains", "skip")  # each with every third sentence of MORE
MORE = """
Afterwards everything is multiplied by a half.|The output is scaled by its largest entry.|The result is then squared.|It is applied twice.
Its output is added to its input.|Each output is negated.|Finally, the mean of the output is subtracted.|The first row is left out.
Half of the entries are masked.|The output is clipped at six.|Before it, the input is mirrored.|At the border the values wrap around.
The array is periodic.|All this happens in the logarithm.|The output is rounded.|The outputs are summed up.|We cube the output.
The whole is raised to the power three.|The absolute values of the input are used.|Negative inputs are set to zero first.
A skip connection leads around the layer.|The layer acts in the Fourier domain.|Entries above three saturate.|The constant is learned.
Let the output be its square.|In the end one takes logarithms.|Everything happens modulo seven.|The array is treated as a ring.
The input comes from a softmax.|It ignores the sign of its input.|In odd positions the sign changes.|The operation runs backwards.
""".replace("\n", "|").strip("|").split("|")
CHANGED = (
    ("linear", "with weight", "with transposed weight"), ("linear", "and bias", "and negated bias"), ("linear", "bias $b", "bias $-b"),
    ("linear", "acts on", "acts on the square of"), ("linear", "acts on", "does not act on"), ("linear", "acts on", "acts twice on"),
    ("linear", "the vector", "the reversed vector"), ("linear", "the vector", "the normalised vector"),
    ("linear", "A fully connected layer", "A residual fully connected layer"), ("linear", "weight matrix", "weight vector"),
    ("linear", "A fully connected layer", "A fully connected layer or a convolution"), ("linear", "acts on", "acts half the time on"),
    ("unit", "is an affine function", "is twice an affine function"), ("unit", "affine function", "affine function of the logarithm"),
    ("unit", "coefficient vector", "coefficient matrix"), ("unit", "and intercept", "and without intercept"),
    ("unit", "covariate vector", "squared covariate vector"), ("unit", r"$\kappa$. The", r"$\kappa$, all this halved. The"),
    ("relu", "every value", "every second value"), ("relu", "every value", "every negative value"), ("relu", "a ReLU", "two ReLUs"),
    ("relu", "a ReLU", "a clipped ReLU"), ("relu", "a ReLU", "a ReLU and a tanh"), ("relu", "every value passes", "no value passes"),
    ("relu", "a ReLU", "a ReLU with noise"), ("relu", "which gives", "twice which gives"), ("relu", "a ReLU", "a ReLU or a tanh"),
    ("gate", "a softmax over", "a softmax over the squares of"), ("gate", "the gate scores", "the other gate scores"),
    ("gate", "a softmax", "a masked softmax"), ("gate", "a softmax", "a softmax with temperature two"), ("gate", "gate scores are", "gates are"),
    ("gate", "from the patch", "from the mirrored patch"), ("gate", "with matrix", "with the inverse of the matrix"),
    ("gate", "without bias", "without weights"), ("entropy", "softmax over $k$", "softmax over $n$"), ("entropy", "softmax over", "sigmoid over"),
    ("entropy", "softmax over $k$", "softmax"), ("entropy", "averaged over", "weighted over"), ("entropy", ", averaged over the $N$ cases", ""),
    ("entropy", "cross-entropy of these", "cross-entropy of the logits"), ("entropy", "averaged over the $N$ cases", "averaged over the classes"),
    ("entropy", "against one-hot", "against smoothed one-hot"), ("entropy", "cases. D", "cases, plus a penalty. D"),
    ("binary", "logistic sigmoid", "logistic sigmoid or a tanh"), ("binary", "is squashed", "is never squashed"),
    ("binary", "The activation", "The negated activation"), ("binary", "summed over", "weighted over"), ("binary", "to the", "to twice the"),
    ("binary", r"\{0,1\}", r"\{-1,1\}"), ("binary", "and the label", "and the smoothed label"), ("binary", "and the label", "and the other label"),
    ("binary", "of $\\pi_n$ and", "of $a_n$ and"), ("binary", ", summed over the $N$ samples", ""), ("hidden", "a tanh", "half a tanh"),
    ("hidden", "For the dosage model", "For the odd components"), ("hidden", "For the dosage model", "For negative inputs"),
    ("hidden", "without bias", "with a bias"), ("hidden", "its matrix", "its transposed matrix"), ("hidden", "is applied", "is applied twice"),
    ("hidden", "is applied to", "is not applied to"), ("hidden", "applied to $h$", "applied to $h^2$"), ("hidden", "first passes", "first passes twice"),
    ("hidden", "the result is", "twice the result is"), ("hidden", "the result is", "the result plus $h$ is"),
    ("error", "one half of the sum", "one third of the sum"), ("error", "the squared", "the cubed"), ("error", "over the sample", "over the last two"),
    ("error", "and $y_n$", "and $-y_n$"), ("error", "and $y_n$", "and the mean of $y_n$"), ("error", "of the squared", "of the weighted squared"),
    ("error", "one half of the sum, over the sample, of the squared differences", "the squared difference"),
    ("error", "differences between", "differences of the logarithms of"), ("hinge", "hinge loss", "squared hinge loss of the absolute values"),
    ("hinge", "margin one", "margin two"), ("hinge", "hinge loss", "smoothed hinge loss"), ("hinge", "It is", "It is not"),
    ("hinge", r"t \in \{-1, 1\}$", r"t \in \{0, 1\}$"), ("hinge", "for labels", "for labels other than"),
    ("absolute", "mean absolute", "median absolute"), ("absolute", "absolute error", "absolute percentage error"),
    ("absolute", "absolute error", "absolute error of the logarithms"), ("absolute", "over the $N$ cases", "over half of the $N$ cases"),
    ("absolute", "over the $N$", "over the last $N$"), ("absolute", "over the $N$", "over the $M$"), ("absolute", "labels $t_n", "numbers $t_n"),
    ("penalty", "squared norm", "norm"), ("penalty", "norm of $w$", "norm of $w$ and $b$"), ("penalty", "average of", "minimum of"),
    ("penalty", "examples plus", "examples minus"), ("penalty", r"\{-1,+1\}", r"\{0,1\}"), ("penalty", "the average of the", "the"),
    ("patient", "averaged over the $n$ patients", "averaged over the features"), ("patient", ", averaged over the $n$ patients", ""),
    ("patient", "sigmoid to", "sigmoid twice to"), ("patient", "and the outcome", "and the complement of the outcome"),
    ("update", "is the logistic", "is one minus the logistic"), ("update", "of $Vx", "of the square of $Vx"), ("update", "gate $z$ is", "gate $z$ is not"),
    ("update", "sigmoid of", "sigmoid or the tanh of"), ("update", "$Vx + Sh$", "$Vx + Sh$ and the tanh of $x$"),
    ("norm", "(biased) variance", "variance (divisor $3$)"), ("norm", "(biased)", "(unbiased)"), ("norm", "gains or offsets", "gains"), ("norm", "square root of their", "square of their"),
    ("norm", " plus $", " times $"), ("norm", "layer-normalised", "batch-normalised"), ("norm", "subtract the mean", "subtract the median"),
    ("norm", "the result is", "twice the result is"), ("pool", "average pooling", "median pooling"), ("pool", "pairs", "overlapping pairs"),
    ("pool", "The signal", "The reversed signal"), ("pool", "p_1,", "p_0,"), ("pool", "average pooling", "average pooling of the squares"),
    ("neuron", "the weighted sum", "twice the weighted sum"), ("neuron", "the weighted sum", "the weighted mean"),
    ("neuron", "of its inputs", "of the squares of its inputs"), ("neuron", "and applies", "and never applies"),
    ("neuron", "the logistic sigmoid", "the logistic sigmoid twice"), ("neuron", "A single neuron", "A leaky single neuron"),
    ("time", "the largest", "the second largest"), ("time", "picks the largest", "picks the smallest"), ("time", "every $a_i$", "every other $a_i$"),
    ("time", "a tanh", "a tanh and a ReLU"), ("time", "of the $h_i$", "of the squared $h_i$"), ("time", "max-pooling", "soft max-pooling"),
    ("whole", "is averaged", "is never averaged"), ("whole", "is averaged over all its", "is averaged over half of its"),
    ("whole", "the resulting map", "the square of the resulting map"), ("whole", "followed by", "followed twice by"),
    ("tags", "each squashed", "each doubled and squashed"), ("tags", "for each of", "for each second of"), ("tags", "between $p", "between $1-p"),
    ("gains", "multiplied by", "masked by"), ("gains", "its own gain", "the inverse of its own gain"), ("gains", "is multiplied", "is twice multiplied"),
    ("skip", "is added back", "is never added back"), ("skip", "the input $x$", "twice the input $x$"), ("skip", "every component", "every other component"),
    ("skip", "added back", "added and subtracted"), ("skip", "the input $x$ is", "the input $x$ or $h$ is"), ("skip", "$x$ is added back", "$x$ is subtracted"),
    ("map", "stride 2,", "stride 2 with zeros outside,"), ("map", "is subsampled by", "is subsampled twice by"), ("map", "by $2", "by dilated $2"),
)
OPEN = (
    r"Let $$y_k = \sum_j W_{kj} x_j.$$ The loss $L$ is the squared error between $y_k$ and the targets $t_k$, averaged over the batch. "
    r"Derive $\partial L/\partial W_{kj}$.",
    r"Let $$y_{nk} = \sum_j W_{kj} x_{nj}.$$ The loss $L$ is the mean squared error between $y_{nk}$ and the targets $t_{nk}$. "
    r"Derive $\partial L/\partial W_{kj}$.",
    r"Let $$y_n = \sum_j w_j x_{nj}, \qquad n=1,\dots,N.$$ The labels are $t_n$, the targets $u_n$. The loss $L$ is the mean squared "
    r"error over the $N$ cases. Derive $\partial L/\partial w_j$.",
    r"Let $$y_n = \sum_j w_j x_{nj}, \qquad n=1,\dots,N.$$ The loss $L$ is the squared error between $y_n$ and the targets $t_n$ over "
    r"the $N$ cases. Derive $\partial L/\partial w_j$.",
    r"Let $$z_{tk} = \sum_j W_{kj} x_{tj}.$$ A softmax over time turns them into $p_{tk}$. The output is $$y = \sum_t \sum_k p_{tk} "
    r"v_{tk}.$$ Derive $\partial y/\partial W_{kj}$.",
    r"The features $x_{nd}$ are passed through a layer normalisation without gain and shift, with $\epsilon$ added to the variance, which "
    r"gives $u_{nd}$. Then $$y_{nd} = g_d u_{nd}^2.$$ Derive $\partial L/\partial g_d$ from $\partial L/\partial y_{nd}$.",
)
RNG = np.random.default_rng(3)
GIVEN = {
    "linear": {"W": RNG.normal(size=(2, 3)), "b": RNG.normal(size=2), "x": RNG.normal(size=3)},
    "unit": {"theta": RNG.normal(size=3), "kappa": 0.3, "x": RNG.normal(size=(4, 3))},
    "relu": {"V": RNG.normal(size=(2, 3)), "beta": 0.2, "x": RNG.normal(size=3)},
    "gate": {"G": RNG.normal(size=(2, 3)), "x": RNG.normal(size=3), "v": RNG.normal(size=2)},
    "entropy": {"B": RNG.normal(size=(3, 2)), "c": RNG.normal(size=3), "h": RNG.normal(size=(4, 2)), "t": np.eye(3)[[0, 2, 1, 0]]},
    "error": {"alpha": 0.7, "beta": 0.4, "u": RNG.normal(size=4), "y": RNG.normal(size=4)},
    "binary": {"v": RNG.normal(size=3), "x": RNG.normal(size=(4, 3)), "y": np.array([0.0, 1.0, 1.0, 0.0])},
    "hidden": {"P": RNG.normal(size=(2, 3)), "x": RNG.normal(size=3), "c": RNG.normal(size=2)},
    "hinge": {"A": RNG.normal(size=(3, 3)), "b": 0.1, "x": RNG.normal(size=3), "t": -1.0},
    "absolute": {"v": 0.8, "q": 0.4, "x": RNG.normal(size=4), "t": RNG.normal(size=4)},
    "penalty": {"w": RNG.normal(size=3), "b": 0.1, "x": RNG.normal(size=(4, 3)), "y": np.array([1.0, -1, 1, 1]), "lambda": 0.3},
    "patient": {"beta": RNG.normal(size=3), "z": RNG.normal(size=(4, 3)), "y": np.array([0.0, 1.0, 1.0, 0.0])},
    "update": {"h": RNG.normal(size=2), "x": RNG.normal(size=3), "W": RNG.normal(size=(2, 3)), "R": RNG.normal(size=(2, 2)),
               "V": RNG.normal(size=(2, 3)), "S": RNG.normal(size=(2, 2))},
    "norm": {"x": RNG.normal(size=4), "omega": RNG.normal(size=4), "epsilon": 0.1},
    "pool": {"x": RNG.normal(size=6), "w": RNG.normal(size=3)},
    "map": {"X": RNG.normal(size=(4, 6)), "alpha": 0.6, "beta": 0.2},
    "neuron": {"w": RNG.normal(size=3), "b": 0.2, "x": RNG.normal(size=3), "t": 1.0},
    "time": {"w": RNG.normal(size=3), "b": 0.2, "x": RNG.normal(size=7)},
    "whole": {"w": RNG.normal(size=(2, 2)), "b": 0.4, "x": RNG.normal(size=(4, 5))},
    "tags": {"W": RNG.normal(size=(2, 3)), "b": RNG.normal(size=2), "x": RNG.normal(size=3), "t": np.array([0.0, 1.0])},
    "gains": {"V": RNG.normal(size=(2, 3)), "x": RNG.normal(size=3), "g": RNG.normal(size=2)},
    "skip": {"W": RNG.normal(size=(3, 3)), "x": RNG.normal(size=3), "b": RNG.normal(size=3), "g": RNG.normal(size=3)},
}


def _softmax(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _filtered(w, b, x):
    return b + sum(w[u, v] * x[u : u + 3, v : v + 4] for u in range(2) for v in range(2))


VALUES = {
    "linear": lambda W, b, x: (W @ x + b) / (2 + abs(W @ x + b)),
    "unit": lambda theta, kappa, x: np.log1p(np.exp(x @ theta + kappa)).sum(),
    "relu": lambda V, beta, x: np.maximum(0, beta + V @ x),
    "gate": lambda G, x, v: _softmax(G @ x) @ v,
    "entropy": lambda B, c, h, t: -(t * np.log(_softmax(h @ B.T + c))).sum() / 4,
    "error": lambda alpha, beta, u, y: ((alpha * np.exp(-beta * u) - y) ** 2).sum() / 2,
    "binary": lambda v, x, y: (np.log1p(np.exp(x**2 @ v)) - y * (x**2 @ v)).sum(),
    "hidden": lambda P, x, c: c @ (P @ np.tanh(x)) ** 2,
    "hinge": lambda A, b, x, t: max(0.0, 1 - t * (x @ A @ x + b)),
    "absolute": lambda v, q, x, t: abs(v * np.exp(-q * x) - t).mean(),
    "penalty": lambda w, b, x, y, **size: np.maximum(0, 1 - y * (x @ w + b)).mean() + size["lambda"] / 2 * w @ w,
    "patient": lambda beta, z, y: (np.log1p(np.exp(z @ beta)) - y * (z @ beta)).mean(),
    "update": lambda h, x, W, R, V, S: h + (np.tanh(W @ x + R @ h) - h) / (1 + np.exp(-V @ x - S @ h)),
    "norm": lambda x, omega, epsilon: (u := (x - x.mean()) / np.sqrt(x.var() + epsilon)) * np.exp(-omega * u**2),
    "pool": lambda x, w: w * x.reshape(-1, 2).mean(1) ** 2,
    "neuron": lambda w, b, x, t: np.log1p(np.exp(w @ x + b)) - t * (w @ x + b),
    "time": lambda w, b, x: np.tanh(np.convolve(x, w[::-1], "valid") + b).max(),
    "whole": lambda w, b, x: np.maximum(0, _filtered(w, b, x)).mean(),
    "tags": lambda W, b, x, t: (np.log1p(np.exp(W @ x + b)) - t * (W @ x + b)).mean(),
    "gains": lambda V, x, g: g * np.tanh(V @ x),
    "skip": lambda W, x, b, g: g * np.tanh(W @ x + b) + x,
    "map": lambda X, alpha, beta: np.tanh(alpha * X.reshape(2, 2, 3, 2).max((1, 3)) + beta),
}


@pytest.mark.parametrize("key", CARDS)
def test_value(key):
    solution = derive.solve(card_of(CARDS[key]))
    assert np.allclose(np.asarray(solution.forward(**GIVEN[key]), dtype=float), VALUES[key](**GIVEN[key]))


@pytest.mark.parametrize("key", [key for key in CARDS if key != "hinge"])
def test_a_sentence_that_says_more(key):
    question = CARDS[key]
    at = max(question.find(word) for word in (" Derive", " Find"))
    more = MORE[::3] if key in LATER else MORE
    assert [said for said in more if is_read(f"{question[:at]} {said}{question[at:]}")] == []


def test_words_that_make_another_layer():
    assert [one for one in CHANGED if one[1] in CARDS[one[0]] and is_read(CARDS[one[0]].replace(*one[1:], 1))] == []


@pytest.mark.parametrize("question", OPEN)
def test_over_what_a_loss_or_a_layer_is_taken(question):
    assert not is_read(question)


IN_FRONT = ("A picture $x$ passes an average pooling layer with windows of two by two pixels.", "First comes a convolution with three taps.",
            "A signal $x$ runs through a convolution with three taps.", "An embedding layer turns words into vectors.",
            "The vector $x$ is layer normalised first.", "A picture passes a pooling layer with two by two windows.")


@pytest.mark.parametrize("then", ["The output is normalised to length one.", "Then $x$ goes through a linear layer with matrix $W$, which gives $y$."])
def test_a_layer_in_front_that_no_clause_reads(then):
    assert [said for said in IN_FRONT if is_read(f"{said} {then} State the forward message and the backward message.")] == []


def test_samples_that_are_not_counted_from_one():
    said = (r"Let $$y_n = \sum_j w_j x_{nj}, \qquad n=0,\dots,N-1.$$ The loss $L$ is the mean squared error between $y_n$ and the targets "
            r"$t_n$. Derive $\partial L/\partial w_j$.")
    assert any(r"\frac{1}{N} \sum_{n=0}^{N-1}" in said for said in module_of(card_of(said)).readings)


def test_a_name_and_the_formula_that_it_names():
    said = (r"It is trained by the negative log-likelihood of the counts $y_i$; constants dropped, this is $$\ell = \sum_{i=1}^{n} (e^{s_i} "
            r"- y_i s_i).$$ Derive $\partial\ell/\partial s_i$.")
    assert module_of(card_of(said)).output == "ell"
    assert not is_read(said.replace("constants dropped", "two samples dropped"))


def test_what_goes_in_may_be_named_behind():
    module = module_of(card_of(CARDS["gate"]))
    assert {*module.given} == {"G", "x", "v"}


def test_a_loss_with_a_letter_that_no_formula_computes():
    said = r"Let $$f = b + \sum_j w_j x_j^3.$$ The hinge loss $H$ of $f$ is used. Derive $\partial H/\partial w_j$."
    assert not is_read(said)


def test_a_layer_behind_the_formula():
    asked = r" Derive $\partial L/\partial b$."
    assert module_of(card_of(r"Let $s = Wx + b$; a ReLU gives $h$ from $s$." + asked)).output == "h"


def test_what_comes_before_is_what_no_formula_uses():
    said = r"Let $$y_k = g_k u_k, \qquad u_k = \sum_j W_{kj} x_j.$$ The result then passes through a ReLU, which gives $z_k$. "
    asked = r"Given $\partial L/\partial z_k$, derive $\partial L/\partial g_k$."
    module = module_of(card_of(said + asked))
    assert any(r"\max(0, y" in said for said in module.readings)


@pytest.mark.parametrize("layer, read", [("linear map", True), ("linear layer", False), ("affine map", False)])
def test_a_layer_with_weights_may_have_a_bias(layer, read):
    said = rf"A {layer} with matrix $P \in \mathbb{{R}}^{{m\times n}}$ maps $x \in \mathbb{{R}}^n$ to $e \in \mathbb{{R}}^m$. "
    assert is_read(said + r"Then $$y = \sum_k c_k e_k^2.$$ Derive $\partial y/\partial P$.") == read


@pytest.mark.parametrize("layer", [
    "A dense layer without bias computes $y = Wx$.", "A linear layer without a bias term gives $y = Wx$.",
    r"A dense layer without bias maps $x \in \mathbb{R}^3$ to $y \in \mathbb{R}^2$ by $y = Wx$.",
])
def test_a_layer_and_the_formula_that_it_computes_are_one(layer: str) -> None:
    card = card_of(f"{layer} Derive the backward message and the parameter messages.")
    module = module_of(card)
    assert len(module.equations) == 1 and (module.inputs, module.parameters) == (("x",), ("W",))


def test_a_formula_with_a_bias_is_no_layer_without_one() -> None:
    assert not is_read("A dense layer without bias computes $y = Wx + b$. Derive the gradient with respect to $W$.")
