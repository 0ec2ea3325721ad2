// reprise audit: who did what, whether the record of it is whole, and a copy of it to keep elsewhere.

import type { OperationOutput } from '@reprise/client'
import type { AuditLine } from '@reprise/orchestrator'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { showList } from '../command/rows.ts'
import { LIMIT, verbOf } from '../command/shared-options.ts'
import { usageError } from '../output/errors.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'
import { isoTime } from '../output/times.ts'
import { fileLines } from '../tasks/file-lines.ts'

type Verified = OperationOutput<'verifyAudit'>

export const audit: CommandDefinition = {
  path: ['audit'],
  group: 'Operate',
  summary: 'Show who did what, and check that the record is whole',
  details: [
    'The journal records everything unusual and every action of an operator. An orchestrator seals its entries every few seconds: each seal holds a digest of every entry and the hash of the seal before.',
    'Verbs: list, newest first; verify, which names each entry that was changed, removed, swapped or added, and ends with code 1 if there is one; export, which writes the sealed journal as lines of JSON. Keep the seal that verify prints, and give it with --expected later: then verify also finds a record that was written anew from its beginning. verify --file checks an export, or the file of the setting audit.file, without a store.',
  ].join('\n\n'),
  arguments: [{ name: '[verb]', about: 'list, verify or export; list if missing' }],
  options: [
    { flags: '--actor <actor>', about: "For list: only of this actor, or of all with this beginning: 'token:*'" },
    { flags: '--type <types>', about: 'For list: only these types: operation.*,lanes.*' },
    { flags: '--since <when>', about: 'For list: nothing earlier: 15m, 2h, or 2030-01-31T12:00:00Z' },
    { flags: '--expected <seal>', about: 'For verify: a seal that was printed before, <number>:<hash>' },
    { flags: '--file <file>', about: 'For verify: check this file' },
    { flags: '--after <number>', about: 'For export: only what follows this seal' },
    LIMIT,
  ],
  examples: [
    ["reprise audit --type 'operation.*' --since 1d", 'Who changed something today?'],
    ['reprise audit verify', 'Is the record as it was written?'],
    ['reprise audit export > audit.ndjson', 'A copy for the archive'],
    ['reprise audit verify --file audit.ndjson', 'Is the copy whole?'],
  ],
  run: (invocation) => verbOf('audit', invocation.arguments[0] ?? 'list', ACTS)(invocation),
}

type Act = (invocation: Invocation) => Promise<ExitCode | undefined>

const ACTS: Readonly<Record<string, Act>> = {
  list: (invocation) =>
    showList(invocation, {
      read: (page) => invocation.api.listAudit({ ...page, ...invocation.options.given('actor', 'type', 'since') }),
      key: ({ id }) => id,
      columns: () => [
        { title: 'WHEN', value: ({ at }) => isoTime(at) },
        { title: 'WHO', value: ({ actor }) => actor, flexible: true },
        { title: 'WHAT', value: ({ type, data }) => (typeof data.operation === 'string' ? data.operation : type) },
        { title: 'ABOUT', value: ({ taskId, data }) => taskId ?? textOf(data.input), flexible: true, below: true },
        { title: 'WHY', value: ({ reason }) => reason, flexible: true, below: true },
      ],
      none: 'Nothing of that kind is on record.',
    }),
  verify: async (invocation) => {
    const file = invocation.options.text('file')
    return file === undefined ? verifyStore(invocation) : verifyFile(invocation, file)
  },
  async export(invocation) {
    const { output, options } = invocation
    const after = options.whole('after', 0, Number.MAX_SAFE_INTEGER)
    let count = 0
    for await (const line of (await invocation.connect()).exportAudit(after === undefined ? {} : { after })) {
      output.json(JSON.stringify(line))
      if (line.kind === 'seal') count++
    }
    output.note(`${count} ${count === 1 ? 'seal' : 'seals'} written, with the entries that are still there.`)
    return undefined
  },
}

async function verifyStore({ api, options, output }: Invocation): Promise<ExitCode | undefined> {
  const given = options.given('expected')
  const progress = output.progress('seals')
  let found: Verified
  try {
    found = await api.verifyAudit(given)
    for (let { next } = found; next !== null; ) {
      const more: Verified = await api.verifyAudit({ ...given, cursor: next })
      found = {
        ...more,
        seals: found.seals + more.seals,
        entries: found.entries + more.entries,
        removed: found.removed + more.removed,
        problems: [...found.problems, ...more.problems],
      }
      progress.update(found.seals, null)
      next = more.next
    }
  } finally {
    progress.end()
  }
  const { seals, entries, removed, unsealed, head } = found
  const { next: _, ...shown } = found
  return tell(output, shown, [
    `${entries} entries under ${seals} seals.`,
    ...(removed === 0 ? [] : [`${removed} more were removed by retention.`]),
    ...(unsealed === 0 ? [] : [`${unsealed} are not sealed yet.`]),
    ...(head.number === 0
      ? ['No seal was made yet: run an orchestrator.']
      : [`Last seal: ${head.number}:${head.hash}`]),
  ])
}

async function verifyFile({ host, output }: Invocation, shown: string): Promise<ExitCode | undefined> {
  const { resolve } = await import('node:path')
  const { verifyLines } = await import('@reprise/orchestrator')
  const found = await verifyLines(linesOf(resolve(host.cwd, shown), shown), false)
  const { seals, entries, absent, head } = found
  return tell(output, found, [
    `${entries} entries under ${seals} seals.`,
    ...(absent === 0 ? [] : [`${absent} sealed entries are not in the file.`]),
    ...(head === null ? [] : [`Last seal: ${head.number}:${head.hash}`]),
  ])
}

async function* linesOf(path: string, shown: string): AsyncGenerator<AuditLine> {
  let number = 0
  for await (const line of fileLines(path, shown)) {
    number++
    const { kind } = parsed(line, shown, number)
    if (kind !== 'entry' && kind !== 'seal') throw noLine(shown, number)
    yield JSON.parse(line) as AuditLine
  }
}

function parsed(line: string, shown: string, number: number): { readonly kind?: unknown } {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // Told below.
  }
  throw noLine(shown, number)
}

const noLine = (shown: string, number: number) =>
  usageError(`Line ${number} of ${shown} is no line of an audit.`, "'reprise audit export' writes such files.")

function tell(
  output: Invocation['output'],
  found: Pick<Verified, 'problems'>,
  sentences: readonly string[],
): ExitCode | undefined {
  const isWhole = found.problems.length === 0
  output.one(found, ({ line, beside }) => {
    for (const { sentence } of found.problems) beside('! ', plain(sentence), 'red')
    for (const sentence of sentences) line(sentence)
    if (isWhole) line('Everything that was sealed is as it was.')
  })
  return isWhole ? undefined : EXIT.error
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
