"""The path under which docs know `crowd_tvcs.accuracy.many_classes`."""
