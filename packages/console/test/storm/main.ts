// What `npm run console:storm` runs. Exit code 1 if the browser was held up, kept more and more, or showed something wrong.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { hasBrowser } from '../browser.ts'
import { faultsOf, LONGEST_MS_MAX } from './limits.ts'
import { runStorm } from './storm.ts'

const HELP = `Usage: npm run console:storm -- [options]

Fills a store, then lets tasks fail with the page of failures and a task open in Chromium.

  --tasks N     how many are stored before (1000000)
  --causes N    how many causes they have (10000)
  --events N    failures per second (5000)
  --seconds N   for so long (60)
  --file PATH   a store that is kept: a second run need not fill it again
  --json        the last line of stdout is one object
  --help        show this
`

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '1000000' },
    causes: { type: 'string', default: '10000' },
    events: { type: 'string', default: '5000' },
    seconds: { type: 'string', default: '60' },
    file: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

const tell = (line: string): void => void process.stderr.write(`${line}\n`)
const print = (line: string): void => void process.stdout.write(`${line}\n`)

async function run(): Promise<number> {
  if (values.help) {
    print(HELP)
    return 0
  }
  if (!hasBrowser) {
    tell('There is no Chromium here.')
    return 1
  }
  const folder = mkdtempSync(join(tmpdir(), 'reprise-storm-'))
  try {
    const file = values.file === undefined ? join(folder, 'storm.db') : resolve(values.file)
    if (existsSync(file)) tell(`With the store that is there: ${file}`)
    const result = await runStorm({
      file,
      folder,
      tasks: Number(values.tasks),
      causes: Number(values.causes),
      eventsPerS: Number(values.events),
      seconds: Number(values.seconds),
      tell,
    })
    const faults = faultsOf(result)
    const { longestMs, keptMb } = result
    print(`${result.tasks} tasks, ${result.causes} causes, ${result.eventsPerS} failures a second`)
    print(`the largest causes were shown after ${result.shownMs.toFixed(0)} ms`)
    for (const page of ['failures', 'task'] as const) {
      const { before, after } = keptMb[page]
      print(
        `${page.padEnd(9)} longest task ${longestMs[page].toFixed(0)} ms (at most ${LONGEST_MS_MAX}), kept ${before.toFixed(1)} MB before, ${after.toFixed(1)} MB after`,
      )
    }
    for (const fault of faults) print(`✕ ${fault}`)
    if (values.json) print(JSON.stringify(result))
    return faults.length === 0 ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

process.exitCode = await run()
