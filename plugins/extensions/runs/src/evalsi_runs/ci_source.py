"""What a CI system says of the code that runs: commit, branch, pull request, in the variables that it sets itself.

It must not know a run.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

_PULL = re.compile(r"refs/pull/(\d+)/")


def source_of(environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """`ci`, `commit`, `branch`, `pull_request` and `url`, as far as they are known; empty outside of CI."""
    if environment.get("GITHUB_ACTIONS"):
        found = _github(environment)
    elif environment.get("GITLAB_CI"):
        found = _gitlab(environment)
    elif environment.get("BUILD_BUILDID") and environment.get("SYSTEM_TEAMFOUNDATIONCOLLECTIONURI"):
        found = _azure(environment)
    elif environment.get("CI"):
        found = {"ci": "other"}
    else:
        found = {}
    for key, name in (("commit", "EVALSI_COMMIT"), ("branch", "EVALSI_BRANCH")):
        if environment.get(name):
            found[key] = environment[name]
    return {key: value for key, value in found.items() if value not in ("", None)}


def _github(environment: Mapping[str, str]) -> dict[str, Any]:
    get = environment.get
    pull = _PULL.match(get("GITHUB_REF", ""))
    server, repository, run = get("GITHUB_SERVER_URL"), get("GITHUB_REPOSITORY"), get("GITHUB_RUN_ID")
    return {
        "ci": "github",
        # In a pull request GITHUB_SHA is of a merge that nobody made; the event names the commit that was pushed.
        "commit": _head_of_pull(get("GITHUB_EVENT_PATH", "")) or get("GITHUB_SHA"),
        "branch": get("GITHUB_HEAD_REF") or get("GITHUB_REF_NAME"),
        "pull_request": int(pull[1]) if pull else None,
        "url": f"{server}/{repository}/actions/runs/{run}" if server and repository and run else None,
    }


def _head_of_pull(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            commit = json.load(file)["pull_request"]["head"]["sha"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return commit if isinstance(commit, str) else None


def _gitlab(environment: Mapping[str, str]) -> dict[str, Any]:
    get = environment.get
    number = get("CI_MERGE_REQUEST_IID", "")
    return {
        "ci": "gitlab",
        "commit": get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or get("CI_COMMIT_SHA"),
        "branch": get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME") or get("CI_COMMIT_REF_NAME"),
        "pull_request": int(number) if number.isdecimal() else None,
        "url": get("CI_JOB_URL"),
    }


def _azure(environment: Mapping[str, str]) -> dict[str, Any]:
    get = environment.get
    number = get("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER", "")
    branch = get("SYSTEM_PULLREQUEST_SOURCEBRANCH") or get("BUILD_SOURCEBRANCH", "")
    return {
        "ci": "azure",
        "commit": get("SYSTEM_PULLREQUEST_SOURCECOMMITID") or get("BUILD_SOURCEVERSION"),
        "branch": branch.removeprefix("refs/heads/"),
        "pull_request": int(number) if number.isdecimal() else None,
    }
