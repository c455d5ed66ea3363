"""What ships for containers: it parses, and agrees with the settings, the ports and the routes of the server."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from assistant.api.access import OPEN, read_keys
from assistant.api.app import create_app

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
SETTINGS = (ROOT / "assistant" / "settings.py").read_text(encoding="utf-8")


def documents() -> Iterator[dict[str, Any]]:
    for path in MANIFESTS:
        yield from yaml.safe_load_all(path.read_text(encoding="utf-8"))


def of_kind(kind: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in documents() if one["kind"] == kind}


def pods() -> dict[str, dict[str, Any]]:
    owners = {**of_kind("Deployment"), **of_kind("StatefulSet")}
    return {name: one["spec"]["template"]["spec"] for name, one in owners.items()}


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return found


def environment_names() -> set[str]:
    names = set(compose()["services"]["api"]["environment"]) | set(of_kind("ConfigMap")["metric-assistant"]["data"])
    names |= {one["name"] for one in pods()["api"]["containers"][0]["env"]}
    names |= set(re.findall(r"\b(ASSISTANT_\w+)=", (DEPLOY / "Dockerfile").read_text(encoding="utf-8")))
    return names


def test_deploy_every_variable_is_a_setting() -> None:
    names = environment_names() - {"HOME"}
    assert {"ASSISTANT_API_KEYS", "ASSISTANT_DATABASE_URL", "ASSISTANT_CHROMA_URL"} <= names
    package = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "assistant").rglob("*.py"))
    assert {name for name in names if f'"{name}"' not in package and f"``{name}``" not in SETTINGS} == set()


def test_dockerfile_starts_the_server_on_the_port_it_exposes_as_nobody_special() -> None:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    (port,) = re.findall(r"^EXPOSE (\d+)$", text, re.M)
    assert f'CMD ["serve", "--host", "0.0.0.0", "--port", "{port}"]' in text
    assert f"127.0.0.1:{port}/healthz" in text
    assert re.search(r"^USER 10001", text, re.M)
    assert text.rindex("\nUSER ") < text.rindex("\nENTRYPOINT ")


def test_dockerfile_copies_only_what_is_there_and_not_ignored() -> None:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    kept = {
        line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")
    }
    copied = {word for line in re.findall(r"^COPY (?!--from)(.+)$", text, re.M) for word in line.split()[:-1]}
    assert copied <= kept
    assert all((ROOT / name).exists() for name in kept)
    package = set(
        re.findall(r"only-include = \[(.+)\]", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))[0]
        .replace('"', "")
        .split(", ")
    )
    assert package <= copied


def test_compose_services_find_each_other() -> None:
    services = compose()["services"]
    api = services["api"]
    assert api["deploy"]["replicas"] >= 2
    for name in ("DATABASE_URL", "CHROMA_URL", "LLM_BASE_URL"):
        host = re.search(
            r"(?:@|//)(\w+):\d+", api["environment"][f"ASSISTANT_{name}"].replace("${ASSISTANT_LLM_BASE_URL:-", "")
        )
        assert host, name
        assert host[1] in services
        assert set(api["networks"]) & set(services[host[1]]["networks"])
    assert all(port.startswith("127.0.0.1:") for port in services["proxy"]["ports"])
    assert [name for name, one in services.items() if "ports" in one] == ["proxy"]
    limit = re.search(r"client_max_body_size (\d+)m", compose()["configs"]["proxy"]["content"])
    assert limit
    assert int(limit[1]) == 64
    assert "proxy_buffering off" in compose()["configs"]["proxy"]["content"]


def test_compose_needs_keys_and_a_password_to_start() -> None:
    api = compose()["services"]["api"]["environment"]
    assert "${ASSISTANT_API_KEYS:?" in api["ASSISTANT_API_KEYS"]
    assert "${POSTGRES_PASSWORD:?" in api["ASSISTANT_DATABASE_URL"]
    assert "POSTGRES_HOST_AUTH_METHOD" not in compose()["services"]["database"]["environment"]


def test_manifests_services_select_pods_that_listen_there() -> None:
    labels = {
        one["spec"]["template"]["metadata"]["labels"]["app"]: one["spec"]["template"]["spec"]
        for one in documents() if one["kind"] in {"Deployment", "StatefulSet"}
    }  # fmt: skip
    for service in of_kind("Service").values():
        pod = labels[service["spec"]["selector"]["app"]]
        open_ports = [port for container in pod["containers"] for port in container["ports"]]
        for port in service["spec"]["ports"]:
            wanted = port.get("targetPort", port["port"])
            assert any(wanted in {one["name"], one["containerPort"]} for one in open_ports), service["metadata"]["name"]


def test_manifests_addresses_are_services() -> None:
    services = of_kind("Service")
    config = of_kind("ConfigMap")["metric-assistant"]["data"]
    secret = of_kind("Secret")["metric-assistant"]["stringData"]
    for url in (config["ASSISTANT_CHROMA_URL"], config["ASSISTANT_LLM_BASE_URL"], secret["ASSISTANT_DATABASE_URL"]):
        found = re.search(r"(?:@|//)(\w+):(\d+)", url)
        assert found
        assert int(found[2]) in [port["port"] for port in services[found[1]]["spec"]["ports"]]


def test_manifests_secrets_that_are_named_exist_in_the_example_and_it_holds_none() -> None:
    secret = of_kind("Secret")["metric-assistant"]["stringData"]
    wanted = {
        one["valueFrom"]["secretKeyRef"]["key"]
        for pod in pods().values() for container in pod["containers"]
        for one in container.get("env", ()) if "valueFrom" in one
    }  # fmt: skip
    assert wanted == set(secret)
    (key,) = read_keys(secret["ASSISTANT_API_KEYS"])
    assert set(key.digest) == {"0"}
    listed = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text(encoding="utf-8"))["resources"]
    assert set(listed) == {path.name for path in MANIFESTS} - {"kustomization.yaml", "secret.example.yaml"}


def test_manifests_probes_ask_open_routes_of_the_server() -> None:
    (container,) = pods()["api"]["containers"]
    paths = {container[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "liveness", "readiness")}
    assert paths == {"/healthz", "/readyz"}
    assert paths <= set(OPEN)
    assert paths <= create_app().openapi()["paths"].keys()


@pytest.mark.parametrize("name", ["api", "database", "chroma", "model"])
def test_manifests_containers_have_limits_and_no_privileges(name: str) -> None:
    pod = pods()[name]
    assert pod["automountServiceAccountToken"] is False
    for container in pod["containers"]:
        assert container["resources"]["limits"]["memory"]
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert not container["image"].endswith("latest") or name == "api"


def test_manifests_memory_holds_the_workers_and_the_stop_is_long_enough() -> None:
    config = of_kind("ConfigMap")["metric-assistant"]["data"]
    pod = pods()["api"]
    gigabytes = int(pod["containers"][0]["resources"]["limits"]["memory"].removesuffix("Gi"))
    assert (
        gigabytes * 1024 >= int(config["ASSISTANT_JOB_MEMORY_MB"]) * 2 + 1024
    )  # one large job, small ones, the server
    assert pod["terminationGracePeriodSeconds"] > int(config["ASSISTANT_SHUTDOWN_SECONDS"]) + 5
    grace = int(compose()["services"]["api"]["stop_grace_period"].removesuffix("s"))
    assert grace > int(compose()["services"]["api"]["environment"]["ASSISTANT_SHUTDOWN_SECONDS"])


def test_manifests_egress_is_only_to_the_own_servers() -> None:
    policy = of_kind("NetworkPolicy")["api"]["spec"]
    (selector,) = policy["egress"][0]["to"]
    assert selector["podSelector"]["matchExpressions"][0]["values"] == ["database", "chroma", "model"]
    assert policy["policyTypes"] == ["Egress"]


def test_kustomization_names_the_namespace_of_every_manifest() -> None:
    listed = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text(encoding="utf-8"))
    spaces = {
        one["metadata"].get("namespace") for one in documents() if one["kind"] not in {"Namespace", "Kustomization"}
    }
    assert spaces == {listed["namespace"]} == set(of_kind("Namespace"))
    kubectl = shutil.which("kubectl")
    if kubectl is None:  # it reads them again where it is installed
        return
    done = subprocess.run(
        [kubectl, "kustomize", DEPLOY / "kubernetes"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    built = list(yaml.safe_load_all(done.stdout))
    assert len(built) == sum(one["kind"] not in {"Secret", "Kustomization"} for one in documents())
