// The runbooks that come with the product, as they stand in packages/operations/runbooks. Made by npm run generate.

export const SHIPPED_RUNBOOKS: Readonly<Record<string, string>> = {
  "bad-payload-fix.yaml": `# Tasks died because something is wrong in what they were given. Their payloads are mended on the way.
name: bad-payload-fix
title: Mend bad payloads and run them again
about: Changes the payload of every dead letter of one cause by a patch, tries one, then ten, then a hundred, then the rest, and checks.
for:
  reasons: [validation, invalid_parameters]
inputs:
  fingerprint: { about: The failure group }
  patch: { type: json, about: 'A JSON Patch (a list) or a merge patch (an object), such as {"currency":"EUR"}' }
  left: { type: number, default: 0, min: 0, about: How many dead letters of the cause may be left }
steps:
  - name: there
    title: There are dead letters of this cause
    check:
      operation: getFailureGroup
      with: { fingerprint: "{{ inputs.fingerprint }}" }
      path: count
      at_least: 1
  - name: agree
    title: Is the patch right?
    ask: The payloads are changed by {{ inputs.patch }}. Is that right for every dead letter of this cause?
  - name: mend
    title: Run them with the patch, in stages
    redrive: { fingerprint: "{{ inputs.fingerprint }}", patch: "{{ inputs.patch }}", canary: [1, 10, 100] }
  - name: recovered
    title: No more of them are dead
    check:
      operation: countTasks
      with: { q: "status:dead fingerprint:{{ inputs.fingerprint }}" }
      path: count
      at_most: "{{ inputs.left }}"
      within: 1m
`,
  "notify-tenants.yaml": `# Tenants whose tasks died should hear of it from you.
name: notify-tenants
title: Notify the tenants that are affected
about: Finds the tenants with dead letters of one cause, asks, and tells each of them, by its webhooks and streams.
inputs:
  fingerprint: { about: The failure group }
  message: { about: What they are told }
approval: true
steps:
  - name: affected
    title: Who is affected?
    operation: countTasks
    with: { q: "status:dead fingerprint:{{ inputs.fingerprint }}", by: tenant }
  - name: agree
    title: Tell them?
    ask: 'These tenants are told "{{ inputs.message }}": {{ steps.affected.output.values }}. Is that right?'
  - name: notify
    title: Tell them
    operation: notifyTenants
    with: { fingerprint: "{{ inputs.fingerprint }}", message: "{{ inputs.message }}" }
  - name: record
    title: Leave a note on the cause
    operation: addNote
    with:
      { fingerprint: "{{ inputs.fingerprint }}", text: "Tenants were told: {{ inputs.message }} (run {{ run.id }})" }
`,
  "poison-pill-quarantine.yaml": `# Some tasks crash or hang every worker that takes them. They are taken out of the way; they can be restored for 7 days.
name: poison-pill-quarantine
title: Put poison tasks in quarantine
about: Holds the action, discards the dead letters that are poison, lets the action go on, and checks that none is left.
for:
  reasons: [worker_lost, timeout]
  codes: [crash_loop, "*LOST*"]
inputs:
  action: { about: The action whose tasks are poison }
  query: { about: "Which dead letters, as a query: fingerprint:… or label:…" }
approval: true
steps:
  - name: hold
    title: Hold the action
    operation: pauseLanes
    with: { action: "{{ inputs.action }}" }
    undo: { operation: resumeLanes, with: { action: "{{ inputs.action }}" } }
  - name: found
    title: How many are there?
    operation: countTasks
    with: { q: "status:dead action:{{ inputs.action }} {{ inputs.query }}" }
  - name: agree
    title: Are these the poison?
    ask: "{{ steps.found.output.count }} dead letters of {{ inputs.action }} agree with {{ inputs.query }}. Discard them? They can be restored for 7 days."
  - name: quarantine
    title: Take them out of the way
    operation: discardTasks
    with: { q: "action:{{ inputs.action }} {{ inputs.query }}" }
    undo: { operation: restoreTasks, with: { q: "action:{{ inputs.action }} {{ inputs.query }}" } }
  - name: release
    title: Let the action go on
    operation: resumeLanes
    with: { action: "{{ inputs.action }}" }
  - name: clean
    title: None of them is left
    check:
      operation: countTasks
      with: { q: "status:dead action:{{ inputs.action }} {{ inputs.query }}" }
      path: count
      equals: 0
      within: 30s
`,
  "replay-after-outage.yaml": `# A dependency was down, its tasks died, and it is back.
name: replay-after-outage
title: Replay after an outage
about: Sends the dead letters of one cause back to work in stages, once the dependency is back, and checks that none is left.
for:
  reasons: [connection, timeout, transient, rate_limited, worker_unavailable]
  codes: [ECONN*, ETIMEDOUT, EAI_AGAIN, ENOTFOUND, HTTP_5*]
inputs:
  fingerprint: { about: The failure group whose dead letters are replayed }
  rate: { type: number, default: 50, min: 1, max: 10000, about: At most this many per second }
  left: { type: number, default: 0, min: 0, about: How many dead letters of the cause may be left }
steps:
  - name: there
    title: There are dead letters of this cause
    check:
      operation: getFailureGroup
      with: { fingerprint: "{{ inputs.fingerprint }}" }
      path: count
      at_least: 1
  - name: back
    title: Is the dependency back?
    ask: Is what these tasks depend on back, and able to take {{ inputs.rate }} per second more?
  - name: replay
    title: Send them back in stages
    redrive: { fingerprint: "{{ inputs.fingerprint }}", canary: [1, 10, 100], ratePerS: "{{ inputs.rate }}" }
  - name: recovered
    title: No more of them are dead
    check:
      operation: countTasks
      with: { q: "status:dead fingerprint:{{ inputs.fingerprint }}" }
      path: count
      at_most: "{{ inputs.left }}"
      within: 1m
`,
  "stuck-worker-drain.yaml": `# A worker takes tasks and does not get them done. It finishes what it has, takes nothing new, and goes.
name: stuck-worker-drain
title: Drain a stuck worker
about: Has a worker finish what it has and take nothing new, waits until it has nothing left, and checks that others are healthy.
for:
  reasons: [timeout, worker_lost, stale_worker, worker_unavailable]
inputs:
  worker: { about: The id of the worker }
  workers:
    { type: number, default: 2, min: 1, about: "How many workers must be there before it is drained, itself included" }
steps:
  - name: there
    title: The worker is there
    operation: getWorker
    with: { id: "{{ inputs.worker }}" }
  - name: others
    title: Others are there to take its work
    check: { operation: listWorkers, path: items.length, at_least: "{{ inputs.workers }}" }
  - name: drain
    title: Drain it
    operation: drainWorker
    with: { id: "{{ inputs.worker }}" }
  - name: empty
    title: It has nothing left
    check:
      operation: getWorker
      with: { id: "{{ inputs.worker }}" }
      path: inFlight
      at_most: 0
      within: 5m
  - name: stopped
    title: Was the process ended or restarted?
    ask: Worker {{ inputs.worker }} has nothing left. End or restart its process now if it did not end by itself. Is that done?
`,
}
