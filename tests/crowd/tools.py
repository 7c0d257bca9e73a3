"""What annotation tools make of our files: their documented exports, written from an import file.

`answer(task, worker)` gives the label. Every function reads what `crowd_tvcs.exchange.export` wrote
and writes what the tool would export once everybody has answered what they were given.
"""

import csv
import json

from tests.makers.tables import rows_of
from tvcs_core.files.spreadsheet import shield, unshield


def label_studio(source, target, answer, **more):
    """Export JSON: `completed_by` is an address here; `more` goes into every annotation."""
    tasks = json.loads(source.read_text(encoding="utf-8"))
    out = []
    for k, task in enumerate(tasks, start=1):
        workers = task["data"]["assigned"].strip("|").split("|")
        annotations = [
            {
                "id": 100 * k + i,
                "completed_by": {"id": i, "email": worker, "first_name": "", "last_name": ""},
                "result": [choice(answer(task["data"]["task"], worker))],
                "was_cancelled": False,
                "ground_truth": False,
                **more,
            }
            for i, worker in enumerate(workers)
        ]
        out.append({"id": k, "data": task["data"], "annotations": annotations, "predictions": []})
    target.write_text(json.dumps(out, ensure_ascii=False), encoding="utf-8")


def choice(label, name="label"):
    return {
        "id": "Dx_aB91ISN",
        "from_name": name,
        "to_name": "text",
        "type": "choices",
        "value": {"choices": [label]},
        "origin": "manual",
    }


def label_studio_min(source, target, answer):
    """Export JSON-MIN: one flat record per annotation, the choice under the name of its tag."""
    out = []
    for k, task in enumerate(json.loads(source.read_text(encoding="utf-8")), start=1):
        for i, worker in enumerate(task["data"]["assigned"].strip("|").split("|")):
            label = answer(task["data"]["task"], worker)
            more = {"id": k, "label": label, "annotator": worker, "annotation_id": 10 * k + i}
            out.append({**task["data"], **more, "lead_time": 1.2})
    target.write_text(json.dumps(out), encoding="utf-8")


def argilla(source, target, answer):
    """Records as `to_json` writes them, without a status."""
    records = json.loads(source.read_text(encoding="utf-8"))
    for record in records:
        record["responses"] = {
            "label": [
                {"value": answer(record["id"], worker), "user_id": worker}
                for worker in record["metadata"]["assigned"]
            ]
        }
        record["_server_id"] = "0b3f"
    target.write_text(json.dumps(records), encoding="utf-8")


def argilla_flat(source, target, answer):
    """Records as `to_list(flatten=True)` gives them."""
    out = []
    for record in json.loads(source.read_text(encoding="utf-8")):
        workers = record["metadata"]["assigned"]
        out.append(
            {
                "id": record["id"],
                **record["fields"],
                "assigned": workers,
                "label.responses": [answer(record["id"], worker) for worker in workers],
                "label.responses.users": workers,
                "label.responses.status": ["submitted"] * len(workers),
                "label.suggestion": None,
            }
        )
    target.write_text(json.dumps(out), encoding="utf-8")


def argilla_first(source, target, answer):
    """Records of version 1: responses by user, values by question."""
    records = json.loads(source.read_text(encoding="utf-8"))
    for record in records:
        record["responses"] = [
            {
                "user_id": worker,
                "status": "submitted",
                "values": {"label": {"value": answer(record["id"], worker)}},
            }
            for worker in record["metadata"]["assigned"]
        ]
    target.write_text(json.dumps(records), encoding="utf-8")


def prodigy(source, target, answer):
    """`prodigy db-out`: a line per answer, the session's name after that of the data set."""
    lines = []
    for text in source.read_text(encoding="utf-8").splitlines():
        task = json.loads(text)
        for worker in task["assigned"]:
            found = {
                "_input_hash": 1,
                "_view_id": "choice",
                "accept": [answer(task["task"], worker)],
                "answer": "accept",
                "_timestamp": 1707211049,
                "_annotator_id": f"my-set-{worker}",
                "_session_id": f"my-set-{worker}",
            }
            lines.append(json.dumps({**task, **found}))
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")


def mturk(source, target, answer):
    """Results of a batch: a row per assignment, inputs and answers in columns of their own."""
    rows = []
    for task in rows_of(source):
        for worker in task["assigned"].strip("|").split("|"):
            rows.append(
                {
                    "HITId": "3X",
                    "AssignmentId": "3Y",
                    "WorkerId": shield(worker),
                    "AssignmentStatus": "Approved",
                    "WorkTimeInSeconds": "7",
                    **{f"Input.{name}": cell for name, cell in task.items()},
                    "Answer.label": shield(answer(unshield(task["task"]), worker)),
                    "Approve": "",
                    "Reject": "",
                }
            )
    write(target, rows)


def prolific(source, target, answer):
    """A survey's table, joined with the status of the submissions."""
    rows = [
        {
            "PROLIFIC_PID": row["PROLIFIC_PID"],
            "task": row["task"],
            "label": shield(answer(unshield(row["task"]), unshield(row["PROLIFIC_PID"]))),
            "Status": "APPROVED",
        }
        for row in rows_of(source)
    ]
    write(target, rows)


def write(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


TOOLS = {  # exporter, format, question
    "label-studio": (label_studio, "label-studio", None),
    "label-studio, JSON-MIN": (label_studio_min, "label-studio", "label"),
    "argilla": (argilla, "argilla", None),
    "argilla, flat": (argilla_flat, "argilla", None),
    "argilla, version 1": (argilla_first, "argilla", None),
    "prodigy": (prodigy, "prodigy", None),
    "mturk": (mturk, "mturk", None),
    "prolific": (prolific, "prolific", None),
}
