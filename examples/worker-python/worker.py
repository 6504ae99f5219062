#!/usr/bin/env python3
"""A hookonce worker in Python, with the standard library only.

    HOOKONCE_URL=http://localhost:4100 HOOKONCE_TOKEN=... python3 worker.py

The token needs the role `worker`. Write your code into `handle`. When it returns, the event has succeeded; when it
raises, the event is retried later, and after its last attempt it is a dead letter. When a worker dies, no event is lost:
its leases expire and the events are due again. So `handle` may run more than once for an event: pass
`event["idempotencyKey"]` to the services you call, or store it with the data you write.

With `--drain` it stops when nothing is due.
"""

import base64
import json
import os
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request

URL = os.environ.get("HOOKONCE_URL", "http://localhost:4100")
TOKEN = os.environ.get("HOOKONCE_TOKEN", "")
WORKER = os.environ.get("HOOKONCE_WORKER", f"python@{socket.gethostname()}:{os.getpid()}")
LEASE_MS = 30_000
WAIT_MS = 20_000

stopping = threading.Event()


class Ignore(Exception):
    """Raise it for an event that needs no work: `raise Ignore("a test order")`."""


class Permanent(Exception):
    """Raise it when no further attempt can help."""


def handle(event, payload):
    """Your code. `payload` has the received bytes, which are verified."""
    order = json.loads(payload)
    if order.get("fail"):
        raise ValueError("this order cannot be handled")
    if order.get("test"):
        raise Ignore("a test order")
    print(event["source"], event["type"], event["id"], event["idempotencyKey"], flush=True)


def call(path, body, timeout=60):
    request = urllib.request.Request(
        URL + path,
        data=json.dumps(body).encode(),
        headers={"authorization": f"Bearer {TOKEN}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=timeout) as response:
        return json.load(response)


def keep(lease, done):
    """Extends the lease while the handler runs, three times within its length."""
    while not done.wait(LEASE_MS / 3_000):
        try:
            call("/api/work/extend", {"leases": [lease], "leaseMs": LEASE_MS})
        except OSError:
            pass  # the lease may run out: settling will tell


def outcome_of(event):
    try:
        handle(event, base64.b64decode(event["body"] or ""))
        return {"kind": "succeeded"}
    except Ignore as reason:
        return {"kind": "ignored", "reason": str(reason) or "ignored"}
    except Permanent as error:
        return {"kind": "failed", "error": str(error), "retryInMs": None}
    except Exception as error:  # whatever it is, the event is not lost
        return {"kind": "failed", "error": type(error).__name__, "retryInMs": event["retryInMs"]}


def process(event):
    lease, started, done = event["lease"], time.monotonic(), threading.Event()
    heartbeat = threading.Thread(target=keep, args=(lease, done), daemon=True)
    heartbeat.start()
    outcome = outcome_of(event)
    done.set()
    heartbeat.join()
    duration_ms = (time.monotonic() - started) * 1_000
    settlement = {"lease": lease, "outcome": outcome, "durationMs": duration_ms}
    result = call("/api/work/settle", {"settlements": [settlement]})["results"][0]
    if not result["done"]:
        print(f"{event['id']}: {result['code']}: somebody else has it now", file=sys.stderr, flush=True)


def main():
    drain = "--drain" in sys.argv
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    signal.signal(signal.SIGINT, lambda *_: stopping.set())
    claim = {"worker": WORKER, "limit": 1, "leaseMs": LEASE_MS, "waitMs": 0 if drain else WAIT_MS}
    while not stopping.is_set():
        try:
            events = call("/api/work/claim", claim)["events"]
            for event in events:
                process(event)
            if drain and not events:
                return
        except urllib.error.HTTPError as error:
            print(f"{error.code}: {error.read().decode()}", file=sys.stderr, flush=True)
            if error.code in (401, 403):
                sys.exit(1)
            stopping.wait(5)
        except OSError as error:
            print(f"{URL}: {error}", file=sys.stderr, flush=True)
            stopping.wait(5)


if __name__ == "__main__":
    main()
