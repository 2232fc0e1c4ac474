#!/usr/bin/env python3
"""Sends `skillmux mcp` what no honest client sends, and looks whether it lives, leaks, and answers each request once.

usage: mcp_hostile.py BINARY [--minutes 10] [--seed 1] [--index DIR]

It changes messages at random (bytes, lengths, types, paths, headers) and sends them over HTTP and over standard input. In
between it opens connections by the hundred, sends half requests and leaves. Each answer over HTTP must have a status, and,
if that is an error, one in JSON. Over standard input each line that is a request must have one answer. It needs only Python.
"""

import argparse
import collections
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

LIBRARY = str(Path(__file__).resolve().parents[1] / "fixtures/library")
SKILL = "documents/pdf-form-filling"
PATHS = [
    "skill://../../etc/passwd", f"skill://{SKILL}/../../../../etc/passwd", f"skill://{SKILL}/%2e%2e/%2e%2e/etc/passwd",
    f"skill://{SKILL}/..%2f..%2fetc%2fpasswd", f"skill://{SKILL}/..%5c..%5cboot.ini", f"skill://{SKILL}/%00", "file:///etc/passwd",
    "skill:///etc/passwd", "skill://" + "a/" * 3000, "skill://" + "%2e" * 3000, f"skill://{SKILL}/SKILL.md",
]
HOSTS = ["localhost", "127.0.0.1", "[::1]", "evil.example", "127.0.0.1.evil.example", "", "localhost\x00", "a" * 5000]
ORIGINS = [None] * 30 + ["http://localhost", "http://evil.example", "null", "", "javascript:0"]
TEXTS = ["", " ", "fill in a PDF form", "x" * 100_000, "\ud83d", "茶" * 1000, "\x00\x1b[2J\u202e", "a\n" * 5000, "-" * 1000]
HEADERS = ["content-type: application/json", "accept: application/json, text/event-stream"]


def message(dice):
    """Returns a message that may be in order."""
    text, uri = dice.choice(TEXTS), dice.choice(PATHS)
    call = lambda name, **arguments: ("tools/call", {"name": name, "arguments": arguments})
    method, params = dice.choice([
        call("find_skills", task=text, max_skills=dice.choice([0, 3, -1, 1e300, "x", None])),
        call("find_skills", task="fill in a PDF form", needs=dice.choice([[text], text, [1], {}, [text] * 200])),
        call("read_skill", skill_id=dice.choice([SKILL, text, uri]), have=dice.choice(["", "0-9", "9-0,,", "0-99999999999"])),
        call("explain_route", task="fill in a PDF form", skill_id=dice.choice([SKILL, text])),
        call(text), ("tools/list", {}), ("skills/list", {"cursor": dice.choice([None, text, "after:" + text])}),
        ("skills/get", {"uri": uri}), ("resources/read", {"uri": uri}), ("resources/list", {"cursor": text}),
        ("initialize", {"protocolVersion": text, "capabilities": {}, "clientInfo": {"name": text, "version": "1"}}),
        (text, {}), ("ping", [text]), ("logging/setLevel", {"level": text}), ("completion/complete", {"ref": 1}),
    ])
    return {"jsonrpc": "2.0", "id": dice.choice([1, 1, 1, "a", 2**63 - 1]), "method": method, "params": params}


def changed(dice, data):
    """Returns bytes of which some are others."""
    data = bytearray(data)
    for _ in range(dice.choice([0, 0, 0, 1, 3, 30])):
        at = dice.randrange(len(data) + 1)
        what = dice.random()
        if what < 0.4 and data:
            data[at % len(data)] = dice.randrange(256)
        elif what < 0.6:
            data[at:at] = dice.choice([b"[" * 2000, b'{"a":' * 500, b"\xff\xfe", b"\\ud83d", b"\x00", b"1e999"])
        elif what < 0.8:
            del data[at:at + dice.randrange(50)]
        else:
            data[at:at] = data[at // 2:at]
    return bytes(data)


def answer(stream):
    data = b""
    while part := stream.recv(1 << 16):
        data += part
    return data


class Http:
    """Sends requests to a server on a port and judges what comes back."""

    def __init__(self, port, dice):
        self.port, self.dice, self.seen, self.wrong = port, dice, collections.Counter(), []

    def send(self, data, is_all=False):
        with socket.create_connection(("127.0.0.1", self.port), timeout=45) as stream:
            try:
                stream.sendall(data)
                if is_all:
                    stream.shutdown(socket.SHUT_WR)
                return answer(stream)
            except TimeoutError:
                self.wrong.append(("no answer in 45 seconds", data[:300]))
            except OSError:
                # It was closed before all was sent, or all was read.
                return None

    def honest(self):
        """Returns whether a plain request is answered."""
        body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
        head = "\r\n".join(["POST /mcp HTTP/1.1", "host: localhost", *HEADERS, "connection: close", f"content-length: {len(body)}"])
        for _ in range(100):
            data = self.send(f"{head}\r\n\r\n".encode() + body) or b""
            if data.startswith(b"HTTP/1.1 200") and b"find_skills" in data:
                return True
            time.sleep(0.1)
        return False

    def one(self):
        dice = self.dice
        text = json.dumps(message(dice)).replace("\\ud83d", dice.choice(["\\ud83d", "?"]))
        body = changed(dice, text.encode())
        if dice.random() < 0.01:
            body += b" " * dice.choice([8 << 20, 12 << 20])
        length = dice.choice([len(body)] * 20 + [-1, 10**18, "x"])
        lines = [dice.choice(["POST /mcp HTTP/1.1"] * 12 + ["GET /mcp HTTP/1.1", "PUT / HTTP/1.1", "POST /../mcp HTTP/1.1", "POST /mcp HTTP/9"])]
        lines.append(f"host: {dice.choice(HOSTS[:3] * 15 + HOSTS)}")
        origin = dice.choice(ORIGINS)
        lines += [] if origin is None else [f"origin: {origin}"]
        lines += HEADERS + ["connection: close", f"content-length: {length}"]
        if dice.random() < 0.1:
            lines.append(f"mcp-protocol-version: {dice.choice(['2025-11-25', '2026-07-28', '1', chr(255)])}")
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
        is_head_changed = dice.random() < 0.05
        head = changed(dice, head) if is_head_changed else head
        if length != len(body) or dice.random() < 0.02:
            # It would wait for the rest.
            return self.leave(head + body[:dice.randrange(len(body) + 1)])
        # Of a head that says nothing true of the body, the server would wait for the rest.
        data = self.send(head + body, is_head_changed)
        if not data:
            self.seen["connection closed"] += 1
            return
        head, _, body = data.partition(b"\r\n\r\n")
        status = head.split(b" ")[1].decode()
        self.seen[status] += 1
        if status not in ("200", "202", "400", "403", "404", "405", "406", "408", "413", "414", "415", "431", "503", "505"):
            self.wrong.append((status, lines, text[:200]))
        if is_head_changed:
            # The rest of the body may be the next request.
            return
        # What is no HTTP gets its status alone.
        if body or status not in ("202", "400", "414", "431", "505"):
            try:
                value = json.loads(body)
                assert ("result" in value) != ("error" in value and bool(value["error"]["message"] or "method" in text))
            except (ValueError, AssertionError, KeyError):
                self.wrong.append((status, lines, text[:200], body[:200]))

    def leave(self, data):
        with socket.create_connection(("127.0.0.1", self.port), timeout=45) as stream:
            try:
                stream.sendall(data)
            except OSError:
                pass
        self.seen["left early"] += 1

    def crowd(self, n=400):
        """Opens many connections, most of which never send all of a request."""
        streams = []
        for i in range(n):
            try:
                stream = socket.create_connection(("127.0.0.1", self.port), timeout=5)
                stream.sendall(self.dice.choice([b"", b"POST", b"POST /mcp HTTP/1.1\r\nhost: localhost\r\n"]))
                streams.append(stream)
            except OSError:
                self.seen["refused"] += 1
        for stream in streams:
            stream.close()
        self.seen["crowd"] += 1


def memory_and_handles(process):
    status = Path(f"/proc/{process.pid}/status").read_text()
    kibibytes = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
    return kibibytes // 1024, len(os.listdir(f"/proc/{process.pid}/fd"))


def told(memory):
    some = memory[:: max(1, len(memory) // 10)]
    return f"memory in MiB: {', '.join(str(it[0]) for it in some)}; open files first {memory[0][1]}, last {memory[-1][1]}"


def leaks(memory):
    """Returns whether more is held at the end than at half time."""
    half, last = memory[len(memory) // 2], memory[-1]
    return last[0] > 1.1 * half[0] + 10 or last[1] > memory[0][1] + 8


def over_http(command, environment, seconds, seed):
    server = subprocess.Popen([*command, "--listen", "127.0.0.1:0"], env=environment, stderr=subprocess.PIPE, text=True)
    port = int(server.stderr.readline().rsplit(":", 1)[1].split("/")[0])
    clients = [Http(port, random.Random(f"{seed}-{i}")) for i in range(4)]
    ok = clients[0].honest()

    def run(client):
        while time.time() < until and server.poll() is None:
            client.one()

    def rounds(n):
        for client in clients:
            for _ in range(n):
                client.one()

    rounds(300)
    clients[0].crowd()
    time.sleep(1)
    until, memory = time.time() + seconds, [memory_and_handles(server)]
    threads = [threading.Thread(target=run, args=[client]) for client in clients]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads) and server.poll() is None:
        time.sleep(10)
        memory.append(memory_and_handles(server))
        clients[0].crowd()
    for thread in threads:
        thread.join()
    time.sleep(2)
    memory += [memory_and_handles(server)] if server.poll() is None else []
    ok = ok and server.poll() is None and clients[0].honest()
    server.terminate()
    code, said = server.wait(timeout=20), server.stderr.read()
    seen = sum((client.seen for client in clients), collections.Counter())
    wrong = [it for client in clients for it in client.wrong]
    print("http:", dict(sorted(seen.items())))
    print(f"http: exit code {code}; {told(memory)}")
    for it in wrong[:5]:
        print("http: WRONG", it)
    print(said[:500], end="")
    return ok and code == 0 and not wrong and not said and not leaks(memory)


def over_stdio(command, environment, seconds, seed):
    """Sends lines, and counts answers: one to each, but blank lines, notifications and answers."""
    server = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    dice, n_lines, n_wrong = random.Random(seed), 0, 0

    def ask(line):
        server.stdin.write(line + b"\n")
        server.stdin.flush()

    def marked(number):
        """Asks a plain question, and returns how many answers came before its own."""
        ask(json.dumps({"jsonrpc": "2.0", "id": f"mark-{number}", "method": "tools/list"}).encode())
        n = 0
        while True:
            value = json.loads(server.stdout.readline())
            if value.get("id") == f"mark-{number}":
                return n
            assert ("result" in value) != ("error" in value), value
            n += 1

    start = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    ask(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": start}).encode())
    server.stdout.readline()
    ask(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    marked(-1)
    memory = [memory_and_handles(server)]
    until = time.time() + seconds
    while time.time() < until:
        text = changed(dice, json.dumps(message(dice)).encode()).replace(b"\n", b" ")
        if dice.random() < 0.003:
            text += b" " * (9 << 20)
        ask(text)
        # An answer may come after that of the next question.
        first = marked(n_lines)
        late = 0
        deadline = time.time() + 5
        try:
            # As the server reads it: an `id` whose bytes are no UTF-8 is no `id`, and the message a notification.
            value = json.loads(text.decode("utf-8", "replace"))
            is_silent = not text.strip() or (isinstance(value, dict) and ("id" not in value or "method" not in value))
        except (ValueError, RecursionError):
            is_silent = not text.strip()
        while first + late < 1 and not is_silent and time.time() < deadline:
            late += marked(f"{n_lines}-late-{late}")
        if first + late > 1 or (first + late == 0 and not is_silent):
            n_wrong += 1
            print("stdio: WRONG", first + late, "answers to", text[:300], b"...", text[-100:])
        n_lines += 1
        if n_lines % 500 == 0:
            memory.append(memory_and_handles(server))
    server.stdin.close()
    server.stdout.read()
    code, said = server.wait(timeout=20), server.stderr.read().decode()
    print(f"stdio: {n_lines} lines, {n_wrong} with no or several answers; exit code {code}; {told(memory)}")
    print(said[:500], end="")
    return code == 0 and n_wrong == 0 and not said and not leaks(memory)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("binary")
    arguments.add_argument("--minutes", type=float, default=10)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--index", help="serve this index, not fixtures/library")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as home:
        environment = {"HOME": home, "PATH": os.environ["PATH"], "HF_HUB_OFFLINE": "1"}
        source = ["--index", given.index] if given.index else ["--library", LIBRARY]
        command = [os.path.abspath(given.binary), "mcp", *source]
        # The transformer reads the skills once, before memory is compared.
        subprocess.run([command[0], "route", "warm up", *source], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds = 60 * given.minutes
        fine = over_http(command, environment, 0.75 * seconds, given.seed)
        fine = over_stdio(command, environment, 0.25 * seconds, given.seed) and fine
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
