// What runs inside the container of one attempt: the ephemeral worker fetches the payload, runs this handler, calls back and exits.
// All it needs is in its environment. The payload says what the handler acts out.

import { PermanentError, runEphemeral } from '@reprise/worker/ephemeral'

interface Work {
  readonly text: string
  /** `clone`: the repository can't be cloned at the first attempt. `memory`: the first container runs out of memory. */
  readonly trouble?: 'clone' | 'memory'
}

await runEphemeral(({ text, trouble }: Work, { attempt }) => {
  // As the kernel does it: no goodbye, no callback.
  if (attempt === 1 && trouble === 'memory') process.kill(process.pid, 'SIGKILL')
  if (attempt === 1 && trouble === 'clone') {
    throw new PermanentError('The repository cannot be cloned: 404.', { code: 'CLONE_FAILED' })
  }
  return { words: text.split(' ').length }
})
