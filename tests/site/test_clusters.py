"""docs/how-to/clusters.md: its shell parses, its manifests are whole, its options exist."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from grn_tvcs.cli.main import app

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "clusters.md").read_text("utf-8")
SCRIPTS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
MANIFEST = ROOT / "packaging" / "kubernetes" / "tvcs.yaml"
PARTS = list(yaml.safe_load_all(MANIFEST.read_text("utf-8")))
DOCKERFILE = (ROOT / "packaging" / "Dockerfile").read_text("utf-8")


def pods():
    """The specification of every pod, by the name of what makes it."""
    for part in PARTS:
        if part["kind"] in ("Deployment", "Pod"):
            template = part["spec"]["template"] if part["kind"] == "Deployment" else part
            yield part["metadata"]["name"], template["metadata"]["labels"], template["spec"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("script", SCRIPTS, ids=range(len(SCRIPTS)))
def test_the_shell_of_the_page_parses(script):
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_options_of_the_page_exist():
    result = CliRunner().invoke(
        app, ["infer", "--help-all"], env={"COLUMNS": "200", "NO_COLOR": "1"}
    )
    used = {"--out", "--resume", "--cluster", "--trust-network", "--threads", "--workers"}
    assert {name for name in used if name not in PAGE or name not in result.output} == set()


def test_every_container_has_limits_and_no_rights():
    assert [name for name, _, _ in pods()] == ["tvcs-scheduler", "tvcs-worker", "tvcs"]
    for _, labels, spec in pods():
        (container,) = spec["containers"]
        assert set(container["resources"]) == {"requests", "limits"}
        assert "memory" in container["resources"]["limits"]
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert f"ARG UID={spec['securityContext']['runAsUser']}" in DOCKERFILE
        assert labels["app"] == "tvcs"


def test_only_pods_of_the_cluster_reach_each_other():
    (policy,) = [part["spec"] for part in PARTS if part["kind"] == "NetworkPolicy"]
    ours = {"matchLabels": {"app": "tvcs"}}
    assert policy["podSelector"] == ours
    assert policy["ingress"] == [{"from": [{"podSelector": ours}]}]


def test_a_container_has_more_memory_than_its_worker_may_take():
    (spec,) = [spec for name, _, spec in pods() if name == "tvcs-worker"]
    (worker,) = spec["containers"]
    words = worker["command"]
    taken = int(words[words.index("--memory-limit") + 1].removesuffix("GB")) * 10**9
    assert int(worker["resources"]["limits"]["memory"].removesuffix("Gi")) * 2**30 > taken


def test_the_image_has_the_extra_and_the_settings_of_the_page():
    assert re.search(r"\[[\w,]*\bcluster\b[\w,]*\]", DOCKERFILE)
    (settings,) = re.findall(r"^export (DASK\S+ DASK\S+)$", PAGE, re.MULTILINE)
    assert f"FROM installed AS cluster\nENV {settings}\n" in DOCKERFILE


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")
def test_kubectl_reads_the_manifests(tmp_path):
    shutil.copy(MANIFEST, tmp_path)
    (tmp_path / "kustomization.yaml").write_text(f"resources: [{MANIFEST.name}]\n", "utf-8")
    built = subprocess.run(["kubectl", "kustomize", tmp_path], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    kinds = sorted(part["kind"] for part in yaml.safe_load_all(built.stdout))
    assert kinds == sorted(part["kind"] for part in PARTS)


def test_the_image_of_every_container_is_named_by_the_command_of_the_page():
    (found, wanted) = re.search(r"sed 's\|(.+?)\|(.+?)\|' packaging", PAGE).groups()
    text = MANIFEST.read_text("utf-8")
    assert len(re.findall(found, text, re.MULTILINE)) == len(list(pods()))
    assert f"-t {wanted.removeprefix('image: ')} ." in PAGE
