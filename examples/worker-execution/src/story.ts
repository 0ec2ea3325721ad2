// What the example shows, step by step, and checks on the way: it throws where something is not as it says.

import assert from 'node:assert/strict'
import { type Engine, type OutgoingMessage, sleep, systemClock, type TaskId, type TaskStatus } from '@reprise/core'
import type { Clouds } from './clouds.ts'
import { POOL, startService } from './service.ts'

interface Sent {
  readonly id: string
  readonly action: string
  readonly trouble?: 'clone' | 'memory'
}

const TASKS: readonly Sent[] = [
  { id: 'implement-1', action: 'code.implement' },
  { id: 'implement-2', action: 'code.implement', trouble: 'memory' },
  { id: 'digest-1', action: 'digest' },
  { id: 'digest-2', action: 'digest' },
  { id: 'hunt-1', action: 'bug.hunt', trouble: 'clone' },
]

export async function show(
  engine: Engine,
  clouds: Clouds,
  tell: (line: string) => void,
  publicUrl?: string,
): Promise<void> {
  const { queue, isFake } = clouds
  const stamp = isFake ? '' : `-${String(await engine.now())}`
  const tasks = TASKS.map(({ trouble, ...task }) => {
    const isActed = trouble === 'clone' || isFake
    return { ...task, id: `${task.id}${stamp}`, ...(trouble !== undefined && isActed ? { trouble } : {}) }
  })
  const [first] = tasks
  const service = await startService(engine, clouds, publicUrl)
  try {
    // A producer sends, and the first message twice, as SQS may deliver it twice.
    const sent = await queue.send([...tasks, ...(first === undefined ? [] : [first])].map(messageOf))
    assert.deepEqual(
      sent.filter((problem) => problem !== null),
      [],
    )
    tell(`${tasks.length} tasks are sent to the queue '${queue.name}', ${first?.id} twice.`)

    const failed = tasks.find(({ trouble }) => trouble === 'clone')?.id ?? ''
    for (const { id } of tasks) await until(engine, id, id === failed ? 'dead' : 'succeeded')
    for (const { id } of tasks) tell(`${id}: ${await told(engine, id)}`)

    // The operator's way, as the source has it.
    const retry = () =>
      fetch(`${service.url}/dashboard/executions/${failed}/retry`, { method: 'POST', headers: { 'x-dev-user': 'ann' } })
    const accepted = await retry()
    const body = await accepted.text()
    assert.equal(accepted.status, 202, body)
    tell(`An operator retries ${failed}: 202 ${body}`)
    await until(engine, failed, 'succeeded', true)
    tell(`${failed}: ${await told(engine, failed)}`)
    const refused = await retry()
    const { error } = (await refused.json()) as { readonly error: string }
    assert.equal(refused.status, 409)
    tell(`A second retry is refused: 409 ${error}`)

    await emptied(clouds)
    const { items } = await engine.executions(first?.id as TaskId)
    assert.equal(items.length, 1, 'the message that came twice ran once')
    const lost = tasks.find(({ trouble }) => trouble === 'memory')?.id
    const losses = lost === undefined ? 0 : ((await engine.task(lost as TaskId))?.losses ?? 0)
    assert.equal(losses, lost === undefined ? 0 : 1)
    tell(
      `Shown on ${engine.info.kind}: ${tasks.length} tasks came by SQS and ended once each in ECS; the duplicate started nothing, ` +
        `${losses} container that vanished was found and replaced, the retry went out as attempt 2, the queue is empty.`,
    )
  } finally {
    await service.stop()
  }
}

function messageOf({ id, action, trouble }: Sent): OutgoingMessage {
  const payload = { text: `work for ${id}`, ...(trouble === undefined ? {} : { trouble }) }
  return {
    body: JSON.stringify({ id, action, pool: POOL, payload }),
    attributes: { taskType: action },
    group: action,
    dedupeId: id,
  }
}

const never = new AbortController().signal

async function until(engine: Engine, id: string, status: TaskStatus, isRetried = false): Promise<void> {
  for (;;) {
    const since = engine.mark()
    const now = (await engine.task(id as TaskId))?.state.status
    if (now === status) return
    // A dead letter that is retried stays dead until an orchestrator takes its message.
    const isOver = now === 'succeeded' || now === 'cancelled' || now === 'discarded' || (now === 'dead' && !isRetried)
    assert(!isOver, `${id} should be ${status}, and is ${now}: ${await told(engine, id)}`)
    await engine.wait({ since, tasks: [id as TaskId] }, 200)
  }
}

async function emptied({ queue }: Clouds): Promise<void> {
  for (;;) {
    const { visible, inFlight, delayed } = await queue.facts()
    if (visible + inFlight + delayed === 0) return
    await sleep(systemClock, 100, never, { hold: true })
  }
}

/** Its attempts, in a few words. */
async function told(engine: Engine, id: string): Promise<string> {
  const { items } = await engine.executions(id as TaskId)
  return items
    .map(
      ({ attempt, status, failure }) => `attempt ${attempt} ${status}${failure === null ? '' : ` (${failure.code})`}`,
    )
    .join(', ')
}
