// A process that launches one order and says what came of it: to be killed by its tests, or to race with others.
// Arguments: the directory, the command line as JSON. The order comes on standard input, as a line of JSON.

import { createInterface } from 'node:readline'
import type { LaunchOrder } from '@reprise/core'
import { createProcessLauncher } from '../src/index.ts'

const [directory = '', argv = '[]'] = process.argv.slice(2)
const launcher = createProcessLauncher({
  directory,
  commands: { render: { argv: JSON.parse(argv) as string[] } },
  killGrace: '5s',
})
process.stdout.write('ready\n')
createInterface({ input: process.stdin }).once('line', (order) => {
  void launcher
    .launch(JSON.parse(order) as LaunchOrder, new AbortController().signal)
    .then(
      ({ handle }) => ({ handle }),
      (error: Error & { code?: string }) => ({ code: error.code ?? error.name }),
    )
    .then((answer) => process.stdout.write(`${JSON.stringify(answer)}\n`))
})
