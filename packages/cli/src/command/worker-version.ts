// `--version <text>` behind `worker` or `up` is the version of what it runs. Everywhere else, and without a text, --version shows
// that of the command itself, as people expect of any command.

import { SHARED_OPTIONS } from './program.ts'

const ROLES: ReadonlySet<string> = new Set(['worker', 'up'])
const OWN = '--version'
const MEANT = '--worker-version'

/** Shared options whose value is a word of its own. */
const WITH_VALUE: ReadonlySet<string> = new Set(
  SHARED_OPTIONS.filter(({ flags }) => flags.includes('<')).flatMap(({ flags }) => flags.match(/--?[\w-]+/g) ?? []),
)

export function withWorkerVersion(argv: readonly string[]): readonly string[] {
  const role = argv.findIndex((word, index) => !word.startsWith('-') && !WITH_VALUE.has(argv[index - 1] ?? ''))
  if (!ROLES.has(argv[role] ?? '')) return argv
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  return argv.map((word, index) => {
    if (index <= role || index >= end) return word
    if (word.startsWith(`${OWN}=`)) return `${MEANT}${word.slice(OWN.length)}`
    const next = argv[index + 1]
    return word === OWN && next !== undefined && !next.startsWith('-') ? MEANT : word
  })
}
