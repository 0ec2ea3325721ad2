"""The same as ephemeral-worker.ts, in Python."""

import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "..", "packages", "worker", "python"))
sys.dont_write_bytecode = True

from reprise_ephemeral import Permanent, Stopped, run  # noqa: E402


def work(payload, context):
    what = payload["do"]
    context.log(f"has begun what={what}")
    print("running", flush=True)
    if what == "count":
        context.progress(0.5, "half")
        if not context.still_mine():
            raise RuntimeError("not mine")
        return {"words": len(payload["text"].split(" ")), "attempt": context.attempt, "hasToken": context.retry_token != ""}
    if what == "fail":
        raise Permanent("no such page")
    if what == "exit":
        sys.exit(7)
    if what == "large":
        return "x" * 2_000_000
    if what == "wait":
        context.cancelled.wait()
        raise Stopped()
    threading.Event().wait()
    return None


run(work, patience=float(os.environ.get("PATIENCE", "30s")[:-1]), stop_grace=float(os.environ.get("STOP_GRACE", "0.3s")[:-1]))
