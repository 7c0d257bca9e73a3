"""A plan in the real Label Studio: people see their tasks and no others; their answers come back.

How it is run: see `tests.crowd.real_studio`.
"""

import json

from crowd_tvcs.exchange import export, import_answers, read_tasks
from tests.crowd import tools
from tests.crowd.real_studio import MARKS, TOKEN
from tvcs_core.files.spreadsheet import shield

pytestmark = MARKS
CONFIG = (
    '<View><Text name="text" value="$text"/><Choices name="label" toName="text">'
    '<Choice value="yes"/><Choice value="no"/></Choices></View>'
)
WORKERS = [f"w{i}@example.com" for i in range(3)]
TASKS = ["007", "NA", "=SUM(1)", "två", "5"]
PAIRS = [(w, t) for i, w in enumerate(WORKERS) for j, t in enumerate(TASKS) if (i + 2 * j) % 4 < 2]


def answer(task, worker):
    return "yes" if (TASKS.index(task) + WORKERS.index(worker)) % 2 else "no"


def open_view(server, project, worker):
    """A tab of the data manager that shows one worker's tasks."""
    only_his = {
        "filter": "filter:tasks:data.assigned",
        "operator": "contains",
        "type": "String",
        "value": f"|{worker}|",
    }
    data = {"title": worker, "filters": {"conjunction": "and", "items": [only_his]}}
    body = {"project": project, "data": data}
    return server.call("POST", "/api/dm/views/", TOKEN, body)["id"], data["filters"]


def work_through(server, project, worker, token, view, filters):
    """Answer what the view gives until it gives nothing; the names of the tasks."""
    seen = []
    while True:
        path = f"/api/dm/actions/?id=next_task&project={project}&tabID={view}"
        body = {"filters": filters, "selectedItems": {"all": True, "excluded": []}}
        given = server.call("POST", path, token, body)
        if given is None:
            return seen
        name = given["data"]["task"]
        seen.append(name)
        assert len(seen) <= len(TASKS)
        result = [tools.choice(answer(name, worker))]
        body = {"result": result, "lead_time": 1.0}
        server.call("POST", f"/api/tasks/{given['id']}/annotations/", token, body)


def test_everybody_gets_his_tasks_and_the_answers_come_back(real_studio, tmp_path):
    shown = [{"task": shield(task), "text": f"is {task}?"} for task in TASKS]
    tools.write(tmp_path / "t.csv", shown)
    export(PAIRS, "label-studio", tmp_path / "tasks.json", tasks=read_tasks(tmp_path / "t.csv"))
    settings = {"title": "a plan", "label_config": CONFIG, "maximum_annotations": len(WORKERS)}
    project = real_studio.call("POST", "/api/projects/", TOKEN, settings)["id"]
    tasks = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    assert (
        real_studio.call("POST", f"/api/projects/{project}/import", TOKEN, tasks)["task_count"] == 5
    )
    for worker in WORKERS:
        token = real_studio.sign_up(worker)
        seen = work_through(
            real_studio, project, worker, token, *open_view(real_studio, project, worker)
        )
        assert sorted(seen) == sorted(task for name, task in PAIRS if name == worker)
    expected = sorted((task, worker, answer(task, worker)) for worker, task in PAIRS)
    for kind in ("JSON", "JSON_MIN"):
        path = f"/api/projects/{project}/export?exportType={kind}"
        found = real_studio.call("GET", path, TOKEN)
        (tmp_path / kind).write_text(json.dumps(found), encoding="utf-8")
    users = real_studio.call("GET", "/api/users/", TOKEN)
    accounts = {str(user["id"]): user["email"] for user in users}
    for kind, question in (("JSON", None), ("JSON_MIN", "label")):
        back = import_answers(tmp_path / kind, "label-studio", question=question, accounts=accounts)
        assert back.rows == tuple(expected)
