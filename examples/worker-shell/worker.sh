#!/bin/sh
# A hookonce worker in shell: sh, curl, sed and base64.
#
#   HOOKONCE_URL=http://localhost:4100 HOOKONCE_TOKEN=... ./worker.sh ./handle
#
# The token needs the role `worker`. For each event the command is run with the payload on its standard input, and with
# EVENT_SOURCE, EVENT_TYPE, EVENT_ID (as JSON writes them) and IDEMPOTENCY_KEY in its environment. Exit status 0:
# succeeded. Any other: retried later, and a dead letter after its last attempt. When a worker dies, no event is lost:
# its lease expires and the event is due again, so the command may run more than once for an event.
#
# With DRAIN=1 it stops when nothing is due.
set -u

url=${HOOKONCE_URL:-http://localhost:4100}
worker=${HOOKONCE_WORKER:-shell-$$}
lease_s=30
wait_ms=20000
[ "${DRAIN:-}" = 1 ] && wait_ms=0
[ $# -gt 0 ] || { echo "usage: worker.sh command [argument...]" >&2; exit 2; }

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 0' TERM INT

# The token is read from a file: other users can see the arguments of a process.
umask 077
printf 'header = "authorization: Bearer %s"\n' "${HOOKONCE_TOKEN:-}" > "$work/curl"

call() { # path, body
  curl -sS --max-time 60 -K "$work/curl" -H 'content-type: application/json' \
    -w '\n%{http_code}\n' -d "$2" "$url$1" > "$work/answer" || return 1
  status=$(sed -n '$p' "$work/answer")
  sed '$d' "$work/answer" > "$work/body"
  [ "$status" = 200 ] && return 0
  echo "$status: $(cat "$work/body")" >&2
  case $status in 401|403) exit 1 ;; esac
  return 1
}

# A quote inside a JSON string is written \", so these patterns only match the fields themselves.
text() { sed -n 's/.*"'"$1"'":"\(\([^"\\]\|\\.\)*\)".*/\1/p' "$work/event"; }
number() { sed -n 's/.*"'"$1"'":\([0-9]*\|null\)[,}].*/\1/p' "$work/event"; }

keep() { # extends the lease while the command runs
  while sleep $((lease_s / 3)); do
    curl -s -K "$work/curl" -H 'content-type: application/json' -o /dev/null \
      -d "{\"leases\":[\"$1\"],\"leaseMs\":${lease_s}000}" "$url/api/work/extend"
  done
}

while :; do
  claim="{\"worker\":\"$worker\",\"limit\":1,\"leaseMs\":${lease_s}000,\"waitMs\":$wait_ms}"
  call /api/work/claim "$claim" || { sleep 5; continue; }
  if grep -q '^{"events":\[\]}' "$work/body"; then
    [ "${DRAIN:-}" = 1 ] && exit 0
    continue
  fi
  mv "$work/body" "$work/event"
  lease=$(text lease)
  retry=$(number retryInMs)
  keep "$lease" > /dev/null 2>&1 & keeper=$!
  text body | base64 -d > "$work/payload"
  EVENT_SOURCE=$(text source) EVENT_TYPE=$(text type) EVENT_ID=$(text id) IDEMPOTENCY_KEY=$(text idempotencyKey) \
    "$@" < "$work/payload"
  result=$?
  kill "$keeper" 2>/dev/null
  wait "$keeper" 2>/dev/null
  if [ "$result" = 0 ]; then
    outcome='{"kind":"succeeded"}'
  else
    outcome="{\"kind\":\"failed\",\"error\":\"exit status $result\",\"retryInMs\":$retry}"
  fi
  # An outcome that cannot be sent is not retried: the lease expires and the event is due again.
  call /api/work/settle "{\"settlements\":[{\"lease\":\"$lease\",\"outcome\":$outcome}]}" || continue
  grep -q '"status":409' "$work/body" && echo "$lease: somebody else has it now" >&2
done
