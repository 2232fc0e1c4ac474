#!/usr/bin/env python3
"""Checks skillmux inside the agents' own programs, with a model that this script plays.

usage: agent_programs.py BINARY [--programs DIR] [--agent NAME]...

It installs the programs from npm into a temporary folder, or into --programs, which it may find filled. It makes a home
folder with settings of each agent and five skills. Then it runs `skillmux doctor`, `init`, the agents' own commands that
check their settings, a prompt, and `skillmux uninit`. A prompt goes to `model_double.py` on this computer: no key is
needed, and no model is asked. Without npm it says so and ends with 0. It prints a line for each check, and ends with 1
if one fails. OpenClaw needs a newer Node.js than the others: it is passed over if it does not start.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from model_double import ModelDouble, listed_name

PROMPT = "Descale the espresso machine in the office kitchen, please"
TASK = "sharpen a dull paper knife"
CALLS = [("find_skills", {"task": TASK}), ("read_skill", {"skill_id": "agents/knife-sharpening", "query": TASK})]
SKILLS = {
    ".claude/skills/espresso-descaling": (
        "Descale an espresso machine and rinse it. Use it when a coffee machine is slow or bitter.",
        "Use 20 g of citric acid a litre. MARK-OF-THE-HOOK",
    ),
    ".agents/skills/knife-sharpening": (
        "Sharpen a dull paper knife or a kitchen knife with a whetstone.",
        "Hold it at 17 degrees. MARK-OF-THE-TOOL",
    ),
    ".gemini/skills/bread-baking": ("Bake a sourdough bread with a strong crust.", "Let it rest for a night."),
    ".codex/skills/bicycle-chain": ("Clean and oil the chain of a bicycle.", "Wipe off what is too much."),
    "project/.claude/skills/plant-watering": ("Water the plants of the office.", "Ask whether it rained."),
}
HOOK_SAYS = "skillmux found skills"
# Agents ask their model before a slow server is there, and the hook gives up after a second: both happen on a busy computer.
N_TRIES = 3


@dataclass
class Agent:
    """How one agent is installed, set up and asked. `{url}` is the model's address."""

    name: str
    package: str
    program: str
    settings: dict  # the files before `init`, by path below the home folder
    checks: list  # (arguments, what the output must match, what it must not)
    ask: list
    has_hook: bool = False
    environment: dict = field(default_factory=dict)


AGENTS = [
    Agent(
        "claude-code", "@anthropic-ai/claude-code", "claude",
        {
            ".claude.json": '{\n  "numStartups": 3,\n  "hasCompletedOnboarding": true\n}\n',
            ".claude/settings.json": '{\n  "includeCoAuthoredBy": false\n}\n',
        },
        [
            (["mcp", "list"], r"skillmux: .*Connected", r"(?i)failed|invalid"),
            (["mcp", "get", "skillmux"], r"(?s)User config.*Connected", r"(?i)failed|invalid"),
        ],
        ["-p", PROMPT, "--allowedTools", "mcp__skillmux"],
        has_hook=True,
        environment={"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": "none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
    ),
    Agent(
        "codex", "@openai/codex", "codex",
        {
            ".codex/config.toml": '# of the user\nmodel = "double"\nmodel_provider = "double"\n\n[model_providers.double]\n'
            'name = "double"\nbase_url = "{url}/v1"\nwire_api = "responses"\n',
        },
        [
            (["mcp", "list"], r"skillmux .*enabled", r"(?i)error"),
            (["mcp", "get", "skillmux"], r"(?s)enabled: true.*args: mcp", r"(?i)error"),
        ],
        # A hook of the user's settings runs once it is trusted, which needs a terminal; so this run takes it for trusted.
        ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", PROMPT],
        has_hook=True,
    ),
    Agent(
        "gemini-cli", "@google/gemini-cli", "gemini",
        {
            ".gemini/settings.json": "{\n  // of the user\n"
            '  "security": { "auth": { "selectedType": "gemini-api-key" } },\n  "ui": { "hideTips": true }\n}\n',
        },
        [(["mcp", "list"], r"skillmux: .*Connected", r"(?i)disconnected|invalid")],
        ["-m", "gemini-2.5-flash", "-p", PROMPT, "--approval-mode", "yolo"],
        has_hook=True,
        environment={"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    ),
    Agent(
        "opencode", "opencode-ai", "opencode",
        {
            ".config/opencode/opencode.jsonc": '{\n  // of the user\n  "$schema": "https://opencode.ai/config.json",\n'
            '  "provider": {\n    "double": {\n      "npm": "@ai-sdk/openai-compatible",\n'
            '      "options": { "baseURL": "{url}/v1", "apiKey": "none" },\n'
            '      "models": { "double": { "name": "double" } },\n    },\n  },\n}\n',
        },
        [
            (["mcp", "list"], r"skillmux.*connected", r"(?i)failed|invalid"),
            (["debug", "config"], r'(?s)"skillmux": \{\s+"type": "local"', r"(?i)invalid"),
        ],
        ["run", "-m", "double/double", PROMPT],
    ),
    Agent(
        "copilot", "@github/copilot", "copilot",
        {".copilot/mcp-config.json": '{\n  "mcpServers": {}\n}\n'},
        [
            (["mcp", "list"], r"skillmux \(local\)", r"(?i)error|invalid"),
            (["mcp", "get", "skillmux"], r"(?s)Type: +local.*User", r"(?i)error|invalid"),
        ],
        ["-p", PROMPT, "--allow-all-tools"],
        has_hook=True,
        environment={
            "COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": "{url}/v1", "COPILOT_MODEL": "double",
            "COPILOT_PROVIDER_API_KEY": "none", "COPILOT_AUTO_UPDATE": "false",
        },
    ),
    Agent(
        "openclaw", "openclaw", "openclaw",
        {
            ".openclaw/openclaw.json": "{\n  // of the user\n"
            "  models: { providers: { double: {\n"
            "    baseUrl: '{url}/v1', apiKey: 'none', api: 'openai-completions',\n"
            "    models: [{ id: 'double', name: 'double', contextWindow: 200000, maxTokens: 9000 }],\n  } } },\n"
            "  tools: { toolSearch: false },\n"
            "  agents: { defaults: { model: 'double/double', workspace: '{home}/project' } },\n}\n",
        },
        [
            (["config", "validate"], r"(?i)valid", r"(?i)invalid"),
            (["mcp", "list"], r"skillmux", r"(?i)invalid"),
            (["mcp", "probe"], r"skillmux.*3 tools", r"(?i)failed"),
        ],
        ["agent", "--local", "--agent", "main", "--message", PROMPT],
    ),
]  # fmt: skip


class Report:
    def __init__(self):
        self.n_failed = 0

    def tell(self, agent, what, problem=""):
        print(f"{'FAILED' if problem else 'ok':6} {agent:12} {what}{': ' + problem if problem else ''}", flush=True)
        self.n_failed += bool(problem)


def install(agent, folder):
    """Installs the newest version, unless some version is there, and returns the path of the program and the version."""
    program = folder / agent.name / "node_modules/.bin" / agent.program
    if not program.exists():
        (folder / agent.name).mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder / agent.name), f"{agent.package}@latest"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)
    package = folder / agent.name / "node_modules" / agent.package / "package.json"
    return program, json.loads(package.read_text())["version"]


class Home:
    """A home folder with the settings of agents and five skills."""

    def __init__(self, root, binary, agents, url):
        self.root, self.binary = root, binary
        for folder in ["project/.git", "tmp"]:
            (root / folder).mkdir(parents=True)
        self.fill = lambda text: text.replace("{url}", url).replace("{home}", str(root))
        for agent in agents:
            for path, text in agent.settings.items():
                self.write(path, self.fill(text))
        for path, (description, body) in SKILLS.items():
            self.write(f"{path}/SKILL.md", f"---\nname: {Path(path).name}\ndescription: {description}\n---\n{body}\n")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run(self, command, extra=(), stdin="", timeout=120):
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.root), "TMPDIR": str(self.root / "tmp"), "TERM": "dumb",
            "LANG": "C.UTF-8", "NO_COLOR": "1",
        } | {key: self.fill(value) for key, value in dict(extra).items()}  # fmt: skip
        done = subprocess.run(
            [str(part) for part in command], cwd=self.root / "project", env=environment, input=stdin, text=True,
            capture_output=True, timeout=timeout,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    def skillmux(self, *arguments, stdin=""):
        code, out, err = self.run([self.binary, *arguments], stdin=stdin)
        if code not in (0, 1):
            raise SystemExit(f"skillmux {' '.join(arguments)} ended with {code}: {err}")
        return out

    def files(self):
        """All files but what skillmux keeps for itself."""
        own = [self.root / path for path in (".local/state/skillmux", ".cache/skillmux", ".local/share/skillmux")]
        files = (path for path in self.root.rglob("*") if path.is_file())
        return {path: path.read_bytes() for path in files if not any(path.is_relative_to(folder) for folder in own)}


def check_agent(agent, program, home, double, report):
    for arguments, wanted, unwanted in agent.checks:
        code, out, err = home.run([program, *arguments], agent.environment)
        text = out + err
        is_good = code == 0 and re.search(wanted, text) and not re.search(unwanted, text)
        report.tell(agent.name, f"`{agent.program} {' '.join(arguments)}`", "" if is_good else f"{code}: {text[-1500:]}")
    for n_tries in range(1, N_TRIES + 1):
        double.requests.clear()
        code, out, err = home.run([program, *agent.ask], agent.environment, timeout=180)
        requests = [json.dumps(request) for request in double.requests]
        # The lists of tools, not the text: the server's instructions name its tools, too.
        is_listed = any(
            all(listed_name(tool, request.get("tools") or []) for tool, _ in CALLS) for request in double.requests
        )
        if is_listed and (not agent.has_hook or any(HOOK_SAYS in request for request in requests)):
            break
    if n_tries > 1:
        print(f"note   {agent.name:12} {n_tries} of {N_TRIES} tries were made", flush=True)
    said = f"{code}: {(out + err)[-1500:]}"
    tells = lambda is_good: "" if is_good else said
    report.tell(agent.name, "a prompt reaches the model", tells(code == 0 and requests))
    if agent.has_hook:
        is_there = any(HOOK_SAYS in request and "MARK-OF-THE-HOOK" in request for request in requests)
        report.tell(agent.name, "the hook adds the skill to the prompt", tells(is_there))
    report.tell(agent.name, "the model is shown the tools", tells(is_listed))
    is_answered = any("MARK-OF-THE-TOOL" in request for request in requests)
    report.tell(agent.name, "the model calls `find_skills` and reads the skill", tells(is_answered))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--programs", type=Path)
    parser.add_argument("--agent", action="append", choices=[agent.name for agent in AGENTS])
    options = parser.parse_args()
    if shutil.which("npm") is None:
        print("skipped: there is no npm")
        return 0
    report = Report()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        programs, agents = {}, []
        for agent in AGENTS:
            if options.agent and agent.name not in options.agent:
                continue
            try:
                program, version = install(agent, (options.programs or scratch / "programs").resolve())
                started = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, env={
                    "PATH": os.environ["PATH"], "HOME": str(scratch), "NO_COLOR": "1",
                })  # fmt: skip
            except (OSError, subprocess.SubprocessError, ValueError) as error:
                print(f"skipped {agent.name}: {error}")
                continue
            if started.returncode != 0:
                print(f"skipped {agent.name} {version}: {started.stderr.strip()[:200]}")
                continue
            print(f"{agent.name} {version}")
            programs[agent.name] = program
            agents.append(agent)
        double = ModelDouble(CALLS)
        home = Home(scratch / "home", options.binary.resolve(), agents, double.url)
        try:
            check_all(agents, programs, home, double, report)
        finally:
            double.close()
    return 1 if report.n_failed else 0


def check_all(agents, programs, home, double, report):
    names = [part for agent in agents for part in ("--agent", agent.name)]
    before = home.files()
    home.skillmux("doctor", *names)
    home.skillmux("init", "--dry-run", *names)
    report.tell("all", "`doctor` and `init --dry-run` change nothing", "" if home.files() == before else "they do")
    home.skillmux("init", "--yes", *names)
    home.skillmux("uninit", "--yes", *names)
    now = home.files()
    changed = [str(path) for path in before.keys() | now.keys() if before.get(path) != now.get(path)]
    report.tell("all", "`init`, then `uninit`: every byte is as before", ", ".join(changed))
    home.skillmux("init", "--yes", *names)
    home.skillmux("index")
    for agent in agents:
        try:
            check_agent(agent, programs[agent.name], home, double, report)
        except subprocess.TimeoutExpired as error:
            report.tell(agent.name, "it ends in time", str(error))
    # Agents write to their own settings when they run; so only what skillmux added is looked for.
    home.skillmux("uninit", "--yes", *names)
    for agent in agents:
        for path, text in agent.settings.items():
            now = (home.root / path).read_text()
            own = "as before" if now == home.fill(text) else "the agent has changed it"
            report.tell(agent.name, f"after `uninit`, `~/{path}` ({own}) has no skillmux", now if "skillmux" in now else "")


if __name__ == "__main__":
    sys.exit(main())
