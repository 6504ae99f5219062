"""A shop in Python behind hookonce. Standard library only.

hookonce sends each event at least once, with the same webhook-id in every attempt. So the id is stored with a unique
key in the transaction of the effect, and a second attempt changes nothing.
"""
import base64
import hashlib
import hmac
import os
import sqlite3
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = base64.b64decode(os.environ["SHOP_SECRET"].removeprefix("whsec_"))
DATABASE = os.environ.get("SHOP_DATABASE", "shop.db")


def verified(headers, body):
    """Standard Webhooks: an HMAC over id, time and body."""
    event, sent, signatures = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not sent.isdigit() or abs(time.time() - int(sent)) > 300:
        return False
    digest = hmac.new(SECRET, f"{event}.{sent}.".encode() + body, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(digest).decode()
    return any(hmac.compare_digest(expected, each) for each in signatures.split(" "))


class Shop(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not verified(self.headers, body):
            return self.answer(401)
        with sqlite3.connect(DATABASE) as database:
            key = (self.headers["hookonce-source"], self.headers["webhook-id"])
            new = database.execute("insert or ignore into seen (source, id) values (?, ?)", key).rowcount == 1
            if new:
                database.execute("insert into effects (type) values (?)", (self.headers["hookonce-type"],))
        self.answer(200)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


with sqlite3.connect(DATABASE) as database:
    database.execute("create table if not exists seen (source text, id text, primary key (source, id))")
    database.execute("create table if not exists effects (type text)")

server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("SHOP_PORT", "8000"))), Shop)
print("listening", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    sys.exit(0)
