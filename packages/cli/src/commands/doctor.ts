// reprise doctor: is everything here as it should be, and if not, what to do?

import type { CommandDefinition } from '../command/definition.ts'
import { EXIT } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'

const STYLES = { ok: 'green', warn: 'yellow', fail: 'red' } as const

export const doctor: CommandDefinition = {
  path: ['doctor'],
  group: 'Set up',
  summary: 'Check that everything is set up correctly',
  details:
    'Looks at Node, the configuration, policies and packs, the disk, the server and its clock and version, the store and what it survives, workers and the port; and says what to do about each problem. Changes nothing. Exit code 1 if a check fails.',
  settings: ['data', 'host', 'port', 'policies', 'packs'],
  examples: [
    ['reprise doctor', 'Something is odd'],
    ['reprise doctor --engine redis://localhost:6379 -o json', 'Can this Redis be trusted with tasks?'],
  ],
  async run(invocation) {
    const { examine } = await import('../doctor/doctor.ts')
    const findings = await examine(await invocation.inspectConfiguration(), invocation.host)
    const failed = findings.some(({ state }) => state === 'fail')
    invocation.output.one({ ok: !failed, findings }, ({ beside, prose }) => {
      for (const [at, { check, state, says, advice }] of findings.entries()) {
        beside(`${state.padEnd(4)}  `, `${check}: ${plain(says)}`, STYLES[state])
        // Several findings of one check may have one way out: it is said below the last of them.
        const isSaid = findings[at + 1]?.check === check && findings[at + 1]?.advice === advice
        if (advice !== null && !isSaid) prose(plain(advice), { indent: 6, style: 'dim' })
      }
    })
    return failed ? EXIT.error : EXIT.ok
  },
}
