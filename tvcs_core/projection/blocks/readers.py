"""Readers of the blocks of V, wherever they are; a lost reader is replaced and asked again."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from tvcs_core.arguments import describe_value
from tvcs_core.engines import in_threads
from tvcs_core.files.errors import DataError
from tvcs_core.projection.blocks.block import Block, BlockFacts


class Question(Protocol):
    """A question to a block; it can be pickled, and so can its answer."""

    def answer(self, block: Block) -> Any:
        """Return the answer, computed from the block alone."""


class Answer(NamedTuple):
    """The answer of a block, with its facts before and after reading."""

    before: BlockFacts
    after: BlockFacts
    content: Any


class BlockReader(Protocol):
    """An object that can read a block."""

    def ask(self, question: Question) -> Answer:
        """Return the answer of `answer_block` for this block."""


@dataclass(frozen=True)
class FactsOnly:
    """The question for the facts that come with every answer."""

    def answer(self, block: Block) -> None:
        """Return nothing and read nothing."""


def answer_block(source: Any, question: Any, name: str | None = None) -> Answer:
    """Answer one question of `project_blocks`, in a process that can read the block.

    No state is kept between questions, so any process that can read the block can answer the next.

    Parameters
    ----------
    source
        Path of a `.npy` file that holds a matrix of real numbers, or such an array.
    question
        The question that `project_blocks` passed to a reader.
    name
        Name of the block in error messages; by default its path.

    Raises
    ------
    DataError
        If the block cannot be read, does not hold finite real numbers, or changed during reading.
    TypeError
        If source or question has the wrong type.
    """
    if isinstance(question, type) or not _can(question, "answer"):
        raise TypeError(f"question must be one of project_blocks, found {describe_value(question)}")
    block = Block(source, name)
    before = block.facts
    content = question.answer(block)
    return Answer(before, block.facts, content)


@dataclass(frozen=True)
class LocalBlockReader:
    """A reader in this process."""

    source: Any
    name: str

    def ask(self, question: Question) -> Answer:
        """Read the block and answer."""
        return answer_block(self.source, question, self.name)


class BlockReaders:
    """The readers of all blocks of a V.

    Attributes
    ----------
    facts, names, first
        Facts, name in messages, and first row of each block.
    shape
        Shape of V.
    sent
        Total bytes of all answers.
    questions
        Number of questions to each block.
    replaced
        Number of readers that were lost and replaced.
    """

    def __init__(self, blocks: Any, threads: int, retries: int) -> None:
        self.threads, self.retries = threads, retries
        self.sent = self.questions = self.replaced = 0
        sources = sources_of(blocks)
        self.names = [_name(i, source) for i, source in enumerate(sources)]
        self._open = [_opener(*x) for x in zip(self.names, sources, strict=True)]
        self._readers: list[BlockReader | None] = [None] * len(sources)
        self.facts: list[BlockFacts | None] = [None] * len(sources)
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
        """Return the rows of V in a block."""
        return slice(int(self.first[block]), int(self.first[block + 1]))

    def ask(self, question: Callable[[int], Question]) -> list[Any]:
        """Ask every block the question made for its number; return the answers in order."""
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
        """Return the answer of a block, and how many readers were lost over it."""
        for lost in range(self.retries + 1):
            try:
                reader = self._readers[i] = self._readers[i] or self._open[i]()
                if not _can(reader, "ask"):
                    raise TypeError(
                        f"{self.names[i]} must open a reader, found {describe_value(reader)}"
                    )
                answer = reader.ask(question)
                break
            except (DataError, ValueError, TypeError, MemoryError):
                raise  # an error of the block or the question would recur with another reader
            except Exception as error:
                self._readers[i] = None
                if lost == self.retries:
                    raise RuntimeError(
                        f"{self.names[i]}: {lost + 1} readers in turn were lost, the last one with "
                        f"{type(error).__name__}: {error}"
                    ) from error
        if not isinstance(answer, Answer):
            raise TypeError(
                f"{self.names[i]} must answer as answer_block does, found {describe_value(answer)}"
            )
        known = self.facts[i] or answer.before
        if not known == answer.before == answer.after:
            raise DataError(
                "changed during the run; its rows must stay as they are", path=self.names[i]
            )
        self.facts[i] = known
        return answer.content, lost


def sources_of(blocks: Any) -> list[Any]:
    """Return the blocks; those of a folder are its `.npy` files in the order of their names.

    Raises
    ------
    DataError
        If the folder is missing or holds no such file.
    ValueError, TypeError
        If there are no blocks, or one has the wrong type.
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
                f"block {i} must be a .npy file, an array or a function that opens a reader, "
                f"found {type(source).__name__}"
            )
    return list(blocks)


def _can(one: object, name: str) -> bool:
    return callable(getattr(one, name, None))


def _in_order(path: Path) -> tuple[list[Any], str]:
    """Return a sort key that orders the numbers in file names by value, so that 10 follows 9."""
    parts = re.split(r"(\d+)", path.name)
    return [int(x) if i % 2 else x for i, x in enumerate(parts)], path.name


def _name(i: int, source: Any) -> str:
    return str(source) if isinstance(source, str | os.PathLike) else f"block {i}"


def _opener(name: str, source: Any) -> Callable[[], BlockReader]:
    return source if callable(source) else lambda: LocalBlockReader(source, name)


def _size(content: Any) -> int:
    """Return the bytes of all numbers in an answer."""
    if isinstance(content, np.ndarray):
        return int(content.nbytes)
    if isinstance(content, tuple):
        return sum(map(_size, content))
    return 0 if content is None else 8
