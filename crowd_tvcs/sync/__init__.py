"""Synchronise labelling tools with a campaign while people label in them.

A `LabellingTool` is one project of one tool (`label_studio`, `argilla`), with its tasks and
annotations. A `Sync` (`loop`) imports the answers into the store and shows the next tasks to
everyone. Files of these tools belong to `exchange`, the choice of tasks to `campaign`.
"""
