// What runs inside the container of one attempt: fetches its payload, does the work, calls back, exits. Everything it needs is in
// its environment. It has no dependency, so the image is Node and this file. The payload says what it acts out.

interface Work {
  readonly text: string
  /** `clone`: the repository can't be cloned at the first attempt. `memory`: the first container runs out of memory. */
  readonly trouble?: 'clone' | 'memory'
}

const { env } = process
const attempt = Number(env.REPRISE_ATTEMPT)
const callback = env.REPRISE_CALLBACK_URL ?? ''
const token = env.REPRISE_LEASE_TOKEN ?? ''
const taskId = env.REPRISE_TASK_ID ?? ''

const path = `/task-payload/${encodeURIComponent(taskId)}/${attempt}`
const fetched = await fetch(new URL(path, callback), { headers: { authorization: `Bearer ${token}` } })
if (!fetched.ok) throw new Error(`The payload is not given out: ${fetched.status} ${await fetched.text()}`)
const { payload } = (await fetched.json()) as { readonly payload: Work }

const isFirst = attempt === 1
// As the kernel does it: no goodbye, no callback.
if (isFirst && payload.trouble === 'memory') process.kill(process.pid, 'SIGKILL')

const end =
  isFirst && payload.trouble === 'clone'
    ? { status: 'failed', error: { code: 'CLONE_FAILED', message: 'The repository cannot be cloned: 404.' } }
    : { status: 'succeeded', result: { words: payload.text.split(' ').length } }
const answer = await fetch(callback, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ taskId, attempt, token, ...end }),
})
if (!answer.ok) throw new Error(`The callback was refused: ${answer.status} ${await answer.text()}`)
