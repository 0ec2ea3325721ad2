// What `npm run drill` and `npm run drill:console` run: the operator's minute on both engines, each on a store of its own, which is
// gone afterwards. With the command line alone, or with --console in a browser alone.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startRedis } from '@reprise/test-servers'
import { type ConsoleDrillResult, runConsoleDrill } from './console-drill.ts'
import { type DrillResult, runDrill } from './drill.ts'

/** Half of them are of the region that breaks: 10,000 fail there. */
const TASKS = 20_000
const ENGINES = ['sqlite', 'redis'] as const
/** What is kept of it: the post-mortems. */
const KEPT = resolve('.reprise/drill')

const { values } = parseArgs({
  options: {
    console: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    tasks: { type: 'string', default: String(TASKS) },
    engine: { type: 'string', multiple: true, default: [...ENGINES] },
  },
})

const tell = (line: string): void => void process.stderr.write(`${line}\n`)
const folder = mkdtempSync(join(tmpdir(), 'reprise-drill-'))
mkdirSync(KEPT, { recursive: true })
const engines: (DrillResult | ConsoleDrillResult)[] = []
try {
  for (const kind of ENGINES.filter((one) => values.engine.includes(one))) {
    const redis = kind === 'redis' ? await startRedis() : null
    try {
      const engine = redis?.url ?? `sqlite:${join(folder, 'reprise.db')}`
      const options = { kind, engine, tasks: Number(values.tasks), folder, tell }
      const postMortem = join(KEPT, `post-mortem-${kind}.md`)
      engines.push(await (values.console ? runConsoleDrill(options) : runDrill({ ...options, postMortem })))
    } finally {
      await redis?.stop()
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (values.json) process.stdout.write(`${JSON.stringify({ engines })}\n`)
else {
  for (const { engine, ...result } of engines) {
    process.stdout.write(
      `${engine}: ${Object.entries(result)
        .map(([name, value]) => `${name} ${value}`)
        .join(', ')}\n`,
    )
  }
}
