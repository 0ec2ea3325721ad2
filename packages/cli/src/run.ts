// The command line as a function: words in, an exit code out. It parses, runs the one command that was asked for, and tells
// what went wrong. Nothing here touches the process; main.ts does.

import { CommanderError } from 'commander'
import type { CommandDefinition } from './command/definition.ts'
import { Invocation } from './command/invocation.ts'
import { Options } from './command/options.ts'
import { buildProgram, type Request, settingFlags } from './command/program.ts'
import { withWorkerVersion } from './command/worker-version.ts'
import { COMMANDS, FAMILIES } from './commands/all.ts'
import type { Host } from './host.ts'
import { painter } from './output/colours.ts'
import { errorText, exitCodeOf } from './output/errors.ts'
import { EXIT, type ExitCode, SIGNAL_EXITS } from './output/exit-codes.ts'
import { FORMATS, Output } from './output/output.ts'
import { AskedToEndError } from './roles/asked-to-end.ts'
import { withTermsLast } from './tasks/query.ts'
import { VERSION } from './version.ts'

export async function run(argv: readonly string[], host: Host): Promise<number> {
  let request: Request | null = null
  const program = buildProgram({
    commands: COMMANDS,
    families: FAMILIES,
    version: VERSION,
    stdout: host.stdout,
    stderr: host.stderr,
    onRequest: (asked) => {
      request = asked
    },
  })
  // Without a command, show what there is.
  if (argv.length === 0) {
    program.outputHelp()
    return EXIT.ok
  }
  try {
    program.parse(withTermsLast(withWorkerVersion(argv)), { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    throw error
  }
  return request === null ? EXIT.ok : perform(request, host)
}

async function perform(request: Request, host: Host): Promise<number> {
  const { values, definition } = request
  const noColour = values.color === false
  const invocation = new Invocation({
    host,
    output: new Output({
      stdout: host.stdout,
      stderr: host.stderr,
      // D6: --json is -o json.
      format: FORMATS.find((format) => format === values.output) ?? (values.json === true ? 'json' : 'table'),
      quiet: values.quiet === true,
      noColour,
      env: host.env,
      now: () => host.clock.now(),
    }),
    arguments: request.arguments,
    options: new Options(values),
    flags: settingFlags(request),
    commands: COMMANDS,
  })
  try {
    const running = toItsEnd(definition, invocation)
    if (definition.endsWhenAsked === true) return (await running) ?? EXIT.ok
    const exitCode = await Promise.race([running, interruption(host, running)])
    return exitCode ?? EXIT.ok
  } catch (error) {
    // What was asked for: a role that had not started yet has nothing to stop.
    if (error instanceof AskedToEndError) return EXIT.ok
    const paint = painter({ off: noColour, env: host.env, isTerminal: host.stderr.isTTY === true })
    host.stderr.write(errorText(error, paint, host.stderr))
    return exitCodeOf(error)
  }
}

/** What it opened is closed, however it ended. */
async function toItsEnd(definition: CommandDefinition, invocation: Invocation): Promise<ExitCode | undefined> {
  try {
    return await definition.run(invocation)
  } finally {
    await invocation.end()
  }
}

/** Comes back when a signal came, or nobody reads any more, with what the shell expects then. */
function interruption({ asked, unread }: Host, running: Promise<unknown>): Promise<number> {
  return new Promise((resolve) => {
    const answer = (): void => {
      // It goes on until the process ends, and whatever it throws then is nobody's business any more.
      running.catch(() => undefined)
      resolve(
        asked.aborted
          ? (Object.entries(SIGNAL_EXITS).find(([signal]) => signal === asked.reason)?.[1] ?? EXIT.interrupted)
          : EXIT.ok,
      )
    }
    const either = AbortSignal.any([asked, unread])
    if (either.aborted) return answer()
    either.addEventListener('abort', answer, { once: true })
    const unhook = (): void => either.removeEventListener('abort', answer)
    running.then(unhook, unhook)
  })
}
