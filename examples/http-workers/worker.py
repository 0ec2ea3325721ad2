#!/usr/bin/env python3
"""A Reprise worker in Python's standard library.

It claims tasks of the action `word-count` over HTTP, counts the words of each payload's text and says how it went. It
renews its leases while it works and stops when it is asked to. docs/protocol.md explains each call.

    REPRISE_URL=http://127.0.0.1:7440 REPRISE_TOKEN=rpr_... python3 worker.py
"""

import json
import os
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request

URL = os.environ.get("REPRISE_URL", "http://127.0.0.1:7440")
TOKEN = os.environ["REPRISE_TOKEN"]
WORKER = os.environ.get("REPRISE_WORKER", f"python-{socket.gethostname()}-{os.getpid()}")
POOLS = os.environ.get("REPRISE_POOLS", "default").split(",")
ACTIONS = ["word-count"]

stopping = threading.Event()


class Problem(Exception):
    """What the server answered instead of a success."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body.get('code', '')}: {body.get('detail', '')}")
        self.status = status
        self.code = body.get("code", "")


def call(method, path, body=None, timeout=90):
    """One request. Raises Problem for an answer that is none, and OSError where there is no answer at all."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"authorization": f"Bearer {TOKEN}"}
    if data is not None:
        headers["content-type"] = "application/json"
    request = urllib.request.Request(URL + path, data=data, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            text = answer.read()
    except urllib.error.HTTPError as error:
        try:
            problem = json.loads(error.read())
        except ValueError:
            problem = {}
        raise Problem(error.code, problem) from None
    return json.loads(text) if text else None


def patiently(method, path, body):
    """Repeats a call until it is answered. Renewals and settlements do no harm when they are repeated."""
    delay = 0.2
    while True:
        try:
            return call(method, path, body)
        except Problem as problem:
            if problem.status not in (429, 502, 503, 504):
                raise
        except OSError:
            pass
        time.sleep(delay)
        delay = min(delay * 2, 5)


def word_count(payload, _context):
    """The action itself. Whatever it raises becomes the failure of the attempt."""
    text = payload["text"]
    if not isinstance(text, str):
        raise TypeError("the text must be a string")
    return {"words": len(text.split())}


def run(task):
    """Runs one claimed task to its end."""
    lease = {key: task[key] for key in ("taskId", "attempt", "token")}
    done = threading.Event()
    threading.Thread(target=keep, args=(lease, done), daemon=True).start()
    try:
        result = word_count(task["snapshot"]["payload"], task)
        settlement = {**lease, "outcome": "succeeded", "result": result}
    except Exception as error:  # pylint: disable=broad-except
        failure = {"name": type(error).__name__, "message": str(error)}
        if isinstance(error, (KeyError, TypeError, ValueError)):
            # The payload will not get better by trying again.
            failure["retryable"] = False
        settlement = {**lease, "outcome": "failed", "error": failure}
    finally:
        done.set()
    answer = patiently("POST", "/api/v1/settlements", {"settlements": [settlement]})
    print(f"{task['taskId']} attempt {task['attempt']}: {answer['results'][0]['outcome']}", flush=True)


def keep(lease, done):
    """Renews the lease until the work is done, or the store says that it is somebody else's by now."""
    while not done.wait(10):
        answer = patiently("POST", "/api/v1/leases/renew", {"leases": [lease]})
        if answer["results"][0]["outcome"] == "superseded":
            return


def beat(state):
    """Says every few seconds that this worker lives."""
    while not stopping.wait(state["beatEveryMs"] / 1000):
        try:
            answer = call("POST", f"/api/v1/workers/{WORKER}/beat", {"epoch": state["epoch"]}, timeout=10)
        except (Problem, OSError):
            continue
        if answer["outcome"] == "unknown":
            state.update(register())
        elif answer["outcome"] == "replaced" or answer["drain"]:
            stopping.set()


def register():
    """Starts a new epoch of this worker id."""
    facts = {"worker": WORKER, "pools": POOLS, "actions": ACTIONS, "host": socket.gethostname()}
    facts["runtimes"] = [f"python{sys.version_info.major}.{sys.version_info.minor}"]
    return patiently("POST", "/api/v1/workers", facts)


def main():
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stopping.set())
    state = register()
    print(f"{WORKER} is ready", flush=True)
    threading.Thread(target=beat, args=(state,), daemon=True).start()
    while not stopping.is_set():
        wanted = {"worker": WORKER, "epoch": state["epoch"], "pools": POOLS, "actions": ACTIONS, "waitMs": 5000}
        try:
            answer = call("POST", "/api/v1/claims", wanted)
        except (Problem, OSError) as error:
            if isinstance(error, Problem) and error.status not in (429, 502, 503, 504):
                raise
            time.sleep(0.5)
            continue
        for task in answer["claimed"]:
            run(task)
        if answer["drain"]:
            break
    call("DELETE", f"/api/v1/workers/{WORKER}?epoch={state['epoch']}")
    print(f"{WORKER} has stopped", flush=True)


if __name__ == "__main__":
    main()
