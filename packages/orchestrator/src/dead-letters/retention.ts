// Puts away dead letters that nobody came for (B14), where an operator's rule says so and names a folder. A page of old dead letters is
// written to a file, as `reprise export --raw` writes them; the file is synced; then those tasks are discarded, each by its id and the
// generation that was written. So nothing is discarded that is not on the disk. After a crash in between the lines are written again, to
// another file: an import takes each task in once. What was discarded goes by the rule for discarded tasks.

import { randomUUID } from 'node:crypto'
import {
  type By,
  check,
  DEAD_LETTERS_EXPORTED_TOTAL,
  type Duration,
  durationMs,
  type Engine,
  exportTask,
  formatDuration,
  type Meter,
  present,
  refuseNoEngine,
  type Service,
  searchTasks,
  silentMeter,
  type Task,
  type TaskFilter,
  type TaskId,
} from '@reprise/core'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from '../service.ts'
import { SERVICE_CHECKS } from '../service-checks.ts'
import { ExportFile } from './export-file.ts'
import { passOn, takeTurn } from './turn.ts'

/** The rule, as people write it. */
export interface DeadLetterRule {
  /** How long a task has been a dead letter of this store. */
  readonly after: Duration
  /** The folder of the files. It is made if it is not there. */
  readonly exportTo: string
}

/** Moments at which a test may let the process crash. */
export type DeadLetterPoint = 'read' | 'exported' | 'discarded'

export interface DeadLetterRetentionOptions extends ServiceOptions, DeadLetterRule {
  readonly engine: RetentionEngine
  readonly meter?: Meter | undefined
  /** From the end of one pass over all dead letters to the next; an hour if not given. */
  readonly intervalMs?: number
  /** For tests that crash the process. */
  readonly at?: (point: DeadLetterPoint) => void
}

type RetentionEngine = Pick<Engine, 'task' | 'tasks' | 'counts' | 'executions' | 'change' | 'collection' | 'now'>

const ACTOR = 'retention'
const INTERVAL_MS = 3_600_000
/** How often it looks whether a pass is due. */
const LOOK_MS = 60_000
/** Others have their turn between two pages. */
const REST_MS = 50
const PAGE = 100

const CHECKS: check.Table<DeadLetterRetentionOptions> = {
  ...SERVICE_CHECKS,
  after: check.anything,
  exportTo: check.text,
  intervalMs: check.ms,
  at: check.anything,
}

export function createDeadLetterRetention(options: DeadLetterRetentionOptions): Service {
  check.options(options, CHECKS, 'option of the retention of dead letters', ['after', 'exportTo'])
  const { engine, meter = silentMeter, exportTo, intervalMs = INTERVAL_MS, at = () => undefined } = options
  refuseNoEngine(engine, 'change', 'createDeadLetterRetention')
  const afterMs = durationMs(options.after, 'retention of dead letters')
  const around = surroundings('retention of dead letters', options)
  return createLoop('retention of dead letters', around, () => {
    const owner = randomUUID()
    const file = new ExportFile(exportTo)
    const pass = new RetentionPass({ engine, meter, file, at }, afterMs)
    return {
      async round() {
        if (await takeTurn(engine, owner)) {
          if (await pass.goOn()) return REST_MS
          await passOn(engine, owner, intervalMs)
        }
        const { count, name } = await pass.end()
        if (name !== null) around.log.info('Old dead letters were exported and discarded.', { count, file: name })
        return jitteredMs(Math.min(LOOK_MS, intervalMs), around.random)
      },
      async leave() {
        await pass.end()
        await passOn(engine, owner, 0)
      },
    }
  })
}

interface Tools {
  readonly engine: RetentionEngine
  readonly meter: Meter
  readonly file: ExportFile
  readonly at: (point: DeadLetterPoint) => void
}

/** One pass after the other over all dead letters, a page at a time. */
class RetentionPass {
  readonly #tools: Tools
  readonly #filter: TaskFilter
  readonly #age: string
  #cursor: string | null = null
  #count = 0
  #name: string | null = null

  constructor(tools: Tools, afterMs: number) {
    this.#tools = tools
    this.#filter = olderThan(afterMs)
    this.#age = formatDuration(afterMs)
  }

  /** One page. Whether there are more. */
  async goOn(): Promise<boolean> {
    const { engine, file, at } = this.#tools
    const now = await engine.now()
    const page = await searchTasks(engine, this.#filter, { now, limit: PAGE, ...present({ cursor: this.#cursor }) })
    if (page.items.length > 0) {
      const lines: string[] = []
      for (const task of page.items) lines.push(JSON.stringify(await exportTask(engine, task)))
      at('read')
      this.#name = await file.append(lines, now)
      at('exported')
      await this.#discard(page.items, this.#name)
      at('discarded')
    }
    // Only now: after an error the same page is read again.
    this.#cursor = page.next
    return page.next !== null
  }

  async #discard(tasks: readonly Task[], name: string): Promise<void> {
    const { engine, meter } = this.#tools
    const by: By = { actor: ACTOR, reason: `dead for more than ${this.#age}; exported to ${name}` }
    const select = { ids: tasks.map(({ id }) => id), generations: tasks.map(({ generation }) => generation) }
    const pools = new Map<TaskId, string>(tasks.map(({ id, pool }) => [id, pool]))
    let cursor: string | null = null
    do {
      const from: { readonly cursor?: string } = cursor === null ? {} : { cursor }
      const { changed, next } = await engine.change({ kind: 'discard', select, by, ...from })
      for (const id of changed) meter.count(DEAD_LETTERS_EXPORTED_TOTAL, { pool: pools.get(id) ?? '' })
      this.#count += changed.length
      cursor = next
    } while (cursor !== null)
  }

  /** What was put away since the end before. */
  async end(): Promise<{ readonly count: number; readonly name: string | null }> {
    const result = { count: this.#count, name: this.#name }
    this.#cursor = null
    this.#count = 0
    this.#name = null
    await this.#tools.file.close()
    return result
  }
}

/** What was imported has been here since then only, however long ago it died. */
const olderThan = (amount: number): TaskFilter => ({
  terms: [
    { negated: false, condition: { kind: 'status', statuses: ['dead'] } },
    { negated: false, condition: { kind: 'compare', field: 'died', operator: '>', amount } },
    { negated: false, condition: { kind: 'compare', field: 'age', operator: '>', amount } },
  ],
})
