#!/usr/bin/env python3
"""Checks `skillmux mcp` with a client that others wrote: the Python SDK of MCP, over standard input and output and over HTTP.

usage: mcp_clients.py BINARY

It needs the package `mcp` of version 2 (pip install 'mcp>=2.3,<3'). It serves fixtures/library, in each way that the SDK
has to begin a session. It prints a line for each, and ends with 1 if the SDK or this script finds something wrong.
"""

import asyncio
import hashlib
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters

LIBRARY = str(Path(__file__).resolve().parents[1] / "fixtures/library")
SKILL = "documents/pdf-form-filling"
URI = f"skill://{SKILL}/SKILL.md"
TASK = "fill in the fields of a PDF form"
EXTENSION = "io.modelcontextprotocol/skills"
# How the SDK begins, and what it must agree on with the server.
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28"}


class SkillsList(types.Request[types.PaginatedRequestParams | None, str]):
    method: str = "skills/list"
    params: types.PaginatedRequestParams | None = None


class SkillsGet(types.Request[types.ReadResourceRequestParams, str]):
    method: str = "skills/get"
    params: types.ReadResourceRequestParams


class AnyResult(types.Result):
    model_config = {"extra": "allow"}


def sha256(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


async def error_code(awaitable) -> int:
    try:
        await awaitable
    except MCPError as error:
        assert error.error.message, error
        return error.error.code
    raise AssertionError("this should fail")


async def check(client: Client, way: str, expected: str) -> None:
    """Does what a host does."""
    assert client.protocol_version == expected, client.protocol_version
    newest = client.protocol_version >= "2026-07-28"
    assert client.server_info.name == "skillmux", client.server_info
    assert "find_skills" in client.instructions, client.instructions
    assert EXTENSION in client.server_capabilities.extensions, client.server_capabilities

    listed = await client.list_tools()
    names = [tool.name for tool in listed.tools]
    assert names == ["explain_route", "find_skills", "read_skill"], names
    if newest:
        assert listed.ttl_ms == 3_600_000 and listed.cache_scope == "public", listed

    async def call(tool: str, **arguments: Any) -> types.CallToolResult:
        # The SDK checks the answer against the output schema.
        return await client.call_tool(tool, arguments)

    found = await call("find_skills", task=TASK, needs=["fill in a PDF form"])
    assert not found.is_error and found.structured_content["skills"][0]["skill_id"] == SKILL, found
    assert len(found.content) == 1 and SKILL in found.content[0].text, found
    read = await call("read_skill", skill_id=SKILL, query=TASK, budget_tokens=500)
    assert not read.is_error and "<skill_content" in read.content[0].text, read
    why = await call("explain_route", task=TASK, skill_id="data/csv-cleaning")
    assert not why.is_error and why.structured_content["skill"]["is_chosen"] is False, why
    for tool, arguments in [
        ("find_skills", {}),
        ("find_skills", {"task": 7}),
        ("find_skills", {"task": TASK, "max_skills": 99}),
        ("read_skill", {"skill_id": "no/such"}),
        ("explain_route", {"task": ""}),
    ]:
        wrong = await call(tool, **arguments)
        assert wrong.is_error and "hint: " in wrong.content[0].text, (tool, wrong)
    assert await error_code(call("no_such_tool")) == types.INVALID_PARAMS

    # A call that its caller gives up, and one that wants to hear of progress.
    with anyio.move_on_after(0.001):
        await call("find_skills", task="word " * 20_000)
    again = await client.call_tool("find_skills", {"task": TASK}, progress_callback=lambda *_: asyncio.sleep(0))
    assert not again.is_error, again

    resources = (await client.list_resources()).resources
    assert URI in [str(resource.uri) for resource in resources], resources
    assert len((await client.list_resource_templates()).resource_templates) == 1
    contents = (await client.read_resource(URI)).contents[0]
    assert contents.mime_type == "text/markdown" and contents.text.startswith("---\n"), contents
    not_found = types.INVALID_PARAMS if newest else -32002
    for uri in ["skill://../../etc/passwd", "skill://documents/%2e%2e/x", "file:///etc/passwd"]:
        assert await error_code(client.read_resource(uri)) == not_found, uri

    skills = (await client.session.send_request(SkillsList(), AnyResult)).model_dump()["skills"]
    entry = next(skill for skill in skills if skill["uri"] == URI)
    own = next(file for file in entry["resources"] if file["uri"] == URI)
    assert own["digest"] == sha256(contents.text) and own["size"] == len(contents.text.encode()), own
    assert entry["frontmatter"]["name"] == "pdf-form-filling", entry
    params = types.ReadResourceRequestParams(uri=URI)
    one = await client.session.send_request(SkillsGet(params=params), AnyResult)
    assert one.model_dump()["skill"] == entry, one
    params = types.ReadResourceRequestParams(uri="skill://no/such/SKILL.md")
    assert await error_code(client.session.send_request(SkillsGet(params=params), AnyResult)) == types.INVALID_PARAMS
    print(f"{way}: protocol {expected}: as it should be", flush=True)


@contextmanager
def http_server(binary: str, environment: dict[str, str]):
    """Runs a server on a free port, gives its URL, and checks that it ends well."""
    command = [binary, "mcp", "--library", LIBRARY, "--listen", "127.0.0.1:0"]
    server = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        line = server.stderr.readline()
        assert line.startswith("skillmux mcp: listening on http://127.0.0.1:"), line
        yield line.split()[-1]
        server.terminate()
        assert server.wait(timeout=20) == 0 and server.stderr.read() == ""
    finally:
        server.kill()


async def main(binary: str, environment: dict[str, str]) -> None:
    stdio = StdioServerParameters(command=binary, args=["mcp", "--library", LIBRARY], env=environment)
    for mode, expected in MODES.items():
        async with Client(stdio, mode=mode, read_timeout_seconds=30) as client:
            await check(client, "stdio", expected)
    with http_server(binary, environment) as url:
        for mode, expected in MODES.items():
            async with Client(url, mode=mode, read_timeout_seconds=30) as client:
                await check(client, "http", expected)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(f"mcp {version('mcp')} from PyPI")
    with tempfile.TemporaryDirectory() as home:
        # The skills are read by their words alone, which takes no time.
        environment = {"HOME": home, "PATH": os.environ["PATH"], "HF_HUB_OFFLINE": "1"}
        asyncio.run(main(os.path.abspath(sys.argv[1]), environment))
