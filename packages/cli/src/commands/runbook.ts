// reprise runbook: recovery procedures: list them, look at one, run one, and answer, resume or abort a run. And reprise
// recovery-runbook (B11), which runs one and follows it to its end.

import { sleep } from '@reprise/core'
import type { CommandDefinition, OptionDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { showList } from '../command/rows.ts'
import { DRY_RUN, LIMIT, REASON, reasonOf, YES } from '../command/shared-options.ts'
import { usageError } from '../output/errors.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'
import { relativeTime } from '../output/times.ts'
import { answerCommand, questionText, type Run, stepText, tellRun, underWay } from '../views/runbook.ts'

const INPUT: OptionDefinition = { flags: '--input <name=value>', about: 'An input of the runbook', repeatable: true }
const CAUSE: OptionDefinition = { flags: '--fingerprint <group>', about: 'The failure group that it is for' }
const FOLLOW: OptionDefinition = { flags: '--wait', about: 'Follow the run until it ends, halts, or asks something' }
const LOOK_EVERY_MS = 300
const NAME = { name: '<runbook>', about: 'Its name' } as const
const RUN = { name: '<run>', about: 'Its id' } as const

const runbookList: CommandDefinition = {
  path: ['runbook', 'list'],
  group: 'Operate',
  summary: 'List runbooks, and which helps with a cause',
  details:
    'With --fingerprint, the runbooks that are suggested for a failure group come first, with how often they helped.',
  options: [CAUSE],
  examples: [
    ['reprise runbook list', 'Which are there?'],
    ['reprise runbook list --fingerprint 5f3a0c1e9b7d2468', 'Which helps here?'],
  ],
  async run({ api, options, output }) {
    const { items } = await api.listRunbooks(options.given('fingerprint'))
    output.list(
      items,
      [
        { title: 'RUNBOOK', value: ({ name }) => name },
        { title: 'VERSION', value: ({ version }) => (version === 0 ? 'built in' : version) },
        { title: 'HELPED', value: ({ figures }) => `${figures.succeeded} of ${figures.runs}`, right: true },
        { title: 'SUGGESTED', value: ({ suggested }) => suggested ?? '', flexible: true, below: true },
        { title: 'WHAT IT DOES', value: ({ about, title }) => about || title, flexible: true, below: true },
      ],
      'There are none.',
    )
    return undefined
  },
}

const runbookShow: CommandDefinition = {
  path: ['runbook', 'show'],
  group: 'Operate',
  summary: 'Show a runbook as it is written, or a run step by step',
  arguments: [{ name: '<name>', about: 'A runbook, or the id of a run' }],
  examples: [
    ['reprise runbook show replay-after-outage', 'What does it do?'],
    ['reprise runbook show run-0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55', 'How far is it?'],
  ],
  async run({ api, output, arguments: [name = ''] }) {
    if (isRun(name)) {
      const run = await api.getRunbookRun({ id: name })
      output.one(run, (people) => tellRun(run, people, output.now()))
      return undefined
    }
    const one = await api.getRunbook({ name })
    output.one(one, ({ line }) => {
      for (const text of one.text.split('\n')) line(plain(text))
    })
    return undefined
  },
}

const runbookRuns: CommandDefinition = {
  path: ['runbook', 'runs'],
  group: 'Operate',
  summary: 'List runs of runbooks',
  options: [{ flags: '--all', about: 'Also those that have ended' }, CAUSE, LIMIT],
  examples: [['reprise runbook runs', 'What is under way, and what asks something?']],
  run: (invocation) =>
    showList(invocation, {
      read: (page) =>
        invocation.api.listRunbookRuns({
          ...page,
          ...invocation.options.given('fingerprint'),
          ...(invocation.options.flag('all') ? {} : { open: 'true' }),
        }),
      key: ({ id }) => id,
      columns: (now) => [
        { title: 'RUN', value: ({ id }) => id },
        { title: 'STATE', value: ({ state, isDryRun }) => `${state}${isDryRun ? ' (dry run)' : ''}` },
        { title: 'RUNBOOK', value: ({ runbook }) => runbook, below: true },
        { title: 'BEGAN', value: ({ createdAt }) => relativeTime(createdAt, now), below: true },
        { title: 'BY', value: ({ actor }) => actor, flexible: true, below: true },
        { title: 'ASKS', value: ({ question }) => question?.text ?? '', flexible: true, below: true },
      ],
      none: 'No run is under way.',
    }),
}

const runs = (path: CommandDefinition['path'], summary: string, isFollowed: boolean): CommandDefinition => ({
  path,
  group: 'Operate',
  summary,
  details: [
    'An orchestrator does the steps. Inputs are given as --input name=value; the runbook says which it needs. With --dry-run it does only the steps that read, and says what it would do.',
    isFollowed
      ? 'Follows the run. If the run asks something, you answer at the terminal. Ends with code 6 if the run halts, is aborted, or waits for an answer that you can not give here.'
      : 'Prints the id of the run; --wait follows it.',
  ].join(' '),
  arguments: [NAME],
  options: [INPUT, CAUSE, DRY_RUN, REASON, YES, ...(isFollowed ? [] : [FOLLOW])],
  examples: [
    [
      `reprise ${path.join(' ')} replay-after-outage --input fingerprint=5f3a0c1e9b7d2468 --dry-run`,
      'What would it do?',
    ],
    [`reprise ${path.join(' ')} stuck-worker-drain --input worker=w1 --reason 'it hangs'`, 'Do it'],
  ],
  endsWhenAsked: true,
  async run(invocation) {
    const {
      api,
      options,
      output,
      arguments: [name = ''],
    } = invocation
    const run = await api.startRunbook({
      name,
      inputs: inputsOf(options.texts('input')),
      dryRun: options.flag('dry-run'),
      ...options.given('fingerprint'),
      ...reasonOf(options),
    })
    if (isFollowed || options.flag('wait')) return followed(invocation, run.id)
    output.one(run, ({ line }) => {
      line(`Run ${plain(run.id)} of ${plain(run.runbook)} is ${run.state}.`)
      line(`To follow it: reprise runbook watch ${plain(run.id)}`)
    })
    return undefined
  },
})

const runbookRun = runs(['runbook', 'run'], 'Run a runbook', false)
const recoveryRunbook = runs(['recovery-runbook'], 'Run a runbook, and follow it to its end', true)

const runbookWatch: CommandDefinition = {
  path: ['runbook', 'watch'],
  group: 'Operate',
  summary: 'Follow a run of a runbook',
  details: 'Follows a run until it ends, halts, or asks something. Ends with code 6 if the run did not succeed.',
  arguments: [RUN],
  options: [YES],
  examples: [['reprise runbook watch run-0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55', 'How does it go?']],
  endsWhenAsked: true,
  run: (invocation) => followed(invocation, invocation.arguments[0] ?? ''),
}

type Act = (invocation: Invocation, id: string) => Promise<Run>

const acts = (
  verb: string,
  summary: string,
  example: string,
  act: Act,
  rest: Partial<CommandDefinition> = {},
): CommandDefinition => ({
  path: ['runbook', verb],
  group: 'Operate',
  summary,
  arguments: [RUN],
  options: [REASON, YES],
  examples: [[`reprise runbook ${verb} run-0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55`, example]],
  async run(invocation) {
    const run = await act(invocation, invocation.arguments[0] ?? '')
    invocation.output.one(run, (people) => tellRun(run, people, invocation.output.now()))
    return undefined
  },
  ...rest,
})

const runbookResume = acts(
  'resume',
  'Try the failed step of a run again, and go on',
  'It is mended: go on',
  ({ api, options }, id) => api.resumeRunbookRun({ id, ...reasonOf(options) }),
)
const runbookAbort = acts(
  'abort',
  'Abort a run, and undo the steps that can be undone',
  'Stop, and undo',
  ({ api, options }, id) => api.abortRunbookRun({ id, ...reasonOf(options) }),
)
const ANSWERS = ['yes', 'no', 'happened', 'again'] as const
const runbookConfirm = acts(
  'confirm',
  'Answer what a run asks',
  'Yes, go on',
  ({ api, options, arguments: [, given = 'yes'] }, id) => {
    const answer = ANSWERS.find((one) => one === given)
    if (answer === undefined) throw usageError(`The answer is one of ${ANSWERS.join(', ')}.`)
    return api.answerRunbookRun({ id, answer, ...reasonOf(options) })
  },
  {
    details:
      'Answer yes or no if the run asks whether it may begin or go on. If the process that did a step died, nobody knows whether the step was done, and the run asks: look first, then answer happened or again.',
    arguments: [RUN, { name: '[answer]', about: 'yes, no, happened or again; yes if missing' }],
  },
)

const runbookPublish: CommandDefinition = {
  path: ['runbook', 'publish'],
  group: 'Operate',
  summary: 'Publish a runbook, or a new version of one',
  arguments: [{ name: '<file>', about: 'YAML or JSON, or a module that exports the runbook as its default' }],
  options: [DRY_RUN, REASON],
  examples: [['reprise runbook publish runbooks/restart-bank.yaml --dry-run', 'Is it right?']],
  async run({ api, options, output, host, arguments: [file = ''] }) {
    const { text, value } = await writtenIn(file, host)
    const name = typeof value === 'object' && value !== null && 'name' in value ? String(value.name) : ''
    if (name === '') throw usageError(`${file} does not say the name of the runbook.`)
    const dryRun = options.flag('dry-run')
    const one = await api.publishRunbook({ name, text, dryRun, ...reasonOf(options) })
    output.one(one, ({ line }) =>
      line(
        dryRun
          ? `${plain(one.name)} is right: ${one.steps.length} steps.`
          : `${plain(one.name)} is version ${one.version} now.`,
      ),
    )
    return undefined
  },
}

export const RUNBOOK_COMMANDS: readonly CommandDefinition[] = [
  runbookList,
  runbookShow,
  runbookRun,
  runbookRuns,
  runbookWatch,
  runbookConfirm,
  runbookResume,
  runbookAbort,
  runbookPublish,
  recoveryRunbook,
]

/** The runbook of a file; of a module as JSON. */
async function writtenIn(
  file: string,
  host: Invocation['host'],
): Promise<{ readonly text: string; readonly value: unknown }> {
  const { extname, resolve } = await import('node:path')
  const path = resolve(host.cwd, file)
  if (/^\.[cm]?[jt]s$/.test(extname(file))) {
    const { importModule } = await import('../roles/import-module.ts')
    const module = await importModule(path, host)
    const value = typeof module === 'object' && module !== null && 'default' in module ? module.default : null
    return { text: JSON.stringify(value, null, 2), value }
  }
  const { readFileText, readYaml } = await import('@reprise/policies')
  const { text } = await readFileText(path)
  return { text, value: readYaml(text, file).value }
}

const isRun = (name: string): boolean => /^run-[0-9a-f-]{36}$/.test(name)

function inputsOf(given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=')
      if (at <= 0) throw usageError(`'${text.slice(0, 40)}' is no input.`, 'Write --input name=value.')
      return [text.slice(0, at), text.slice(at + 1)]
    }),
  )
}

/** Longer than an orchestrator takes to find a run that can go on. */
const UNMOVED_MS = 3_000
const MOVING: ReadonlySet<string> = new Set(['running', 'aborting'])
const AT_REST: ReadonlySet<string> = new Set(['succeeded', 'aborted', 'halted'])

/** Until it is at rest. At a terminal its questions are asked, but for those that somebody else has to answer. */
async function followed(invocation: Invocation, id: string): Promise<ExitCode | undefined> {
  const { api, host, output } = invocation
  const told = new Map<string, string>()
  const progress = output.progress('runbook')
  let unmovedSince: number | null = null
  let isWarned = false
  try {
    for (;;) {
      const run = await api.getRunbookRun({ id })
      const now = host.clock.monotonic()
      unmovedSince = run.isMoved || !MOVING.has(run.state) ? null : (unmovedSince ?? now)
      if (unmovedSince !== null && now - unmovedSince >= UNMOVED_MS && !isWarned) {
        isWarned = true
        output.warn("No orchestrator moves this run. Start one: 'reprise orchestrator', or 'reprise up'.")
      }
      for (const step of run.steps) {
        const text = stepText(step)
        if (told.get(step.name) !== text && step.state !== 'pending') {
          progress.end()
          output.event(step, ({ prose }) => prose(plain(text)))
        }
        told.set(step.name, text)
      }
      const under = underWay(run)
      if (under !== null) progress.update(under.done, under.total, under.note)
      if (AT_REST.has(run.state)) {
        progress.end()
        output.note(`Run ${run.id} ${run.state === 'halted' ? 'has halted' : run.state}.`)
        if (run.state === 'halted') {
          output.note('Try the failed step again, or take back what can be taken back:')
          output.note(`  reprise runbook resume ${run.id}`)
          output.note(`  reprise runbook abort ${run.id}`)
        }
        return run.state === 'succeeded' ? undefined : EXIT.taskFailed
      }
      if (run.state === 'waiting' && !(await answeredHere(invocation, run))) return EXIT.taskFailed
      if (host.asked.aborted) return EXIT.interrupted
      await sleep(host.clock, LOOK_EVERY_MS, host.asked, { hold: true })
    }
  } finally {
    progress.end()
  }
}

async function answeredHere(invocation: Invocation, { id, question }: Run): Promise<boolean> {
  const { api, host, output, options } = invocation
  const canAsk = host.stdin.isTTY === true || options.flag('yes')
  if (question === null) return true
  if (question.kind !== 'confirm' || !canAsk) {
    output.note(`It asks: ${questionText(question)}`)
    output.note(`  ${answerCommand(id, question)}`)
    return false
  }
  const isYes = await invocation.confirm(question.text)
  await api.answerRunbookRun({ id, answer: isYes ? 'yes' : 'no', ...reasonOf(options) })
  return true
}
