"""What textbooks write, as the notation has it: formulas of a card, and what the rules make of them."""

import pytest

from derive.notation.formulas import Formula
from derive.notation.rules import LETTERS, RULES, rewritten
from derive.notation.rules.trees import spelt, with_trees

CASES = {
    "a probability that a letter names": ([r"y_w = P(O = w \mid C = c) = e^{z_w}"], [r"y_w = e^{z_w}"]),
    "a temperature above": ([r"p_i^{\tau} = e^{z_i / \tau}", r"L = p_i^\tau"],
                            [r"p_i^{(\tau)} = e^{z_i / \tau}", r"L = p_i^{(\tau)}"]),
    "a window with letters, as a list with dots": (
        [r"y_k = \max(x_{(k-1)s+1}, \dots, x_{ks})"], [r"y_k = \max_{1 \le i \le s} x_{(k-1)s+i}"]),
    "terms of a window with letters": (
        [r"y_k = \frac{1}{p} (x_{sk} + x_{sk+1} + \dots + x_{sk+p-1})"],
        [r"y_k = \frac{1}{p} (\sum_{0 \le i \le p - 1} x_{sk+i})"]),
    "every other entry": ([r"y = \max(x_1, x_3, \dots, x_9)"], [r"y = \max(x_1, x_3, \dots, x_9)"]),
    "a window with letters": (
        [r"y_k = \sum_{i \in \Omega(k)} x_i", r"\Omega(k) = \{(k-1)s+1, \dots, (k-1)s+p\}"],
        [r"y_k = \sum_{i \in \Omega(k)} x_i", r"\Omega(k) = \{i : (k-1)s+1 \le i \le (k-1)s+p\}"]),
    "a line that is called by its function": (
        [r"h_k = \sigma(z_k) \quad \text{(ReLU)}"], [r"h_k = \sigma(z_k) \quad, \sigma(u) = \max(0, u)"]),
    "a line that is called by its function, and how it is applied": (
        [r"h = \phi(z) \quad \text{(tanh, elementwise)}"], [r"h = \phi(z) \quad, \phi(u) = \tanh(u)"]),
    "a line that is called by a function that it defines": (
        [r"\sigma(s) = \max(0, s)", r"h = \sigma(z) \quad \text{(rectifier)}"],
        [r"\sigma(s) = \max(0, s)", r"h = \sigma(z) \quad"]),
    "a line that is called by what is no function of numbers": (
        [r"p = \sigma(z) \quad \text{(softmax)}"], [r"p = \sigma(z) \quad \text{(softmax)}"]),
    "a line that is called by more than its function": (
        [r"h = \sigma(z) \quad \text{(leaky ReLU)}"], [r"h = \sigma(z) \quad \text{(leaky ReLU)}"]),
    "entries, elementwise": (
        [r"h_k = \frac{1}{1 + e^{-z_k}} \quad \text{(sigmoid, elementwise)}"], [r"h_k = \frac{1}{1 + e^{-z_k}} \quad"]),
    "a comparison with a remark": ([r"y < 3 \text{ (elementwise)}"], [r"y < 3 \text{ (elementwise)}"]),
    "a probability of each sample": (
        [r"\Pr(y_n = 1 \mid x_n) = \sigma(w^\top x_n)", r"L = -\sum_n y_n \log \Pr(y_n = 1 \mid x_n)"],
        [r"p_n = \sigma(w^\top x_n)", r"L = -\sum_n y_n \log p_n"]),
    "a probability that nothing defines": (
        [r"P(c_n \mid x_n) = \sigma(x_n)", r"L = -\log P(d_n \mid x_n)"], [r"p_n = \sigma(x_n)", r"L = -\log P(d_n \mid x_n)"]),
    "rows of capitals": ([r"z_k = W_{k:} x + U_{k \cdot} v"], [r"z_k = W_{k,:} x + U_{k,:} v"]),
    "columns, and what may go on": ([r"z_k = w^\top X_{\cdot,k} + x_{k:}"], [r"z_k = w^\top X_{:,k} + x_{k:}"]),
    "a power": ([r"p_i = e^{z_i / \tau}", r"L = p_i^\tau"], [r"p_i = e^{z_i / \tau}", r"L = p_i^\tau"]),
    "brackets that a signature has": ([r"a[z] = \max(0, z)", r"h_i = a[f_i]"], [r"a(z) = \max(0, z)", r"h_i = a(f_i)"]),
    "brackets that nothing explains": ([r"h_i = a[f_i]"], [r"h_i = a[f_i]"]),
    "brackets that are shown": ([r"\mathbf{a}[\bullet]", "h_i = a[f_i]"], [r"\mathbf{a}(\bullet)", "h_i = a(f_i)"]),
    "an entry at what runs, with a label": (
        [r"v_c(i, j) = \sum_m \sum_n K_c(m, n) u(i + m, j + n)"],
        [r"v_{c,i,j} = \sum_m \sum_n K_{c,m,n} u_{i + m, j + n}"]),
    "entries of signals": (
        [r"y_o(n) = \sum_{k=0}^{K-1} w_o(k) x(n - Dk)", r"n = 0, \dots, N - 1"],
        [r"y_{o,n} = \sum_{k=0}^{K-1} w_{o,k} x_{n - Dk}", r"n = 0, \dots, N - 1"]),
    "a function of what has a value": ([r"f(x) = x", r"-1 \le x \le 1"], [r"f(x) = x", r"-1 \le x \le 1"]),
    "a value with its arguments, of which entries are read": (
        [r"f_i(x, \beta) = x_i \tanh(\beta x_i)", r"i = 1, \dots, n"], [r"f_i(x, \beta) = x_i \tanh(\beta x_i)", r"i = 1, \dots, n"]),
    "samples of a function of vectors": (
        [r"f(\mathbf{x}) = w^\top \mathbf{x} + b, \mathbf{x} \in \mathbb{R}^D", r"E = \sum_n (t_n - f(\mathbf{x}_n))^2"],
        [r"\mathbf{x}_n \in \mathbb{R}^D", r"E = \sum_n (t_n - (w^\top {\mathbf{x}_n} + b))^2"]),
    "a function of values with a label": ([r"y_c = \phi_c(a, b)", r"z_k = \sum_i x_{ki}"], [r"y_c = \phi_c(a, b)", r"z_k = \sum_i x_{ki}"]),
    "a function by its entries": ([r"y = f(W x)", r"f(a)_i = \max(a_i, 0)"], [r"y = f(W x)", r"f(u) = \max(u, 0)"]),
    "a function of a whole vector, by its entries": (
        [r"y = f(W x)", r"f(a)_i = a_i / \sum_j a_j"], [r"y = f(W x)", r"f(a)_i = a_i / \sum_j a_j"]),
    "an index from below 0": ([r"y_t = \sum_k w_k x_{t+k}", "k = -1, 0, 1"], [r"y_t = \sum_k w_k x_{t+k}", r"k = -1, \dots, 1"]),
    "an index from below 0 on": ([r"y_k = w_k x_k", r"k = -1, 0, \dots"], [r"y_k = w_k x_k", r"k \ge -1"]),
    "numbers that do not follow": ([r"y_k = w_k x_k", "k = -1, 1"], [r"y_k = w_k x_k", "k = -1, 1"]),
    "a window as a list": ([r"y_k = \max_{i \in \Omega(k)} x_i", r"\Omega(k) = \{2k - 1, 2k, 2k + 1\}"],
                           [r"y_k = \max_{i \in \Omega(k)} x_i", r"\Omega(k) = \{i : 2k - 1 \le i \le 2k + 1\}"]),
    "a window with dots, in two axes": (
        [r"y_{kl} = \max_{(p, q) \in \Omega(k, l)} x_{pq}", r"\Omega(k, l) = \{2k, \dots, 2k + 2\} \times \{l, l + 1\}"],
        [r"y_{kl} = \max_{(p, q) \in \Omega(k, l)} x_{pq}",
         r"\Omega(k, l) = \{(p, q) : 2k \le p \le 2k + 2, l \le q \le l + 1\}"]),
    "a window below a maximum": ([r"y_{kl} = \max_{(i, j) \in \{2k, 2k + 1\} \times \{l, l + 1\}} x_{ij}"],
                                 [r"y_{kl} = \max_{2k \le i \le 2k + 1, l \le j \le l + 1} x_{ij}"]),
    "a list with gaps": ([r"y_k = \max_{i \in \Omega(k)} x_i", r"\Omega(k) = \{2k, 2k + 2\}"],
                         [r"y_k = \max_{i \in \Omega(k)} x_i", r"\Omega(k) = \{2k, 2k + 2\}"]),
    "derivatives with dots": ([r"\frac{\partial L}{\partial y_1}, \dots, \frac{\partial L}{\partial y_K}"], [r"\frac{\partial L}{\partial y}"]),
    "a question mark": ([r"\frac{\partial L}{\partial p} = \,?"], [r"\frac{\partial L}{\partial p}"]),
    "one function, elementwise": ([r"h = \max(0, W x) \quad \text{(elementwise)}"], [r"h = \max(0, W x) \quad"]),
    "a product, elementwise": ([r"h = W x \quad \text{(elementwise)}"], [r"h = W x \quad \text{(elementwise)}"]),
    "an arrow": ([r"\mu \leftarrow \frac{1}{m} \sum_i x_i"], [r"\mu = \frac{1}{m} \sum_i x_i"]),
    "arrows in rows": ([r"\begin{aligned} m &\leftarrow a b \\ v &\gets m^2 \end{aligned}"],
                       [r"\begin{aligned} m = a b \\ v = m^2 \end{aligned}"]),
    "an update": ([r"w \leftarrow w - \eta g"], [r"w \leftarrow w - \eta g"]),
    "an interval": ([r"a \in (0, 1]", r"b \in [0, \infty)", r"c \in ]-1, 1["], [r"0 < a \le 1", r"b \ge 0", "-1 < c < 1"]),
    "a half-line": ([r"a \in \mathbb{R}_{>0}", r"b \in \mathbb{R}_+"], ["a > 0", "b > 0"]),
    "vectors of a half-line": ([r"a \in \mathbb{R}_+^n"], [r"a \in \mathbb{R}_+^n"]),
    "the positive part": ([r"[z]_+ = \max(0, z)", "y = [x]_+"], ["y = [x]_+"]),
    "a sample and its entries": ([r"x^i = (x^i_1, \dots, x^i_n)^T", "s = w^T x^i"], ["s = w^T x^i"]),
    "a value with its shape": ([r"h = \tanh(W x) \in \mathbb{R}^K"], [r"h = \tanh(W x), h \in \mathbb{R}^K"]),
    "entries with a shape of the whole": ([r"y_k = x_k \in \mathbb{R}^K"], [r"y_k = x_k \in \mathbb{R}^K"]),
    "equations side by side": (
        [r"\begin{aligned} a &= b c, & d &= 2 b \\ e &= a d, & f &= e^2 \end{aligned}"],
        [r"\begin{aligned} a &= b c, & d &= 2 b \\ e &= a d, & f &= e^2 \end{aligned}"]),
    "a function in a chain": ([r"y = f(x) = x^2", r"L = f(x) - t"], [r"f(x) = x^2, y = f(x)", r"L = f(x) - t"]),
    "a function that is a name of the value": ([r"y = f(x) = x^2", r"L = y - t"], [r"y = f(x) = x^2", r"L = y - t"]),
    "the entries of a diagonal": ([r"y = \mathrm{diag}(d_1, \dots, d_n) x"], [r"d \in \mathbb{R}^{n}", r"y = \mathrm{diag}(d) x"]),
    "derivatives by each of several": (
        [r"\theta \in \{w_0, w_i, \dots\}", r"\frac{\partial L}{\partial \theta}", r"\nabla_\theta L", r"J(\theta) = L"],
        [r"\frac{\partial L}{\partial w_0}", r"\frac{\partial L}{\partial w_i}", r"\nabla_{w_0} L", r"\nabla_{w_i} L",
         r"J(\theta) = L"]),
    "one of two values": ([r"t \in \{a, b\}", "y = t x"], [r"t \in \{a, b\}", "y = t x"]),
    "a box": ([r"\boxed{y_k = x_k}"], ["y_k = x_k"]),
    "a shape of a vector for each number": (
        [r"s_i = W x_i \in \mathbb{R}^C", r"x_i \in \mathbb{R}^D"],
        [r"s_i = W x_i, s_i \in \mathbb{R}^C", r"x_i \in \mathbb{R}^D"]),
    "an entry with its space": ([r"y_k = x_k \in \mathbb{R}"], [r"y_k = x_k, y_k \in \mathbb{R}"]),
    "cells of a vector": ([r"m \in \{0, 1\}^n", r"p \in [0, 1]^{m \times n}", r"S \in \{A, B\}^n"],
                          [r"m \in \mathbb{R}^n", r"p \in \mathbb{R}^{m \times n}", r"S \in \{A, B\}^n"]),
    "Kronecker's delta": ([r"z_{ij} = y_i (\delta_{ij} - y_j)"], ["z_{ij} = y_i ({[i = j]} - y_j)"]),
    "a delta that an equation defines": ([r"\delta_{ij} = y_{ij}", r"z_{ij} = y_i \delta_{ij}"],
                                         [r"\delta_{ij} = y_{ij}", r"z_{ij} = y_i \delta_{ij}"]),
    "a delta that is named": ([r"\delta_{ij}", r"z_{ij} = y_i \delta_{ij}"], [r"\delta_{ij}", r"z_{ij} = y_i \delta_{ij}"]),
    "a delta with a label": ([r"z_{ij} = y_i \delta_{ij} + \delta_a"], [r"z_{ij} = y_i \delta_{ij} + \delta_a"]),
    "a circled product of vectors": ([r"\mathbf{c} = \mathbf{f} \otimes \mathbf{g}"],
                                     [r"\mathbf{c} = \mathbf{f} \odot \mathbf{g}"]),
    "a circled product that is a matrix": ([r"Y = a \otimes b", r"Y \in \mathbb{R}^{m \times n}", r"a \in \mathbb{R}^m",
                                            r"b \in \mathbb{R}^n"],
                                           [r"Y = a b^\top", r"Y \in \mathbb{R}^{m \times n}", r"a \in \mathbb{R}^m",
                                            r"b \in \mathbb{R}^n"]),
    "a circled product in a function": ([r"\mathbf{c} = \tanh(\mathbf{f} \otimes \mathbf{g})"],
                                        [r"\mathbf{c} = \tanh(\mathbf{f} \odot \mathbf{g})"]),
    "an approximate fraction": ([r"p_k \approx \frac{x_k}{2}", r"q \approx \frac{1}{2}"],
                                [r"p_k = \frac{x_k}{2}", r"q \approx \frac{1}{2}"]),
    "a circled product of anything": ([r"y = a \otimes b"], [r"y = a \otimes b"]),
    "an approximate value": ([r"y_k \approx x_k - x_k^3"], ["y_k = x_k - x_k^3"]),
    "letters that are near each other": ([r"y \approx t"], [r"y \approx t"]),
    "approximate numbers": ([r"y \approx 0.27", r"z = a \approx b", "s = a", r"s \simeq b"],
                            [r"y \approx 0.27", r"z = a \approx b", "s = a", r"s \simeq b"]),
    "a brace with words": ([r"y_k = \underbrace{W_{kj} x_j}_{\text{linear}} + b_k"], ["y_k = W_{kj} x_j + b_k"]),
    "a brace with a letter": ([r"y_k = f(\overbrace{w x_k + b}^{s_k})"], ["s_k = w x_k + b", "y_k = f(s_k)"]),
    "a brace with an equation": ([r"y_k = f(\underbrace{w x_k + b}_{= s_k})"], ["s_k = w x_k + b", "y_k = f(s_k)"]),
    "a brace around a factor": ([r"y = a \underbrace{b + c}_{\text{sum}}"], [r"y = a \underbrace{b + c}_{\text{sum}}"]),
    "a brace with a derivative": ([r"\frac{\partial z}{\partial x} = \underbrace{2 y}_{\partial z / \partial y} w"],
                                  [r"(\partial z / \partial y) = 2 y", r"\frac{\partial z}{\partial x} = (\partial z / \partial y) w"]),
    "a brace with a shape": ([r"y = \underbrace{W}_{m \times n} x"], [r"y = \underbrace{W}_{m \times n} x"]),
    "a word in italics": ([r"\mathit{net}_j = x_j"], [r"\mathrm{net}_j = x_j"]),
    "rows of cases": ([r"y_k &= x_k && x_k > 0", r"y_k &= a x_k && x_k \le 0"],
                      [r"y_k = \begin{cases} x_k & x_k > 0 \\ a x_k & x_k \le 0 \end{cases}"]),
    "cases in one line": ([r"y = x \text{if } x > 0 \text{ and } 0 \text{otherwise}"],
                          [r"y = \begin{cases} x & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}"]),
    "cases in one line, the word first": (
        [r"y = x \text{if } x > 0 \text{and } t > 0, \text{else } 0"],
        [r"y = \begin{cases} x & \text{if } x > 0 \text{and } t > 0 \\ 0 & \text{else } \end{cases}"]),
    "rows of cases with words": ([r"y_k &= x_k & \text{if } x_k > 0 \\ &= 0 & \text{otherwise}"],
                                 [r"y_k = \begin{cases} x_k & \text{if } x_k > 0 \\ 0 & \text{otherwise} \end{cases}"]),
    "rows behind an equality": ([r"y = \begin{aligned} & x && \text{if } x > 0 \\ & 0 && \text{otherwise} \end{aligned}"],
                                [r"y = \begin{cases} x & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}"]),
    "a function entry by entry": ([r"f(u) = u^2 \text{ (elementwise)}"], ["f(u) = u^2"]),
    "a product entry by entry": ([r"y = a b \text{ (elementwise)}"], [r"y = a b \text{ (elementwise)}"]),
    "one of several functions entry by entry": (
        [r"y = f(x), \qquad f(u) = u^2 \ \text{(elementwise)}"], [r"y = f(x), \qquad f(u) = u^2"]),
    "what a letter is": ([r"g > 0 \text{ fixed}", r"y = g \text{ fixed}"], ["g > 0", r"y = g \text{ fixed}"]),
    "the square of a difference": (["L = (y_k - t_k)^2"], ["L = (y_k - t_k)^2"]),
    "the name of its value, beside it": ([r"f(\mathbf{x}) = w^T \mathbf{x}, \qquad L = (y - f(\mathbf{x}))^2"],
                                         [r"f = w^T \mathbf{x}, \qquad L = (y - f)^2"]),
    "ranges": ([r"k = 1:K", r"k \in [K]", r"q = 0, 1, 2, \ldots"],
               [r"k = 1, \dots, K", r"k = 1, \dots, K", r"q \ge 0"]),
    "an index with few values": (["u_t = w_k x_t", "k = 0, 1, 2"], ["u_t = w_k x_t", r"k = 0, \dots, 2"]),
    "a number with few values": (["u_t = w_k x_t^a", "a = 0, 1, 2"], ["u_t = w_k x_t^a", "a = 0, 1, 2"]),
    "numbers that are no counts": ([r"a = 0.1, 0.2, \dots", "b = 0.5 : 2"], [r"a = 0.1, 0.2, \dots", "b = 0.5 : 2"]),
    "no range": ([r"q = 0, 2, 4, \dots", r"a \in [0, 1]"], [r"q = 0, 2, 4, \dots", r"0 \le a \le 1"]),
    "a function at a letter whose vector is stated": (
        [r"f(z) = z^2", r"z \in \mathbb{R}^n", "a_i = f(z_i)"], ["f(u) = u^2", r"z \in \mathbb{R}^n", "a_i = f(z_i)"]),
    "a sign above": (["y = x² + z³"], ["y = x^2 + z^3"]),
    "labels": (["y_{out} = w y_{in}"], [r"y_{\text{out}} = w y_{\text{in}}"]),
    "maxima as labels": ([r"y = x_{\max} - x_{\min, k}"], [r"y = x_{\text{max}} - x_{\text{min}, k}"]),
    "indices": (["y_{in} = w_i x_n"], ["y_{in} = w_i x_n"]),
    "samples": ([r"x^1, \dots, x^m \in \mathbb{R}^n", "y^i = w^T x^i"], [r"x^i \in \mathbb{R}^n", "y^i = w^T x^i"]),
    "a name of several": ([r"\theta = (W, b)", r"J(\theta) = W b"], [r"J(\theta) = W b"]),
    "a vector of two": ([r"t = (a, b)", "y = t_1"], ["t = (a, b)", "y = t_1"]),
    "entries with dots": ([r"x = (x_1, \dots, x_n)^T"], [r"x \in \mathbb{R}^{n}"]),
    "entries from 0": ([r"x = (x_0, \dots, x_{n-1})"], [r"x \in \mathbb{R}^{n}"]),
    "entries of another letter": ([r"A = (a_{ij}) \in \mathbb{R}^{m \times n}", "y = A x", "z = a_{kl}"],
                                  [r"A \in \mathbb{R}^{m \times n}", "y = A x", "z = A_{kl}"]),
    "a sum with dots": ([r"s = w_1 x_1 + w_2 x_2 + \dots + w_n x_n + b"], [r"s = \sum_{1 \le i \le n} w_i x_i + b"]),
    "a product with dots": ([r"p = q_1 q_2 \cdots q_n"], [r"p = \prod_{1 \le i \le n} q_i"]),
    "a maximum with dots": ([r"y = \max(x_1, \dots, x_n)"], [r"y = \max_{1 \le i \le n} x_i"]),
    "a maximum of sums": ([r"y = \max\{x_1 + b_1, \dots, x_n + b_n\}"], [r"y = \max_{1 \le i \le n} (x_i + b_i)"]),
    "dots that leave a gap": ([r"s = x_1 + x_4 + \dots + x_n"], [r"s = x_1 + x_4 + \dots + x_n"]),
    "a function of an entry": ([r"f(x_k) = \max(0, x_k)"], [r"f_k = \max(0, x_k)"]),
    "one that is applied": ([r"f(x_k) = \max(0, x_k)", "y_k = f(s_k)"], [r"f(u) = \max(0, u)", "y_k = f(s_k)"]),
    "an argument beside a bold letter": ([r"\mathbf{o} = s(\mathbf{v})", r"s(v) = \frac{1}{1 + e^{-v}}"],
                                         [r"\mathbf{o} = s(\mathbf{v})", r"s(u) = \frac{1}{1 + e^{-u}}"]),
    "a function of vectors": ([r"h_w(x) = s(w^T x)", "L = h_w(x^{(i)}) - y"], ["L = (s(w^T x^{(i)})) - y"]),
    "a function of an index": ([r"z_k = h_k(a_k + 1)", r"h_j(u) = u + \tanh(b_j u)"],
                               [r"z_k = ((a_k + 1) + \tanh(b_k (a_k + 1)))"]),
    "a function with a label": ([r"y = h_a(x)", r"h_a(u) = \max(u, a u)"], [r"y = h_a(x)", r"h_a(u) = \max(u, a u)"]),
    "the name of its value": ([r"f(\mathbf{x}) = w^T \mathbf{x}", r"L = (y - f(\mathbf{x}))^2"],
                              [r"f = w^T \mathbf{x}", "L = (y - f)^2"]),
    "ranges by their values": ([r"y_{ij} = x_{ij}, \quad i = 0, 1, 2, \quad j = 0, 1, 2"],
                               [r"y_{ij} = x_{ij}, \quad i = 0, \dots, 2, \quad j = 0, \dots, 2"]),
    "a shape behind a function of matrices": ([r"f(Q, K) = Q K^\top \in \mathbb{R}^{n \times m}"],
                                              [r"f(Q, K) = Q K^\top, f \in \mathbb{R}^{n \times m}"]),
    "a shape behind a bold sample": ([r"\mathbf{z}_n = W \mathbf{x}_n \in \mathbb{R}^m"],
                                     [r"\mathbf{z}_n = W \mathbf{x}_n, \mathbf{z}_n \in \mathbb{R}^m"]),
    "features of which nothing is said": ([r"\phi_n = \phi(x_n)", r"y_n = w^\top \phi_n"], [r"y_n = w^\top \phi_n"]),
    "features that are computed": ([r"\phi(u) = u^2", r"\phi_n = \phi(x_n)"], [r"\phi(u) = u^2", r"\phi_n = \phi(x_n)"]),
    "a derivative by its function": ([r"s' = s (1 - s)"], [r"s' = s (1 - s)"]),
    "a softmax of logits": ([r"p = \mathrm{softmax}(A h)"], ["z = A h", r"p = \mathrm{softmax}(z)"]),
    "a softmax that is a factor": ([r"c = V \mathrm{softmax}(z)"], [r"a = \mathrm{softmax}(z)", "c = V a"]),
    "a softmax that is transposed": ([r"y = \mathrm{softmax}(z)^\top v"], [r"a = \mathrm{softmax}(z)", r"y = a^\top v"]),
    "a softmax in front": ([r"Y = \mathrm{softmax}(Q K^\top) V"],
                           [r"S = Q K^\top", r"A = \mathrm{softmax}(S)", "Y = A V"]),
    "a softmax of what has a letter": ([r"P = \mathrm{softmax}(\frac{Q}{d})", "S = Q / d"],
                                       [r"P = \mathrm{softmax}(S)", "S = Q / d"]),
    "a softmax of each row": ([r"P = \mathrm{softmax}(S) \quad \text{(row-wise)}"],
                              [r"P = \mathrm{softmax}_{\text{rows}}(S)"]),
    "layers": (["z^l_j = w^l_{jk} a^{l-1}_k", "a^l_j = s(z^l_j)"],
               ["z^{(l)}_j = w^{(l)}_{jk} a^{(l-1)}_k", "a^{(l)}_j = s(z^{(l)}_j)"]),
    "numbered layers": (["z^1 = W^1 x", "y = W^2 z^1"], ["z^{(1)} = W^{(1)} x", "y = W^{(2)} z^{(1)}"]),
    "powers": (["y = x^2 + z^3"], ["y = x^2 + z^3"]),
    "a likelihood": ([r"\log L(w) = a", r"g = 2 \log L(w)"], [r"\ell = a", r"g = 2 \ell"]),
    "a posterior": ([r"p(y = 1 \mid x) = s(a)"], ["p = s(a)"]),
    "a posterior with a letter": ([r"p(y = 1 \mid x) = q = s(a)"], ["q = s(a)"]),
    "one of two probabilities": ([r"p(y = 1 \mid x) = s(a)", r"L = -\log p(y = 0 \mid x)"],
                                 ["p = s(a)", r"L = -\log p(y = 0 \mid x)"]),
}


@pytest.mark.parametrize("title", CASES)
def test_rewritten(title: str) -> None:
    written, expected = CASES[title]
    found = rewritten((Formula(latex, 1, 0, True) for latex in written), (*LETTERS, *RULES))
    known = with_trees(Formula(latex, 1, 0, True) for latex in expected)
    assert [spelt(f.tree or ()) for f in found] == [spelt(f.tree or ()) for f in known]


def test_each_rule_has_a_name_of_its_own() -> None:
    names = [rule.name for rule in (*LETTERS, *RULES)]
    assert len({*names}) == len(names)
