// The options of the process launcher, checked and completed once; and from an order to the command line and environment
// that its supervisor is given. Nothing of our own environment passes but what is listed.

import { isAbsolute, resolve } from 'node:path'
import {
  actionName,
  type Clock,
  check,
  type Duration,
  durationMs,
  InvalidError,
  type LaunchOrder,
  messageOf,
  refuseUnknownKeys,
  systemClock,
} from '@reprise/core'
import { describedFailure } from '../described-failure.ts'
import { workerEnvironment } from '../worker-environment.ts'
import { EXIT_CODES, type ExitMeaning } from './outcome.ts'
import { type Command, FILE } from './protocol.ts'
import type { Run } from './runs.ts'

export interface ProcessCommand {
  /** The program and its arguments, passed on as they are: no shell sees them. */
  readonly argv: readonly string[] | ((order: LaunchOrder) => readonly string[])
  /** The folder it runs in; the launcher's own if not given. */
  readonly cwd?: string
  /** Added to what passes of the environment. */
  readonly env?: Readonly<Record<string, string>>
}

export interface ProcessLauncherOptions {
  readonly name?: string
  /** Where run directories are kept: on a local disk of this host, for one user, not on one that is emptied while it runs. */
  readonly directory: string
  readonly commands: Readonly<Record<string, ProcessCommand>>
  /** The names of our environment that pass. */
  readonly inheritEnv?: readonly string[]
  /** How the payload comes: on standard input, or as a file that REPRISE_INPUT names. */
  readonly input?: 'stdin' | 'file'
  /** Where a command that is an ephemeral worker calls back: `https://<server>/task-complete`. */
  readonly callbackUrl?: string
  /** Between SIGTERM and SIGKILL when its time is up. */
  readonly killGrace?: Duration
  /** What exit codes say about trying again, beside those that are known. */
  readonly exitCodes?: Readonly<Record<number, ExitMeaning>>
  /** How often to look for ends that nobody was woken for. */
  readonly poll?: Duration
  readonly clock?: Clock
}

const INHERITED_ENV: readonly string[] = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LANGUAGE',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
]

const CHECKS: check.Table<ProcessLauncherOptions> = {
  name: check.text,
  directory: (value) =>
    typeof value === 'string' && isAbsolute(value) ? null : 'an absolute path, by which runs are found later',
  commands: check.anything,
  inheritEnv: check.texts("['PATH', 'HOME']"),
  input: check.oneOf('stdin', 'file'),
  callbackUrl: check.text,
  killGrace: check.anything,
  exitCodes: check.anything,
  poll: check.anything,
  clock: check.having('now', 'monotonic', 'after'),
}

const KILL_GRACE_MS = 10_000
const POLL_MS = 1_000
const POLL_MS_MIN = 50

export type ProcessSettings = ReturnType<typeof processSettings>

export function processSettings(options: ProcessLauncherOptions) {
  check.options(options, CHECKS, 'process launcher option', ['directory'])
  if (typeof options.commands !== 'object' || options.commands === null) {
    throw new InvalidError("A process launcher needs commands, by action: { render: { argv: ['render'] } }.")
  }
  return {
    name: options.name ?? 'process',
    directory: resolve(options.directory),
    commands: new Map(Object.entries(options.commands).map(([action, command]) => checkedCommand(action, command))),
    inheritEnv: options.inheritEnv ?? INHERITED_ENV,
    input: options.input ?? 'stdin',
    callbackUrl: options.callbackUrl ?? null,
    killGraceMs: durationMs(options.killGrace ?? KILL_GRACE_MS, 'killGrace'),
    exitCodes: { ...EXIT_CODES, ...checkedExitCodes(options.exitCodes ?? {}) },
    pollMs: Math.max(durationMs(options.poll ?? POLL_MS, 'poll'), POLL_MS_MIN),
    clock: options.clock ?? systemClock,
  }
}

function checkedCommand(action: string, command: ProcessCommand): [string, ProcessCommand] {
  if (typeof command !== 'object' || command === null || Array.isArray(command)) {
    throw new InvalidError(
      `The command of action '${action}' must be an object such as { argv: ['render', '--fast'] }, not ${Array.isArray(command) ? 'a list' : command === null ? 'null' : typeof command}.`,
    )
  }
  refuseUnknownKeys(command, ['argv', 'cwd', 'env'], 'command option')
  const { argv, env = {} } = command
  if (typeof argv !== 'function') checkArgv(argv, action)
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith('REPRISE_')) {
      throw new InvalidError(
        `The command of action '${action}' sets ${name}. Names with REPRISE_ are set for each run.`,
      )
    }
    if (!/^[^=\0]+$/.test(name) || typeof value !== 'string' || value.includes('\0')) {
      throw new InvalidError(`The command of action '${action}' sets a variable that no environment can hold.`)
    }
  }
  return [actionName(action), command]
}

function checkArgv(argv: unknown, action: string): asserts argv is readonly string[] {
  const isFit = (part: unknown): boolean => typeof part === 'string' && !part.includes('\0')
  if (Array.isArray(argv) && argv.length > 0 && argv[0] !== '' && argv.every(isFit)) return
  throw new InvalidError(
    `The argv of action '${action}' must be a list of texts without NUL that begins with the program.`,
  )
}

function checkedExitCodes(exitCodes: Readonly<Record<number, ExitMeaning>>): Readonly<Record<string, ExitMeaning>> {
  for (const [code, meaning] of Object.entries(exitCodes)) {
    if (!/^(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])$/.test(code)) {
      throw new InvalidError(`The exit codes go from 1 to 255; '${code.slice(0, 40)}' is none.`)
    }
    if (meaning !== 'permanent' && meaning !== 'transient') {
      throw new InvalidError(
        `Exit code ${code} means 'permanent' or 'transient', not '${String(meaning).slice(0, 40)}'. A transient failure is tried again.`,
      )
    }
  }
  return exitCodes
}

/** What to run for an order. Throws `PermanentError` if there is nothing. */
export function commandFor(settings: ProcessSettings, order: LaunchOrder): Omit<Command, 'env'> & { action: string } {
  const command = settings.commands.get(order.action)
  if (command === undefined) {
    throw describedFailure({
      code: 'action_not_found',
      says: 'permanent',
      message: `The launcher '${settings.name}' has no command for action '${order.action}'. Add one to its commands.`,
    })
  }
  return {
    action: order.action,
    argv: argvOf(command, order),
    cwd: command.cwd === undefined ? process.cwd() : resolve(command.cwd),
    input: settings.input,
    timeoutMs: order.timeoutMs,
    killGraceMs: settings.killGraceMs,
    voidAt: order.voidAt,
  }
}

function argvOf({ argv }: ProcessCommand, order: LaunchOrder): readonly string[] {
  try {
    const made: unknown = typeof argv === 'function' ? argv(order) : argv
    checkArgv(made, order.action)
    return made
  } catch (error) {
    throw describedFailure({ code: 'invalid_parameters', says: 'permanent', message: messageOf(error) })
  }
}

/** The whole environment of the run. */
export function environmentOf(settings: ProcessSettings, order: LaunchOrder, run: Run): Record<string, string> {
  const inherited = settings.inheritEnv.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...Object.fromEntries(inherited),
    ...settings.commands.get(order.action)?.env,
    ...workerEnvironment(order, settings.callbackUrl),
    REPRISE_RESULT: resolve(run.path, FILE.result),
    ...(settings.input === 'file' ? { REPRISE_INPUT: resolve(run.path, FILE.input) } : {}),
  }
}
