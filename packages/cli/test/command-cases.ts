// What every command that talks to a server or a store is tried with: its words, its exit code, and the schema of what it
// writes for programs.

import { OPERATIONS, SubmittedLine, SubmittedView } from '@reprise/operations'
import { z } from 'zod'
import { AUDITS } from './audit-cases.ts'
import { escalationChanges, escalationReads } from './escalation-cases.ts'
import { IMPORT_FILES, IMPORTS } from './import-cases.ts'
import { JOBS } from './job-cases.ts'
import { GREET, REFUSE, type Seeded, SLOW } from './server-and-store.ts'
import type { Ran } from './shell.ts'

const POLICIES = 'policies:\n  - name: patient\n    match: { actions: ["invoice.*"] }\n    template: patient\n'

/** A line that would stand in this list. */
const lineIn = (list: z.ZodType) => z.preprocess((line) => [line], list)
/** A list like this, of at least, or exactly, so many. */
const atLeast = (count: number, list: z.ZodType) => z.array(z.unknown()).min(count).and(list)
const exactly = (count: number, list: z.ZodType) => z.array(z.unknown()).length(count).and(list)

const TaskView = OPERATIONS.getTask.output
const ExecutionView = OPERATIONS.getExecution.output
const AttemptLogs = OPERATIONS.taskLogs.output.shape.items
const ExplanationView = OPERATIONS.explainTask.output
const ExportedTask = OPERATIONS.exportTasks.output
const Events = OPERATIONS.listEvents.output.shape.items
const BulkView = OPERATIONS.cancelTasks.output
const Changed = OPERATIONS.pauseLanes.output
const Holds = OPERATIONS.listHolds.output.shape.items
const Lanes = OPERATIONS.listLanes.output.shape.items
const Tenants = OPERATIONS.listTenants.output.shape.items
const Workers = OPERATIONS.listWorkers.output.shape.items
const Breakers = OPERATIONS.listBreakers.output.shape.items
const FailureGroups = OPERATIONS.listFailureGroups.output.shape.items
const CaseIn = (status: string) =>
  OPERATIONS.reopenFailureGroup.output.and(z.object({ state: z.object({ status: z.literal(status) }) }))
const Flag = OPERATIONS.setFlag.output
const Redrive = OPERATIONS.getRedrive.output
const PolicyVersion = OPERATIONS.getPolicyVersion.output
const Published = OPERATIONS.publishPolicies.output
const Queue = z.looseObject({ tasks: z.int() })
export const Inspection = OPERATIONS.inspect.output
const NoFindings = Inspection.and(z.object({ findings: z.array(z.never()) }))

const Overview = z.strictObject({
  counts: OPERATIONS.counts.output,
  workers: z.strictObject({ healthy: z.int(), degraded: z.int(), unhealthy: z.int(), draining: z.int() }),
  breakers: Breakers,
  paused: z.array(z.looseObject({ kind: z.literal('paused') })).length(1),
  failureGroups: FailureGroups,
  monitoring: z.looseObject({ level: z.enum(['ok', 'warning', 'critical']) }),
})

export interface CommandCase {
  readonly argv: readonly string[]
  readonly exit?: number
  /** Of what stands on standard output; nothing does if missing. */
  readonly json?: z.ZodType
  /** Each line is one of these, in place of `json`. */
  readonly lines?: z.ZodType
  /** It is for people, in place of `json`. */
  readonly text?: RegExp
  readonly says?: RegExp
}

/** Commands that change nothing. */
export const reads = ({ dead, queued, running, succeeded, group }: Seeded): readonly CommandCase[] => [
  { argv: ['status', '-o', 'json'], json: Overview },
  { argv: ['status', '--json'], json: Overview },
  {
    argv: ['status', dead, '--json'],
    json: z.strictObject({ task: TaskView, executions: z.array(ExecutionView).length(1), logs: AttemptLogs }),
  },
  { argv: ['status', 'nobody', '--json'], exit: 3, says: /There is no task 'nobody'/ },
  { argv: ['list', '-o', 'json'], json: z.array(TaskView).length(7) },
  { argv: ['list', '-o', 'jsonl', '--all', 'status:dead'], lines: TaskView },
  { argv: ['list', '-n', '2', '-o', 'json'], json: z.array(TaskView).length(2), says: /--cursor / },
  {
    argv: ['list', 'status:dead', 'has no address', '-o', 'json'],
    json: z.array(TaskView.extend({ action: z.literal(REFUSE) })).length(2),
  },
  { argv: ['list', 'staus:dead'], exit: 2, says: /Did you mean 'status'/ },
  { argv: ['list', '--all', '--watch'], exit: 2, says: /--all can not/ },
  { argv: ['list', '-n', 'many'], exit: 2, says: /--limit must be/ },
  { argv: ['count', '-o', 'json'], json: z.strictObject({ count: z.literal(7), values: z.tuple([]) }) },
  { argv: ['count', 'status:dead', 'has no address'], text: /^2\n$/ },
  {
    argv: ['count', 'has no address', '--by', 'tenant', '-o', 'json'],
    json: OPERATIONS.countTasks.output.omit({ next: true }).extend({ values: z.array(z.unknown()).length(2) }),
  },
  { argv: ['count', '--by', 'colour'], exit: 2, says: /Known are: status, action/ },
  { argv: ['explain', queued, '-o', 'json'], json: ExplanationView.extend({ gates: z.array(z.unknown()).min(1) }) },
  { argv: ['explain', 'nobody', '-o', 'json'], exit: 3, says: /There is no task/ },
  { argv: ['events', '-o', 'json'], json: atLeast(4, Events) },
  { argv: ['events', '-n', '2', '--until', '0s', '-o', 'json'], json: exactly(2, Events), says: /--cursor / },
  {
    argv: ['events', '-o', 'jsonl', '--type', 'lanes.*'],
    lines: lineIn(z.array(z.object({ type: z.literal('reprise.lanes.paused') })).and(Events)),
  },
  {
    argv: ['events', '--task', dead, '-o', 'json'],
    json: z
      .array(z.object({ subject: z.literal(dead) }))
      .min(1)
      .and(Events),
  },
  { argv: ['export', `id:${dead}`], lines: ExportedTask },
  { argv: ['groups', '-o', 'json'], json: exactly(1, FailureGroups) },
  { argv: ['groups', 'tenant:acme', '-o', 'json'], json: exactly(1, FailureGroups) },
  { argv: ['groups', 'died>10m', '--order', 'recent', '-o', 'json'], json: z.array(z.never()) },
  { argv: ['groups', '--action', GREET, '-o', 'json'], json: z.array(z.never()) },
  { argv: ['groups', 'list', '--state', 'open', '-o', 'json'], json: exactly(1, FailureGroups) },
  { argv: ['groups', '--state', 'resolved', '-o', 'json'], json: z.array(z.never()) },
  { argv: ['groups', 'show', 'none'], exit: 3, says: /There is no failure group/ },
  { argv: ['groups', 'show', group, '-o', 'json'], json: OPERATIONS.getFailureGroup.output },
  { argv: ['groups', 'show', group], text: /dead now +2\n/ },
  { argv: ['groups', group], text: /dead now +2\n[\s\S]*reprise redrive plan --fingerprint / },
  { argv: ['groups', group, '--json'], json: OPERATIONS.getFailureGroup.output },
  { argv: ['groups', 'code:NONE'], says: /^No dead letter matches code:NONE$/m },
  { argv: ['explain', dead], text: new RegExp(`2 dead letters have this cause: reprise groups show ${group}`) },
  { argv: ['groups', 'cause', group, '-o', 'json'], json: OPERATIONS.explainFailureGroup.output },
  { argv: ['groups', 'cause', group], text: /What is different\n.* successes .*\n/ },
  { argv: ['groups', 'cause'], exit: 2, says: /Which group/ },
  { argv: ['groups', 'ignore', group], exit: 2, says: /Until when/ },
  { argv: ['groups', 'merge', group], exit: 2, says: /Merge which groups/ },
  { argv: ['groups', 'ack', group, '-n', '3'], exit: 2, says: /--limit is for the list/ },
  { argv: ['groups', 'ack', group, '--dry-run'], text: /Would ack failure group \w+: \d+ dead letters? of / },
  ...escalationReads(group),
  { argv: ['diff', dead, '-o', 'json'], json: OPERATIONS.diffAttempt.output },
  { argv: ['diff', 'nobody'], exit: 3, says: /There is no task/ },
  { argv: ['policy', 'simulate', '--recorded', '-o', 'json'], json: OPERATIONS.replayPolicies.output },
  { argv: ['policy', 'simulate', '--recorded', '--since', '1h'], text: /tasks failed since / },
  { argv: ['report', 'open', '-o', 'json'], json: OPERATIONS.reportOpenGroups.output },
  { argv: ['report', 'open'], text: /OWNER .*\n\(nobody\) / },
  ...AUDITS,
  { argv: ['workers', '-o', 'json'], json: exactly(1, Workers) },
  { argv: ['workers', 'w1', '-o', 'json'], json: OPERATIONS.getWorker.output },
  { argv: ['workers', 'nobody', '-o', 'json'], exit: 3, says: /There is no worker/ },
  { argv: ['workers', 'drain'], exit: 2, says: /Which worker/ },
  { argv: ['workers', 'drian', 'w1'], exit: 2, says: /can not 'drian'/ },
  { argv: ['lanes', '-o', 'json'], json: atLeast(4, Lanes) },
  { argv: ['lanes', '--action', SLOW, '-o', 'jsonl'], lines: lineIn(Lanes) },
  { argv: ['lanes', 'stop'], exit: 2, says: /can not 'stop'/ },
  { argv: ['lanes', 'pause'], exit: 2, says: /Which lanes/ },
  { argv: ['lanes', 'pause', '--all', '--action', GREET], exit: 2, says: /--all means/ },
  { argv: ['lanes', 'limit', '--all'], exit: 2, says: /How many/ },
  { argv: ['lanes', 'limit', '-1', '--all'], exit: 2, says: /unknown option|not a number/ },
  { argv: ['tenants'], text: /BYTES[\s\S]* (bytes|KB)\// },
  { argv: ['tenants', '-o', 'json'], json: atLeast(1, Tenants) },
  { argv: ['breakers', '-o', 'json'], json: exactly(1, Breakers) },
  { argv: ['breakers', 'reset'], exit: 2, says: /Which breaker/ },
  { argv: ['breakers', 'reset', 'stripe'], exit: 2, says: /'action:…' or 'dependency:…'/ },
  { argv: ['breakers', 'reset', 'dependency:none'], exit: 3, says: /There is no breaker/ },
  { argv: ['flags', '-o', 'json'], json: z.array(Flag).length(3) },
  { argv: ['flags', 'set', 'dlq-inspector', 'maybe'], exit: 2, says: /on or off/ },
  { argv: ['flags', 'set', 'no-such-flag', 'on'], exit: 3, says: /There is no flag/ },
  { argv: ['scaling', '-o', 'json'], json: atLeast(1, OPERATIONS.scaling.output.shape.items) },
  { argv: ['scaling', '--pool', 'default', '--target-wait', 'soon'], exit: 2, says: /is not understood/ },
  { argv: ['series', '--minutes', '5', '-o', 'json'], json: atLeast(1, OPERATIONS.series.output.shape.items) },
  { argv: ['series', '--minutes', '0'], exit: 2, says: /--minutes must be/ },
  { argv: ['webhooks', '-o', 'json'], json: z.array(z.never()) },
  { argv: ['webhooks', 'send', 'x'], exit: 2, says: /can not 'send'/ },
  { argv: ['webhooks', 'test'], exit: 2, says: /Which webhook/ },
  { argv: ['webhooks', 'remove', 'nobody'], exit: 3, says: /There is no webhook/ },
  { argv: ['webhooks', 'create', 'https://a.example', '--type', 'lane.*'], exit: 2, says: /No event is of type/ },
  { argv: ['inspect', '-o', 'json'], json: NoFindings },
  { argv: ['retry-inspect', '-o', 'jsonl'], lines: z.looseObject({ delayQueue: Queue, deadLetters: Queue }) },
  { argv: ['inspect', '--reconcile'], exit: 2, says: /Add --yes/ },
  { argv: ['policy', 'list', '-o', 'json'], json: z.array(PolicyVersion) },
  { argv: ['policy', 'templates', '-o', 'json'], json: OPERATIONS.policyTemplates.output.shape.items },
  { argv: ['policy', 'show', '99'], exit: 3, says: /no version of the policies '99'/ },
  { argv: ['policy', 'show', 'newest'], exit: 2, says: /a number from 1/ },
  { argv: ['policy', 'publish', 'nowhere.yaml'], exit: 2, says: /can't be read/ },
  { argv: ['policy', 'publish', 'wrong.yaml'], exit: 2, says: /so it is not used/ },
  { argv: ['retry', succeeded], exit: 5, says: /is succeeded; only one that has failed can be retried/ },
  { argv: ['retry', 'nobody'], exit: 3, says: /There is no task/ },
  { argv: ['cancel'], exit: 2, says: /Which tasks/ },
  { argv: ['cancel', dead, '--all'], exit: 2, says: /in one way only/ },
  { argv: ['cancel', '--all'], exit: 2, says: /Add --yes/ },
  {
    argv: ['cancel', '--all', '--dry-run', '-o', 'json'],
    json: BulkView.extend({ matched: z.literal(4), byAction: atLeast(2, z.unknown()) }),
  },
  { argv: ['cancel', running, dead, '--dry-run', '-o', 'json'], exit: 5, json: BulkView, says: /is dead/ },
  {
    argv: ['redrive', '--query', 'tenant:acme', '--dry-run', '-o', 'json'],
    json: BulkView.extend({ matched: z.literal(1) }),
  },
  { argv: ['discard', 'nobody', '-o', 'json'], exit: 3, json: BulkView.extend({ changed: z.array(z.never()) }) },
  { argv: ['promote', dead, '-o', 'json'], exit: 5, json: BulkView, says: /promote is for tasks that are waiting/ },
  { argv: ['submit'], exit: 2, says: /Which action/ },
  { argv: ['submit', GREET, '{name:1}'], exit: 2, says: /is not JSON/ },
  { argv: ['submit', GREET, '@nowhere.json'], exit: 2, says: /can't be read/ },
  { argv: ['submit', GREET, '--label', 'novalue'], exit: 2, says: /key=value/ },
  { argv: ['submit', GREET, '--priority', '10'], exit: 2, says: /from 0 to 9/ },
  { argv: ['submit', GREET, '--deadline', '2030-99-99'], exit: 2, says: /--deadline must be/ },
  {
    argv: ['submit', '--bulk', 'wrong.ndjson'],
    exit: 2,
    says: /Of 3 lines 2 can't be submitted, so none was:\n {2}line 2/,
  },
  { argv: ['submit', '--bulk', 'tasks.ndjson', '--wait'], exit: 2, says: /beside --bulk/ },
  { argv: ['job', 'list', '-o', 'json'], json: z.array(z.never()) },
  { argv: ['job', 'show', 'nobody'], exit: 3, says: /There is no job 'nobody'/ },
  { argv: ['job', 'watch', 'nobody'], exit: 3, says: /There is no job 'nobody'/ },
  { argv: ['job', 'retry', 'nobody'], exit: 3, says: /There is no job 'nobody'/ },
  { argv: ['job', 'run', GREET], exit: 2, says: /either --range or --file/ },
  { argv: ['job', 'run', GREET, '--range', '5'], exit: 2, says: /from\.\.to/ },
  { argv: ['watch', 'nofield:x'], exit: 2, says: /there is no field/ },
]

/** Commands that change something, in this order. */
export const changes = ({ dead, deadToo, queued, waiting, group }: Seeded): readonly CommandCase[] => [
  ...IMPORTS,
  { argv: ['submit', GREET, '{"name":"Cid"}', '--id', 'cid', '-o', 'json'], json: SubmittedView },
  {
    argv: ['submit', GREET, '{"name":"Cid"}', '--id', 'cid', '-q', '-o', 'json'],
    json: SubmittedView.extend({ outcome: z.literal('duplicate') }),
  },
  { argv: ['submit', GREET, '@payload.json', '--id', 'cid'], exit: 5, says: /was submitted with another payload/ },
  { argv: ['submit', GREET, '--dedupe-for', '24h'], exit: 2, says: /there is no --dedupe-key/ },
  {
    argv: ['submit', GREET, '--dedupe-key', 'daily', '--dedupe-for', '24h', '--delay', '1h', '-o', 'json'],
    json: SubmittedView.extend({ outcome: z.literal('accepted') }),
  },
  {
    argv: ['submit', GREET, '--dedupe-key', 'daily', '-q', '-o', 'json'],
    json: SubmittedView.extend({ outcome: z.literal('duplicate') }),
  },
  {
    argv: [
      'submit',
      GREET,
      '-',
      '--id',
      'dot',
      '--label',
      'a=b=c',
      '--label',
      'd=e',
      '--priority',
      '9',
      '--deadline',
      '2h',
    ],
    text: /^dot\n$/,
  },
  { argv: ['submit', SLOW, '-o', 'json', '--wait', '50ms'], exit: 7, json: TaskView, says: /REPRISE_TIMED_OUT/ },
  { argv: ['submit', '--bulk', 'tasks.ndjson', '-o', 'jsonl'], lines: SubmittedLine },
  { argv: ['submit', SLOW, '--bulk', '-', '-o', 'json'], json: z.array(SubmittedLine).length(1) },
  ...JOBS,
  { argv: ['note', deadToo, 'asked billing', '-o', 'json'], json: OPERATIONS.addNote.output },
  { argv: ['status', deadToo], text: /note {2}asked billing {2}\(/ },
  { argv: ['note', 'nobody', 'x'], exit: 3, says: /There is no task 'nobody'/ },
  { argv: ['note', group, 'fixed in 2.3'], text: /Noted on failure group [0-9a-f]{16} as / },
  { argv: ['note', deadToo], exit: 2, says: /one text in quotes/ },
  { argv: ['note', '--remove', 'nothing'], exit: 3, says: /There is no note/ },
  ...escalationChanges(group),
  { argv: ['groups', 'ack', group, '--owner', 'team:mail', '-o', 'json'], json: CaseIn('acknowledged') },
  { argv: ['groups', 'resolve', group, '--in-version', '2.1'], text: /is resolved in version 2.1 \(team:mail\)/ },
  { argv: ['groups', 'ignore', group, '--for', '2h', '--count', '5', '-o', 'json'], json: CaseIn('ignored') },
  { argv: ['groups', 'split', group, '--by', 'tenant', '-o', 'json'], json: CaseIn('ignored') },
  { argv: ['groups', 'show', group], text: /TENANT +DEAD +QUERY/ },
  {
    argv: ['groups', 'split', group, '--by', 'none', '-o', 'json'],
    json: CaseIn('ignored').and(z.object({ splitBy: z.null() })),
  },
  { argv: ['groups', 'reopen', group, '-o', 'json'], json: CaseIn('open') },
  {
    argv: ['retry', dead, '-o', 'json', '--reason', 'once more'],
    json: OPERATIONS.retryExecution.output.extend({ attempt: z.literal(2) }),
  },
  { argv: ['retry', dead], exit: 5 },
  { argv: ['promote', waiting, '-o', 'json'], json: BulkView.extend({ changed: z.tuple([z.literal(waiting)]) }) },
  { argv: ['redrive', 'plan', deadToo], exit: 2, says: /needs a reason/ },
  {
    argv: ['redrive', 'plan', deadToo, '--reason', 'a try', '-o', 'json'],
    json: Redrive.extend({ state: z.literal('ready'), total: z.literal(1) }),
  },
  {
    argv: ['redrive', 'start', '--action', REFUSE, '--tenant', 'acme', '--reason', 'a try', '--dry-run', '-o', 'json'],
    json: Redrive.extend({ total: z.literal(1) }),
  },
  { argv: ['redrive', 'list', '-o', 'json'], json: atLeast(2, z.array(Redrive)) },
  { argv: ['redrive', 'show', 'nothing'], exit: 3, says: /There is no redrive/ },
  { argv: ['redrive', 'pause', 'nothing', '--reason', 'a try'], exit: 3 },
  { argv: ['dlq', 'list', '--tenant', 'acme', '-o', 'json'], json: atLeast(1, z.array(TaskView)) },
  { argv: ['dlq', 'show', deadToo, '-q'], text: /dead/ },
  { argv: ['dlq', 'bury'], exit: 2, says: /can not 'bury'/ },
  {
    argv: ['dlq', 'discard', deadToo, '-o', 'json'],
    json: BulkView.extend({ changed: z.tuple([z.literal(deadToo)]) }),
  },
  {
    argv: ['dlq', 'restore', deadToo, '-o', 'json'],
    json: BulkView.extend({ changed: z.tuple([z.literal(deadToo)]) }),
  },
  { argv: ['dlq', 'restore', deadToo, '-q'], exit: 5, text: /^0 tasks are dead letters again/ },
  {
    argv: ['redrive', '--action', REFUSE, '--yes', '-o', 'json'],
    json: BulkView.extend({ changed: z.tuple([z.literal(deadToo)]) }),
  },
  { argv: ['cancel', queued, '-o', 'json'], json: BulkView.extend({ changed: z.tuple([z.literal(queued)]) }) },
  { argv: ['cancel', queued, '-q'], exit: 5, text: /^0 tasks cancelled\.\n$/ },
  {
    argv: ['cancel', '--query', `action:${SLOW}`, '--yes', '-o', 'json'],
    json: BulkView.extend({ changed: z.array(z.string()).min(2) }),
  },
  {
    argv: ['lanes', 'pause', '--action', 'invoice.sned', '-o', 'json'],
    json: Changed.extend({ warnings: z.array(z.string()).length(1) }),
    says: /warning: .*'invoice\.sned' yet.* Did you mean 'invoice\.send'\?/,
  },
  { argv: ['lanes'], text: /HELD BY/, says: /^Held, though no lane has it yet: action invoice\.sned\. / },
  { argv: ['status'], text: /^HELD [\s\S]*^action invoice\.sned {2}/m },
  {
    argv: ['lanes', 'holds', '-o', 'json'],
    json: Holds.and(z.array(z.looseObject({ kind: z.literal('paused') }))).check(z.minLength(2)),
  },
  { argv: ['lanes', 'resume', '--action', 'invoice.sned', '-o', 'json'], json: Changed },
  { argv: ['lanes', 'pause', '--tenant', 'acme', '-o', 'json'], json: Changed.omit({ warnings: true }).strict() },
  { argv: ['lanes', 'resume', '--tenant', 'acme', '-o', 'json'], json: z.object({ changed: z.literal(true) }) },
  { argv: ['lanes', 'resume', '--tenant', 'acme', '-o', 'json'], json: z.object({ changed: z.literal(false) }) },
  { argv: ['lanes', 'limit', '2', '--tenant', 'acme', '-o', 'json'], json: Changed },
  { argv: ['lanes', 'limit', 'none', '--tenant', 'acme', '-o', 'json'], json: Changed },
  { argv: ['breakers', 'reset', 'dependency:stripe', '-o', 'json'], json: Changed },
  { argv: ['workers', 'drain', 'w1', '-o', 'json'], json: z.object({ changed: z.literal(true) }) },
  { argv: ['workers', 'drain', 'nobody'], exit: 3 },
  { argv: ['flags', 'set', 'audit-streaming', 'off', '-o', 'json'], json: Flag.extend({ on: z.literal(false) }) },
  { argv: ['flags', 'set', 'audit-streaming', 'on', '-o', 'json'], json: Flag.extend({ on: z.literal(true) }) },
  {
    argv: ['policy', 'publish', 'policies.yaml', '--dry-run', '-o', 'json'],
    json: Published.extend({ version: z.null() }),
  },
  {
    argv: ['policy', 'publish', 'policies.yaml', '--expected', '0', '--reason', 'the first ones', '-o', 'json'],
    json: Published.extend({ version: PolicyVersion.extend({ reason: z.literal('the first ones') }) }),
  },
  { argv: ['policy', 'publish', 'policies.yaml', '--expected', '0'], exit: 5, says: /Version 1/ },
  { argv: ['policy', 'show', '1', '-o', 'json'], json: PolicyVersion.extend({ text: z.literal(POLICIES) }) },
  {
    argv: ['inspect', '--reconcile', '--yes', '-o', 'json'],
    json: NoFindings,
  },
]

export const FILES = {
  ...IMPORT_FILES,
  'policies.yaml': POLICIES,
  'wrong.yaml': 'policies: 7\n',
  'rows.csv': 'name,town\n"Ann, junior",Bonn\nBob,Kyiv\n',
  'payload.json': '{"name":"Dot"}',
  'tasks.ndjson': `{"action":"${GREET}","payload":{"name":"E"},"id":"e1"}\n\n{"action":"${SLOW}","labels":{"a":"b"},"delay":"1h"}\n`,
}
export const STDIN = '{"payload":{"name":"Eve"}}'

/** What is not as the case says, in words. */
export function problemsWith(one: CommandCase, { exitCode, stdout, stderr }: Ran): readonly string[] {
  const { exit = 0, json, lines, says, text } = one
  const found = lines === undefined ? [] : stdout.split('\n').slice(0, -1)
  const written = [
    ...(json === undefined ? [] : [json.safeParse(parsed(stdout)).error]),
    ...found.map((line) => lines?.safeParse(parsed(line)).error),
  ].flatMap((error) => (error === undefined ? [] : [z.prettifyError(error)]))
  const isSilent = json === undefined && lines === undefined && text === undefined
  const problems = [
    ...(exitCode === exit ? [] : [`exit code ${exitCode} in place of ${exit}`]),
    ...(says?.test(stderr) === false ? [`does not say ${String(says)}`] : []),
    ...(text?.test(stdout) === false ? [`does not write ${String(text)}`] : []),
    ...(lines !== undefined && found.length === 0 ? ['writes no line'] : []),
    ...(isSilent && stdout !== '' ? ['writes to standard output'] : []),
    ...written,
  ]
  return problems.map((problem) => `reprise ${one.argv.join(' ')}: ${problem}\n${stdout}\n${stderr}`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
