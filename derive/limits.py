"""How much a card may ask for, the same on every machine: beyond it one line says what is too much.

Processor time and memory are limited by the command line alone, for a process that it can end (:mod:`derive.pool`).
"""

from __future__ import annotations

MOST_BYTES = 1_000_000  # of a card
MOST_IN_A_HEADER = 20_000  # characters of front matter
MOST_DEPTH = 20  # lists in lists
MOST_CHARACTERS = 10_000  # of a question, of a statement; ten times as many as those of any bank have
MOST_FORMULAS = 200
MOST_IN_A_SOLUTION = 60_000  # characters; four times as many as our longest sheet has
MOST_CHECKED = 400  # formulas of a solution
MOST_FIXED = 12  # a size of a special case, «for K = 10», at which all is calculated
MOST_BLANKS = 200  # in a row
MOST_IN_A_SENTENCE = 2_000  # characters of a question, a formula one of them
MOST_NAMED = 60  # layers that a question names in words
MOST_ASKED = 100  # lists of letters by which a question asks for derivatives
MOST_IN_A_FORMULA = 4_000  # characters
MOST_IN_A_WINDOW = 256  # entries
MOST_COMPARED = 128  # entries of a window whose maximum is taken: each is compared with each
MOST_ENTRIES = 100_000  # of a tensor
MOST_IN_AN_ARRAY = 200_000_000  # entries of a Jacobian as an array
MOST_TERMS = 10_000  # of a sum or product whose limits are numbers, with those that it stands in
MOST_DEFINED = 16  # tensors, each by a formula of its own, that a derivative leads through; the work is cubic
MOST_NESTED = 10  # maxima and cases within one another
MOST_DIGITS = 40  # of a number in a formula: those of its derivative are more
MOST_SIGNS = 5_000  # of a derivative before it is simplified; those of the cards have two hundred
