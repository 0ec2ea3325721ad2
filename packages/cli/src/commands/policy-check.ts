// reprise policy check: are files of policies and packs right, and is anything in them hardly meant?

import { messageOf } from '@reprise/core'
import type { Problem } from '@reprise/policies'
import type { CommandDefinition } from '../command/definition.ts'
import { usageError } from '../output/errors.ts'
import { EXIT } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'

interface Verdict {
  readonly path: string
  readonly kind: 'policies' | 'packs'
  readonly ok: boolean
  /** How many policies, or actions, were read. */
  readonly count: number
  readonly problems: readonly Problem[]
  readonly notes: readonly string[]
}

export const policyCheck: CommandDefinition = {
  path: ['policy', 'check'],
  group: 'Policies',
  summary: 'Check files of retry policies and packs',
  details:
    'Checks files of retry policies, and packs of actions with --packs. Without a file: those of the configuration. Exit code 2 if something is wrong. What is allowed but probably a mistake is only pointed out.',
  arguments: [{ name: '[files...]', about: 'Files of retry policies' }],
  settings: ['policies', 'packs'],
  examples: [
    ['reprise policy check', 'Those that are configured'],
    ['reprise policy check config/tasks/retry-policies.yaml --packs packs/', 'In a pipeline'],
  ],
  async run(invocation) {
    const { values } = await invocation.configuration()
    const { resolve } = await import('node:path')
    const given = invocation.arguments.map((file) => resolve(invocation.host.cwd, file))
    const files = given.length > 0 ? given : values.policies === null ? [] : [values.policies]
    if (files.length === 0 && values.packs.length === 0) {
      throw usageError(
        'There is nothing to check: no file was named, and none is configured.',
        "Name a file: 'reprise policy check config/tasks/retry-policies.yaml'.",
      )
    }
    const verdicts = [
      ...(await Promise.all(files.map(checkPolicies))),
      ...(await Promise.all(values.packs.map(checkPacks))),
    ]
    invocation.output.one({ ok: verdicts.every(({ ok }) => ok), files: verdicts }, ({ line, paint }) => {
      for (const { path, kind, ok, count, problems, notes } of verdicts) {
        const [one, more] = kind === 'policies' ? ['policy', 'policies'] : ['action', 'actions']
        if (ok) line(`${paint('green', 'ok')}     ${plain(path)}: ${count} ${count === 1 ? one : more}`)
        for (const problem of problems) line(`${paint('red', 'wrong')}  ${plain(whereAndWhat(problem))}`)
        for (const note of notes) line(`${paint('yellow', 'note')}   ${plain(path)}: ${plain(note)}`)
      }
    })
    return verdicts.every(({ ok }) => ok) ? EXIT.ok : EXIT.usage
  },
}

const whereAndWhat = ({ file, line, column, path, message }: Problem): string =>
  `${file}:${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`

async function checkPolicies(path: string): Promise<Verdict> {
  const { parsePolicies, policyNotes, readFileText } = await import('@reprise/policies')
  return verdict(path, 'policies', async () => {
    const book = parsePolicies((await readFileText(path)).text, { file: path, version: 0 })
    return { count: book.policies.length, notes: policyNotes(book) }
  })
}

async function checkPacks(path: string): Promise<Verdict> {
  const { loadPacks } = await import('@reprise/policies')
  return verdict(path, 'packs', async () => {
    const packs = await loadPacks(path)
    return { count: packs.reduce((sum, { actions }) => sum + actions.length, 0), notes: [] }
  })
}

async function verdict(
  path: string,
  kind: Verdict['kind'],
  read: () => Promise<Pick<Verdict, 'count' | 'notes'>>,
): Promise<Verdict> {
  const { ConfigurationError } = await import('@reprise/policies')
  try {
    return { path, kind, ok: true, problems: [], ...(await read()) }
  } catch (error) {
    const problems =
      error instanceof ConfigurationError
        ? error.problems
        : [{ file: path, line: 1, column: 1, path: '', message: messageOf(error) }]
    return { path, kind, ok: false, count: 0, problems, notes: [] }
  }
}
