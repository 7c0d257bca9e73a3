"""Gold: tasks with a known label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crowd_tvcs.answers.names import check_labels, check_names, encode, sort_classes
from crowd_tvcs.arrays import Integers
from tvcs_core.arguments import check_type
from tvcs_core.files.display import joined, plural, quoted

UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Gold:
    """Tasks with a known label.

    Attributes
    ----------
    labels
        Label of each gold task, both by their names.
    classes
        Names of the possible labels; by default those of the labels, sorted.
    layout
        How the file was interpreted, for people; empty without a file.
    seen_once
        Line of every label that a file gives to one task only, if the classes were not named: it
        may be a typo (see `crowd_tvcs.answers.label_typos`).

    Raises
    ------
    ValueError, TypeError
        If a name is empty or a label is not a class.
    """

    labels: Mapping[str, str]
    classes: tuple[str, ...]
    layout: str
    seen_once: Mapping[str, int]

    def __init__(
        self,
        labels: Mapping[str, str],
        classes: Sequence[str] | None = None,
        layout: str = "",
        seen_once: Mapping[str, int] | None = None,
    ) -> None:
        check_type("labels", labels, Mapping)
        own = dict(labels)
        check_names("gold tasks", tuple(own))
        for task, label in own.items():
            if not isinstance(label, str) or not label:
                raise TypeError(
                    f"the label of gold task {task!r} must be a name, found {label!r}; leave out "
                    "tasks whose label is missing"
                )
        if classes is None:
            check_labels("labels of gold", list(own.values()))
        names = check_names("classes", sort_classes(own.values()) if classes is None else classes)
        encode("label", list(dict.fromkeys(own.values())), names)
        check_type("seen_once", seen_once, Mapping, or_none=True)
        vars(self).update(labels=own, classes=names, layout=layout, seen_once=dict(seen_once or {}))

    def __repr__(self) -> str:
        return (
            f"Gold({plural(len(self.labels), 'task')}, "
            f"{plural(len(self.classes), 'class', 'classes')})"
        )

    def __len__(self) -> int:
        return len(self.labels)

    def codes(self, tasks: Sequence[str], classes: Sequence[str]) -> Integers:
        """Return the class index of each of `tasks`; `UNKNOWN` without a known label.

        Raises
        ------
        ValueError
            If a label of one of the tasks is not among the classes.
        """
        code_of = {name: k for k, name in enumerate(classes)}
        out = np.full(len(tasks), UNKNOWN, dtype=np.int64)
        for j, task in enumerate(tasks):
            if task in self.labels:
                label = self.labels[task]
                if label not in code_of:
                    raise ValueError(
                        f"the gold label of task {task!r} is {label!r}, which is none of the "
                        f"classes {joined(classes, quoted)}"
                    )
                out[j] = code_of[label]
        return out
