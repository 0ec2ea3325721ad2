// Sends what is to be imported, some lines at a time, and keeps account of what became of each. Nothing is held longer than its
// answer takes, so that an import may be of any length; one that breaks off is made again, and finds what is there already.

import type { Client } from '@reprise/client'
import { messageOf } from '@reprise/core'
import type { Invocation } from '../command/invocation.ts'

/** One task on its way in: where it stands in its source, and what there is to send, or why there is nothing. */
export type Incoming =
  | { readonly place: string; readonly task: unknown; readonly bytes: number }
  | { readonly place: string; readonly problem: string }

export interface Tally {
  read: number
  accepted: number
  duplicate: number
  conflict: number
  ended: number
  refused: number
  /** Each with its place in the source. The first ones only. */
  readonly problems: string[]
}

export interface Sending {
  readonly dryRun: boolean
  readonly reason: string
  /** How many there are in all; null if nobody knows. */
  readonly total: number | null
}

const LINES_MAX = 100
const BYTES_MAX = 512 * 1_024
const PROBLEMS_MAX = 20

/** Where progress, and the outcome of each line, are told. */
export type Told = Pick<Invocation['output'], 'format' | 'progress' | 'event'>

export async function sendAll(
  output: Told,
  client: Pick<Client, 'importTasks'>,
  incoming: AsyncIterable<Incoming>,
  sending: Sending,
): Promise<Tally> {
  const tally: Tally = { read: 0, accepted: 0, duplicate: 0, conflict: 0, ended: 0, refused: 0, problems: [] }
  const progress = output.progress(sending.dryRun ? 'looked at' : 'imported')
  const note = (place: string, line: Outcome): void => {
    tally.read++
    tally[line.outcome]++
    if (line.problem !== undefined && tally.problems.length < PROBLEMS_MAX)
      tally.problems.push(`${place}: ${line.problem}`)
    if (output.format === 'jsonl') output.event({ place, ...line }, () => undefined)
  }
  try {
    for await (const batch of batches(incoming)) {
      const going = batch.flatMap((one) => ('task' in one ? [one] : []))
      const answers = going.length === 0 ? [] : await answersTo(client, going, sending, tally.read)
      let at = 0
      for (const one of batch) {
        if ('task' in one)
          note(one.place, answers[at++] ?? { id: null, outcome: 'refused', problem: 'No answer came.' })
        else note(one.place, { id: null, outcome: 'refused', problem: one.problem })
      }
      progress.update(tally.read, sending.total)
    }
  } finally {
    progress.end()
  }
  return tally
}

type Outcome = Awaited<ReturnType<Client['importTasks']>>['lines'][number]
type Going = Extract<Incoming, { readonly task: unknown }>

async function answersTo(
  client: Pick<Client, 'importTasks'>,
  going: readonly Going[],
  { dryRun, reason }: Sending,
  done: number,
): Promise<readonly Outcome[]> {
  try {
    return (await client.importTasks({ tasks: going.map(({ task }) => task), dryRun, reason })).lines
  } catch (error) {
    if (error instanceof Error) {
      const places = [...new Set([going[0]?.place, going.at(-1)?.place])].join(' to ')
      error.message = `${places}, after ${done} that are done: ${messageOf(error)} What is done stays: import it again to go on.`
    }
    throw error
  }
}

async function* batches(incoming: AsyncIterable<Incoming>): AsyncGenerator<readonly Incoming[]> {
  let batch: Incoming[] = []
  let bytes = 0
  for await (const one of incoming) {
    const size = 'task' in one ? one.bytes : 0
    if (batch.length > 0 && (batch.length === LINES_MAX || bytes + size > BYTES_MAX)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(one)
    bytes += size
  }
  if (batch.length > 0) yield batch
}
