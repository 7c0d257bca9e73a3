"""The path under which docs have named `crowd_tvcs.accuracy.many_classes`."""

from crowd_tvcs.accuracy.many_classes import accuracy_of_classes

__all__ = ["accuracy_of_classes"]
