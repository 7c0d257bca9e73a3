"""The blocks of a V, wherever they are: asked one question each, and asked again if one is lost."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from tvcs_core.arguments import found
from tvcs_core.engines import in_threads
from tvcs_core.files.errors import DataError
from tvcs_core.projection.blocks.block import Block, Facts


class Question(Protocol):
    """What a block can be asked; it pickles, and so does the answer."""

    def answer(self, block: Block) -> Any:
        """Answer from the block alone."""


class Answer(NamedTuple):
    """What a block says, and how it stood before and after it was read."""

    before: Facts
    after: Facts
    content: Any


class Holder(Protocol):
    """Whoever can read a block."""

    def ask(self, question: Question) -> Answer:
        """Return what `answer_block` does where the block is."""


@dataclass(frozen=True)
class FactsOnly:
    """Nothing but what comes with every answer."""

    def answer(self, block: Block) -> None:
        """Read nothing."""


def answer_block(source: Any, question: Any, name: str | None = None) -> Answer:
    """Answer one question of `project_blocks` about a block, where the block is.

    Nothing is kept between two questions, so any process that can read the block can answer the
    next one.

    Parameters
    ----------
    source
        Path of a `.npy` file that holds a matrix of real numbers, or such an array.
    question
        What `project_blocks` asked a holder.
    name
        What errors call the block; by default its path.

    Raises
    ------
    DataError
        If the block cannot be read, holds anything but finite real numbers, or changed meanwhile.
    TypeError
        If the source or the question is of another kind.
    """
    if isinstance(question, type) or not _can(question, "answer"):
        raise TypeError(f"question must be one of project_blocks, found {found(question)}")
    block = Block(source, name)
    before = block.facts
    content = question.answer(block)
    return Answer(before, block.facts, content)


@dataclass(frozen=True)
class Here:
    """A block that this process reads itself."""

    source: Any
    name: str

    def ask(self, question: Question) -> Answer:
        """Read it."""
        return answer_block(self.source, question, self.name)


class Crew:
    """All blocks of a V.

    Attributes
    ----------
    facts, names, first
        What each block is, what errors call it, and its first row.
    shape
        Of V.
    sent
        Bytes of all answers.
    questions
        How many questions each block was asked.
    replaced
        How many holders were lost and replaced.
    """

    def __init__(self, blocks: Any, threads: int, retries: int) -> None:
        self.threads, self.retries = threads, retries
        self.sent = self.questions = self.replaced = 0
        sources = sources_of(blocks)
        self.names = [_name(i, source) for i, source in enumerate(sources)]
        self._open = [_opener(*x) for x in zip(self.names, sources, strict=True)]
        self._holders: list[Holder | None] = [None] * len(sources)
        self.facts: list[Facts | None] = [None] * len(sources)
        self.ask(lambda _: FactsOnly())
        shapes = [facts.shape for facts in self.facts if facts is not None]
        for name, shape in zip(self.names, shapes, strict=True):
            if shape[1] != shapes[0][1]:
                raise DataError(
                    f"must have {shapes[0][1]} columns like {self.names[0]}, found {shape[1]}",
                    path=name,
                )
        self.first = np.cumsum([0, *(shape[0] for shape in shapes)])
        self.shape = (int(self.first[-1]), shapes[0][1])
        self.size = sum(
            np.dtype(f.dtype).itemsize * f.shape[0] * f.shape[1] for f in self.facts if f
        )

    def __len__(self) -> int:
        return len(self.names)

    def rows(self, block: int) -> slice:
        """The rows of V that a block holds."""
        return slice(int(self.first[block]), int(self.first[block + 1]))

    def ask(self, question: Callable[[int], Question]) -> list[Any]:
        """Ask every block the question made for its number; the answers in the blocks' order."""
        self.questions += 1
        everyone = range(len(self))
        if self.threads == 1:
            answers = [self._ask_one(i, question(i)) for i in everyone]
        else:
            answers = in_threads(lambda i: self._ask_one(i, question(i)), everyone, self.threads)
        self.replaced += sum(lost for _, lost in answers)
        contents = [content for content, _ in answers]
        self.sent += _size(tuple(contents))
        return contents

    def _ask_one(self, i: int, question: Question) -> tuple[Any, int]:
        """The answer, and how many holders were lost over it."""
        for lost in range(self.retries + 1):
            try:
                holder = self._holders[i] = self._holders[i] or self._open[i]()
                if not _can(holder, "ask"):
                    raise TypeError(
                        f"{self.names[i]} must open a holder that can ask, found {found(holder)}"
                    )
                answer = holder.ask(question)
                break
            except (DataError, ValueError, TypeError, MemoryError):
                raise  # what is wrong with the block or the question is so for every holder
            except Exception as error:
                self._holders[i] = None
                if lost == self.retries:
                    raise RuntimeError(
                        f"{self.names[i]}: {lost + 1} holders in turn were lost, the last one with "
                        f"{type(error).__name__}: {error}"
                    ) from error
        if not isinstance(answer, Answer):
            raise TypeError(
                f"{self.names[i]} must answer as answer_block does, found {found(answer)}"
            )
        known = self.facts[i] or answer.before
        if not known == answer.before == answer.after:
            raise DataError(
                "changed during the run; its rows must stay as they are", path=self.names[i]
            )
        self.facts[i] = known
        return answer.content, lost


def sources_of(blocks: Any) -> list[Any]:
    """The blocks one by one: of a folder its `.npy` files in the order of their names.

    Raises
    ------
    DataError
        If the folder does not exist or holds none.
    ValueError, TypeError
        If there are no blocks, or one is none.
    """
    if isinstance(blocks, str | os.PathLike):
        folder = Path(blocks)
        if not folder.is_dir():
            raise DataError("must be a folder of .npy files", path=folder)
        files = sorted(folder.glob("*.npy"), key=_in_order)
        if not files:
            raise DataError(
                "must hold .npy files, one for each block of rows, found none", path=folder
            )
        return list(files)
    if isinstance(blocks, np.ndarray) or not isinstance(blocks, Sequence):
        raise TypeError(
            f"blocks must be a folder or a list of blocks of rows, found {type(blocks).__name__}"
        )
    if not blocks:
        raise ValueError("blocks must hold at least one block, found none")
    for i, source in enumerate(blocks):
        if not (isinstance(source, str | os.PathLike | np.ndarray) or callable(source)):
            raise TypeError(
                f"block {i} must be a .npy file, an array or a function that opens a holder, "
                f"found {type(source).__name__}"
            )
    return list(blocks)


def _can(one: object, name: str) -> bool:
    return callable(getattr(one, name, None))


def _in_order(path: Path) -> tuple[list[Any], str]:
    """Names as one reads them: the numbers in them count as numbers, so 10 comes after 9."""
    parts = re.split(r"(\d+)", path.name)
    return [int(x) if i % 2 else x for i, x in enumerate(parts)], path.name


def _name(i: int, source: Any) -> str:
    return str(source) if isinstance(source, str | os.PathLike) else f"block {i}"


def _opener(name: str, source: Any) -> Callable[[], Holder]:
    return source if callable(source) else lambda: Here(source, name)


def _size(content: Any) -> int:
    """Bytes of the numbers in an answer."""
    if isinstance(content, np.ndarray):
        return int(content.nbytes)
    if isinstance(content, tuple):
        return sum(map(_size, content))
    return 0 if content is None else 8
