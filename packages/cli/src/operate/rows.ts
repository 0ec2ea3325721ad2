// Shows rows once, or follows them with --watch: on a terminal the table is drawn again and again, anywhere else every row
// that is new or has changed is one line of JSON.

import { sleep } from '@reprise/core'
import type { Invocation } from '../frame/invocation.ts'
import type { Column } from '../output/table.ts'

const BEAT_MS = 2_000
const CLEAR = '\u001b[H\u001b[2J'

export interface Rows<Row> {
  readonly read: () => Promise<readonly Row[]>
  /** What makes it the same row the next time. */
  readonly key: (row: Row) => string
  readonly columns: (rows: readonly Row[], now: number) => readonly Column<Row>[]
  /** Said if there are none. */
  readonly none: string
}

export async function showRows<Row>(invocation: Invocation, { read, key, columns, none }: Rows<Row>): Promise<void> {
  const { output } = invocation
  const draw = async (): Promise<void> => {
    const rows = await read()
    output.list(rows, columns(rows, output.now()), none)
  }
  if (!invocation.options.flag('watch')) return draw()
  await follow(invocation, {
    draw,
    read: async () => (await read()).map((row) => [key(row), row] as const),
  })
}

export interface Followed {
  /** On a terminal. */
  readonly draw: () => Promise<void>
  /** Anywhere else: what there is, each with what makes it the same the next time. */
  readonly read: () => Promise<readonly (readonly [key: string, value: unknown])[]>
}

/** Until somebody asks the command to end. */
export async function follow({ host, output }: Invocation, { draw, read }: Followed): Promise<void> {
  const isScreen = output.isForPeople && host.stdout.isTTY === true
  let before = new Map<string, string>()
  while (!host.asked.aborted) {
    if (isScreen) {
      output.raw(CLEAR)
      await draw()
    } else {
      const now = new Map((await read()).map(([key, value]) => [key, JSON.stringify(value)]))
      for (const [key, text] of now) if (before.get(key) !== text) output.raw(`${text}\n`)
      before = now
    }
    await sleep(host.clock, BEAT_MS, host.asked, { hold: true })
  }
}
