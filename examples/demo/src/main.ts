// What `npm run demo` runs: the demo with its command line, its view, its closing words and its exit code. 0 when all adds
// up, 1 when it does not, 2 for a wrong command line, 130 after Ctrl-C. The store is a temporary file, removed again,
// unless another one is named.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRepriseError } from '@reprise/core'
import { discrepancies } from './audit.ts'
import { closingTable, nothingLost } from './closing-table.ts'
import { type DemoEnd, runDemo, titleOf } from './demo.ts'
import { LiveView } from './live-view.ts'
import { type DemoOptions, readCommandLine, USAGE } from './options.ts'
import { PlainView } from './plain-view.ts'
import { paintFor } from './words.ts'

const EXIT = { fine: 0, wrong: 1, usage: 2, interrupted: 130 } as const
const WIDTH_MAX = 120

const NEXT = [
  'Look at next:',
  '  README.md                     what Reprise is, and the SDK in twenty lines',
  '  examples/demo/src/actions.ts  the actions that just ran, and what they throw',
  '  docs/architecture.md          how it works: states, leases, engines',
]

const { stdout } = process

async function run(options: DemoOptions): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-demo-'))
  const title = titleOf(options)
  const view = stdout.isTTY && process.env.TERM !== 'dumb' ? new LiveView(stdout, title) : new PlainView(stdout, title)
  const interrupted = new AbortController()
  const interrupt = (): void => interrupted.abort()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt)
  // The reader of our output has gone (`npm run demo | head`): nobody is left to run for.
  stdout.on('error', interrupt)
  try {
    const address = addressOf(options.engine, join(folder, 'reprise.db'))
    const end = await runDemo(address, options, view, interrupted.signal)
    view.close()
    return conclude(end)
  } finally {
    view.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A named Redis store may hold other things: the demo keeps to a prefix of its own there. */
function addressOf(engine: string | null, file: string): string {
  if (engine === null) return `sqlite:${file}`
  if (engine.startsWith('sqlite:') || /[?&]prefix=/.test(engine)) return engine
  return `${engine}${engine.includes('?') ? '&' : '?'}prefix=reprise-demo-${process.pid}`
}

function conclude(end: DemoEnd): number {
  switch (end.kind) {
    case 'interrupted':
      print(['', 'Interrupted. The workers have stopped; a temporary store is removed.'])
      return EXIT.interrupted
    case 'unfinished':
      print([
        '',
        `${end.because} ${end.unfinished} tasks have not ended:`,
        ...end.explanations.map((line) => `  ${line}`),
      ])
      return EXIT.wrong
    case 'finished': {
      const paint = paintFor(stdout)
      const wrong = discrepancies(end.audit)
      print(closingTable(end.audit, Math.min(stdout.columns || WIDTH_MAX, WIDTH_MAX), paint))
      if (wrong.length > 0) {
        print([paint('red', 'It does not add up:'), ...wrong.map((line) => `  ${line}`)])
        return EXIT.wrong
      }
      print([paint('green', nothingLost(end.audit)), '', ...NEXT])
      return EXIT.fine
    }
  }
}

function print(lines: readonly string[]): void {
  stdout.write(`${lines.join('\n')}\n`)
}

const commandLine = readCommandLine(process.argv.slice(2))
switch (commandLine.kind) {
  case 'help':
    stdout.write(USAGE)
    break
  case 'wrong':
    process.stderr.write(`${commandLine.message}\n\n${USAGE}`)
    process.exitCode = EXIT.usage
    break
  case 'run':
    process.exitCode = await run(commandLine.options).catch((error: unknown) => {
      if (!isRepriseError(error)) throw error
      process.stderr.write(`${error.message}\n`)
      return EXIT.wrong
    })
    break
}
