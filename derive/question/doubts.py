"""What leaves a question open and does not hide the rest of it: gathered, and told together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from derive.errors import CardError, DeriveError, OpenError, Problem, UnsupportedError
from derive.module import Module

_QUOTED = re.compile(r"“[^”]*”|`[^`]*`")


class Doubts:
    """The refusals of a question, in their order."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    @contextmanager
    def over(self, key: str) -> Iterator[None]:
        """Keep what is refused within; the front matter's ``key`` settles it."""
        try:
            yield
        except CardError as error:
            self.problems += [p if p.key else replace(p, key=key) for p in error.problems]

    def settled(self, module: Module) -> Module:
        """The module; raises :class:`OpenError` with it where something is open."""
        if self.problems:
            raise OpenError(*self.told(), found=module)
        return module

    def with_error(self, error: DeriveError) -> DeriveError:
        """The error that ended the reading, behind all that was open before.

        What is not covered stays so, but that nothing is asked for is no news where a request is open.
        """
        asked = any(p.key == "derive" for p in self.problems)
        if not self.problems or isinstance(error, OpenError) or (isinstance(error, UnsupportedError) and not asked):
            return error
        if isinstance(error, UnsupportedError):
            return OpenError(*self.told())
        self.problems += error.problems
        return OpenError(*self.told())

    def told(self) -> Iterator[Problem]:
        """Each problem once, and one about the same words."""
        seen: set[object] = set()
        for problem in self.problems:
            quoted = _QUOTED.search(problem.message)
            about = (problem.line, quoted[0].strip("“”`")) if quoted else problem
            if about not in seen:
                seen.add(about)
                yield problem
