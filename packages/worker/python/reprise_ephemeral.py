"""One attempt of a Reprise task, inside a container or process that a launcher started. Standard library only.

    from reprise_ephemeral import run

    def render(payload, context):
        context.progress(0.5, "page 5 of 10")
        return {"pages": 10}

    run(render)

The launcher passes REPRISE_TASK_ID, REPRISE_ATTEMPT, REPRISE_LEASE_TOKEN and REPRISE_CALLBACK_URL. run() fetches the
payload, renews the lease while the handler runs, brings progress and log lines, calls back, and ends the process:

    0    succeeded, or nobody waits for this attempt any more
    1    failed, and told so
    75   the server could not be told
    78   the environment or the credential is not right
    143  asked to end (SIGTERM) before the handler had ended

A handler that looks at context.cancelled, or calls context.check(), stops when it should. docs/ephemeral-workers.md has more.
"""

import json
import os
import random
import signal
import sys
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request

__all__ = ["Permanent", "RetryAfter", "Stopped", "Transient", "run"]

PATIENCE_S = 120
STOP_GRACE_S = 4
BEAT_S = 5
NEWS_S = 0.5
LOG_LINES_MAX = 100
LOG_CHARACTERS_MAX = 12_000
CALLBACK_PATH = "/task-complete"
_END_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Permanent(Exception):
    """Trying again does not help."""


class Transient(Exception):
    """Trying again may help."""


class RetryAfter(Exception):
    """Trying again may help, after so many seconds."""

    def __init__(self, seconds, message="Try again later."):
        super().__init__(message)
        self.seconds = seconds


class Stopped(BaseException):
    """Raised by context.check(): this attempt is to end. Not an Exception, so that a handler does not catch it by mistake."""


class Refused(Exception):
    """What the server answered instead of a success."""

    def __init__(self, status, problem, retry_after):
        super().__init__(f"{status} {problem.get('code', '')}: {problem.get('detail', '')}")
        self.status = status
        self.code = problem.get("code", "")
        self.retry_after = retry_after


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Followed, a redirect could carry the credential elsewhere."""

    def redirect_request(self, *_):
        return None


class _Server:
    """The three calls, with the credential of this attempt."""

    def __init__(self, environment):
        self.task = environment["REPRISE_TASK_ID"]
        self.attempt = int(environment["REPRISE_ATTEMPT"])
        self._token = environment["REPRISE_LEASE_TOKEN"]
        callback = environment["REPRISE_CALLBACK_URL"]
        if not callback.startswith(("http://", "https://")) or not callback.endswith(CALLBACK_PATH):
            raise ValueError(f"REPRISE_CALLBACK_URL must be an address that ends in {CALLBACK_PATH}")
        self._base = callback[: -len(CALLBACK_PATH)]
        self._opener = urllib.request.build_opener(_NoRedirects)

    def payload(self, patience):
        path = f"/task-payload/{urllib.parse.quote(self.task, safe='')}/{self.attempt}"
        return self._patiently("GET", path, None, patience)

    def beat(self, news, patience=BEAT_S):
        return self._patiently("POST", "/task-heartbeat", news, patience)

    def complete(self, completion, patience):
        return self._patiently("POST", CALLBACK_PATH, completion, patience)

    def _patiently(self, method, path, body, patience):
        """Repeats a call while the server is away or busy. Each of them does no harm when it is repeated."""
        until = time.monotonic() + patience
        delay = 0.1
        while True:
            try:
                return self._call(method, path, body, max(until - time.monotonic(), 0.1))
            except Refused as refused:
                if refused.status not in (429, 500, 502, 503, 504):
                    raise
                error, wait = refused, refused.retry_after
            except OSError as unreachable:
                error, wait = unreachable, 0
            wait = max(wait, delay * random.uniform(0.5, 1.5))
            if time.monotonic() + wait >= until:
                raise error
            time.sleep(wait)
            delay = min(delay * 2, 5)

    def _call(self, method, path, body, timeout):
        # The credential is in the head: a server reads a large body only from one who may send it.
        query = urllib.parse.urlencode({"task": self.task, "attempt": self.attempt})
        headers = {"authorization": f"Bearer {self._token}", "accept": "application/json"}
        data = None
        if body is not None:
            data = json.dumps({"taskId": self.task, "attempt": self.attempt, **body}).encode()
            headers["content-type"] = "application/json"
        request = urllib.request.Request(f"{self._base}{path}?{query}", data=data, method=method, headers=headers)
        try:
            with self._opener.open(request, timeout=min(timeout, 30)) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            try:
                problem = json.loads(error.read())
            except ValueError:
                problem = {}
            after = error.headers.get("retry-after", "")
            raise Refused(error.code, problem if isinstance(problem, dict) else {}, int(after) if after.isdigit() else 0) from None


class Context:
    """What a handler gets beside its payload."""

    def __init__(self, assignment, server):
        self.task_id = assignment["taskId"]
        self.attempt = assignment["attempt"]
        self.action = assignment["action"]
        self.tenant = assignment["tenant"]
        self.labels = assignment["labels"]
        self.retry_token = assignment["retryToken"]
        """The same at every attempt of the task: pass it on to make effects idempotent."""
        self.cancelled = threading.Event()
        """Set when the attempt is to end: time-out, cancellation, a lost lease, SIGTERM."""
        self._server = server
        self._lock = threading.Lock()
        self._progress = None
        self._lines = []
        self._dropped = 0
        self._has_new_lines = False
        self._news = threading.Event()

    def check(self):
        """Raises Stopped when the attempt is to end: call it between the steps of long work."""
        if self.cancelled.is_set():
            raise Stopped()

    def still_mine(self):
        """Asks the store whether this attempt is still this worker's: right before an effect that must not happen twice."""
        return self._beat()

    def progress(self, fraction=None, note=None):
        """How far it has come: a share from 0 to 1, a note, or both."""
        with self._lock:
            share = None if fraction is None else min(max(float(fraction), 0), 1)
            self._progress = {"fraction": share, "note": None if note is None else str(note)[:1000]}
        self._news.set()

    def log(self, text, level="info"):
        """A line that is kept with the attempt, and written to standard error. Levels: info, warn, error."""
        print(f"{level.upper()} {text}", file=sys.stderr, flush=True)
        with self._lock:
            self._lines.append({"at": int(time.time() * 1000), "level": level, "text": str(text)[:2000]})
            while len(self._lines) > LOG_LINES_MAX or sum(len(line["text"]) for line in self._lines) > LOG_CHARACTERS_MAX:
                self._lines.pop(0)
                self._dropped += 1
            self._has_new_lines = True
        self._news.set()

    def _beat(self):
        """False if the attempt is not this worker's any more. Raises if the server could not be asked."""
        with self._lock:
            progress, self._progress = self._progress, None
            lines = {"lines": list(self._lines), "dropped": self._dropped} if self._has_new_lines else None
            self._has_new_lines = False
        news = {"progress": progress, "log": lines}
        try:
            self._server.beat({name: value for name, value in news.items() if value is not None})
            return True
        except Refused as refused:
            if refused.code == "REPRISE_SUPERSEDED":
                return False
            self._put_back(progress, lines)
            raise
        except OSError:
            self._put_back(progress, lines)
            raise

    def _put_back(self, progress, lines):
        with self._lock:
            self._progress = self._progress or progress
            self._has_new_lines = self._has_new_lines or lines is not None
        self._news.set()


class _Attempt:
    """One attempt. Whatever ends it first counts: its handler, its time-out, a lost lease, or the end of the grace time."""

    def __init__(self, server, context, patience, stop_grace):
        self._server = server
        self._context = context
        self._patience = patience
        self._stop_grace = stop_grace
        self._once = threading.Lock()
        self._done = threading.Event()
        self._left = threading.Event()
        """The handler has stopped, or its end is told: nobody has to wait for it any more."""
        self.interrupted = False

    def run(self, handler, payload, time_left):
        self._listen()
        threading.Thread(target=self._beat, daemon=True).start()
        watch = threading.Timer(max(time_left, 0), self._time_out, [time_left])
        watch.daemon = True
        watch.start()
        try:
            result = handler(payload, self._context)
            json.dumps(result, allow_nan=False)
            completion = {"status": "succeeded", "result": result}
        except Stopped as stopped:
            if self._context.cancelled.is_set():
                # Who asked it to stop ends the process.
                self._left.set()
                threading.Event().wait()
            completion = {"status": "failed", "error": _reported(stopped)}
        except BaseException as error:  # pylint: disable=broad-except
            completion = _interruption() if self.interrupted else {"status": "failed", "error": _reported(error)}
        watch.cancel()
        self.finish(completion)

    def finish(self, completion, code=None):
        """Calls back and ends the process. Only the first one does; others wait for that."""
        if not self._once.acquire(blocking=False):
            threading.Event().wait()
        self._done.set()
        self._left.set()
        # Once the process was asked to end, it is ended soon.
        patience = self._stop_grace if self.interrupted else self._patience
        if code is None:
            code = 143 if self.interrupted and completion["status"] == "failed" else 0 if completion["status"] == "succeeded" else 1
        try:
            if self._context._news.is_set():
                self._context._beat()
        except (Refused, OSError):
            pass
        try:
            self._server.complete(completion, patience)
        except Refused as refused:
            if refused.code == "REPRISE_SUPERSEDED":
                _exit(0, "The end was not taken: the attempt is not this worker's any more.")
            if refused.status in (400, 413) and completion["status"] == "succeeded":
                # A result that the server does not take: otherwise nobody would hear of it.
                self._tell_refused(refused, patience)
            _exit(78 if refused.status < 500 and refused.status != 429 else self._leave(completion, code), f"Not told: {refused}")
        except OSError as error:
            _exit(self._leave(completion, code), f"The server can't be reached: {error}")
        _exit(code)

    def _tell_refused(self, refused, patience):
        error = {"code": refused.code, "message": str(refused), "retryable": False}
        try:
            self._server.complete({"status": "failed", "error": error}, patience)
        except (Refused, OSError) as again:
            _exit(75, f"Not told: {again}")
        _exit(1)

    def _leave(self, completion, code):
        """The end goes to the file that a process launcher reads, if there is one. Gives the exit code."""
        path = os.environ.get("REPRISE_RESULT", "")
        if path == "":
            return 143 if self.interrupted else 75
        content = completion["result"] if completion["status"] == "succeeded" else {"error": completion["error"]}
        try:
            with open(f"{path}.new", "w", encoding="utf-8") as file:
                json.dump(content, file)
            os.replace(f"{path}.new", path)
        except OSError:
            return 143 if self.interrupted else 75
        return code

    def _beat(self):
        while not self._done.is_set():
            if self._context._news.wait(BEAT_S):
                self._done.wait(NEWS_S)
                self._context._news.clear()
            if self._done.is_set():
                return
            try:
                is_mine = self._context._beat()
            except (Refused, OSError):
                # The work goes on: the lease may still hold when the server hears again.
                self._done.wait(1)
                continue
            if not is_mine:
                self._context.cancelled.set()
                self._left.wait(self._stop_grace)
                if self._once.acquire(blocking=False):
                    _exit(0, "The attempt is not this worker's any more.")
                return

    def _time_out(self, time_left):
        self._context.cancelled.set()
        message = f"The handler did not end in time ({time_left:.0f} s)."
        self.finish({"status": "failed", "error": {"code": "timeout", "message": message}}, 1)

    def _listen(self):
        """Signals go through a pipe to a thread of their own. The main thread may hold a lock just then, or fall asleep on one
        without looking: the wake-up descriptor is written at once. A handler may set another one, such as asyncio's; then
        the handler of the signal writes."""
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        for one in _END_SIGNALS:
            signal.signal(one, lambda number, _: os.write(writing, bytes([number])))
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        threading.Thread(target=self._on_signal, args=[reading], daemon=True).start()

    def _on_signal(self, reading):
        while os.read(reading, 1)[0] not in _END_SIGNALS:
            pass
        self.interrupted = True
        self._context.cancelled.set()
        self._left.wait(self._stop_grace)
        self.finish(_interruption(), 143)


def _interruption():
    message = "The worker was asked to end before its handler had."
    return {"status": "failed", "error": {"code": "SIGNAL_SIGTERM", "message": message, "retryable": True}}


def _reported(error):
    """What was raised, as the server takes it."""
    message = str(error)[:4000] or type(error).__name__
    if isinstance(error, SystemExit):
        message = f"The handler called sys.exit({error.code!r})."[:4000]
    reported = {"name": type(error).__name__, "message": message}
    reported["stack"] = "".join(traceback.format_exception(type(error), error, error.__traceback__))[-16000:]
    code = getattr(error, "code", None)
    if isinstance(code, str):
        reported["code"] = code[:100]
    status = getattr(error, "status", None)
    if isinstance(status, int):
        reported["status"] = status
    if isinstance(error, (Permanent, Transient, RetryAfter)):
        reported["retryable"] = not isinstance(error, Permanent)
    if isinstance(error, RetryAfter):
        reported["retryAfterMs"] = int(error.seconds * 1000)
    return reported


def _exit(code, words=None):
    if words is not None:
        print(words, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads and handlers that never come back do not hold it.
    os._exit(code)


def run(handler, patience=PATIENCE_S, stop_grace=STOP_GRACE_S):
    """Runs the attempt that this process was started for, with handler(payload, context), and ends the process."""
    try:
        server = _Server(os.environ)
    except (KeyError, ValueError) as error:
        _exit(78, f"The worker can't begin: {error}. Was it started by a launcher of Reprise?")
    for one in _END_SIGNALS:
        signal.signal(one, lambda *_: _exit(143, "Asked to end before it began."))
    try:
        assignment = server.payload(patience)
    except Refused as refused:
        if refused.status == 404:
            _exit(0, "There is nothing to run: the attempt has ended.")
        _exit(75 if refused.status >= 500 or refused.status == 429 else 78, f"The payload was refused: {refused}")
    except OSError as error:
        _exit(75, f"The server can't be reached: {error}")
    context = Context(assignment, server)
    time_left = (assignment["timeoutAt"] - assignment["now"]) / 1000
    _Attempt(server, context, patience, stop_grace).run(handler, assignment["payload"], time_left)
