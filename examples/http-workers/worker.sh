#!/usr/bin/env bash
# A Reprise worker in bash with curl. It runs tasks of the action `shout`: the payload's text in capital letters.
# docs/protocol.md explains each call.
#
#   REPRISE_URL=http://127.0.0.1:7440 REPRISE_TOKEN=rpr_... ./worker.sh
#
# Bash has no JSON. The answers are taken apart with node, which stands for jq here; everything that goes back is made by
# the same tool, so that no character of a payload can break out of its string.
set -euo pipefail

url=${REPRISE_URL:-http://127.0.0.1:7440}
worker=${REPRISE_WORKER:-bash-$(hostname)-$$}
: "${REPRISE_TOKEN:?set REPRISE_TOKEN to a token with the scope work}"

# json EXPRESSION [NAME=VALUE...]: evaluates an expression over `input`, which is the JSON on standard input, and `args`.
json() {
  local expression=$1
  shift
  node -e '
    const [expression, ...pairs] = process.argv.slice(1)
    const args = Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]))
    const text = require("node:fs").readFileSync(0, "utf8")
    const input = text.trim() === "" ? null : JSON.parse(text)
    const value = new Function("input", "args", `return (${expression})`)(input, args)
    process.stdout.write(typeof value === "string" ? value : JSON.stringify(value ?? null))
  ' "$expression" "$@"
}

# call METHOD PATH: one request with the body on standard input. Repeated by curl while the server is away or busy.
call() {
  curl --silent --show-error --fail-with-body --max-time 90 --retry 5 --retry-connrefused \
    --request "$1" "$url$2" \
    --header "authorization: Bearer $REPRISE_TOKEN" \
    --header 'content-type: application/json' --data-binary @-
}

stopping=no
trap 'stopping=yes' TERM INT

epoch=$(json '({ worker: args.worker, pools: ["default"], actions: ["shout"], runtimes: ["bash"] })' "worker=$worker" </dev/null |
  call POST /api/v1/workers | json 'input.epoch')
echo "$worker is ready"

while [ "$stopping" = no ]; do
  claims=$(json '({ worker: args.worker, epoch: Number(args.epoch), pools: ["default"], actions: ["shout"], waitMs: 2000 })' \
    "worker=$worker" "epoch=$epoch" </dev/null | call POST /api/v1/claims) || { sleep 1; continue; }

  # A claim counts as a sign of life only for the work; the heartbeat says that the worker itself is well.
  json '({ epoch: Number(args.epoch) })' "epoch=$epoch" </dev/null | call POST "/api/v1/workers/$worker/beat" >/dev/null || true

  task=$(json 'input.claimed[0] ?? ""' <<<"$claims")
  [ -n "$task" ] || continue

  # The lease of 30 s is long enough for this work; longer work has to be renewed at POST /api/v1/leases/renew.
  if text=$(json 'input.snapshot.payload.text.toString()' <<<"$task" 2>/dev/null); then
    end=$(json '({ outcome: "succeeded", result: { text: args.text } })' "text=${text^^}" </dev/null)
  else
    end='{ "outcome": "failed", "error": { "code": "bad_payload", "message": "The payload has no text.", "retryable": false } }'
  fi
  json '({ settlements: [{ taskId: input.taskId, attempt: input.attempt, token: input.token, ...JSON.parse(args.end) }] })' \
    "end=$end" <<<"$task" | call POST /api/v1/settlements | json 'input.results[0].outcome' >/dev/null
  echo "$(json 'input.taskId' <<<"$task") done"
done

curl --silent --max-time 10 --request DELETE "$url/api/v1/workers/$worker?epoch=$epoch" \
  --header "authorization: Bearer $REPRISE_TOKEN" || true
echo "$worker has stopped"
