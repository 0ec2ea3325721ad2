// One run of one command: its arguments and options, where to write, and what it can ask for (the configuration, a
// connection, a yes). The connection is closed when the command has ended.

import { userInfo } from 'node:os'
import type { Client, OperationName, Operations } from '@reprise/client'
import {
  type Given,
  type Inspected,
  inspectConfiguration,
  type Resolved,
  resolveConfiguration,
} from '../configuration/resolve.ts'
import type { Host } from '../host.ts'
import { usageError } from '../output/errors.ts'
import type { Output } from '../output/output.ts'
import { plain } from '../output/plain-text.ts'
import type { Target } from '../session.ts'
import { isReadableOnTheWay, type TokenTrust } from '../token-trust.ts'
import type { CommandDefinition } from './definition.ts'
import type { Options } from './options.ts'

export interface InvocationOptions {
  readonly host: Host
  readonly output: Output
  readonly arguments: readonly string[]
  readonly options: Options
  readonly flags: Given['flags']
  /** All commands there are, for those that are about them. */
  readonly commands: readonly CommandDefinition[]
}

export class Invocation {
  readonly host: Host
  readonly output: Output
  readonly arguments: readonly string[]
  readonly options: Options
  readonly commands: readonly CommandDefinition[]
  /** The operations of what connect() goes to. The first call connects. */
  readonly api: Omit<Operations, 'exportTasks' | 'exportAudit'>
  readonly #given: Given
  #resolved: Promise<Resolved> | null = null
  #target: Promise<Target> | null = null
  #client: Promise<Client> | null = null

  constructor({ host, output, options, flags, commands, arguments: given }: InvocationOptions) {
    this.host = host
    this.output = output
    this.arguments = given
    this.options = options
    this.commands = commands
    this.#given = { flags, env: host.env, cwd: host.cwd }
    const callOf = (_: object, name: string | symbol) => async (input: never, options: never) =>
      (await this.connect())[name as OperationName](input, options)
    this.api = new Proxy({}, { get: callOf }) as Operations
  }

  /** The configuration, complete and checked. */
  configuration(): Promise<Resolved> {
    this.#resolved ??= resolveConfiguration(this.#given)
    return this.#resolved
  }

  /** The same with its problems, for commands that are about them. */
  inspectConfiguration(): Promise<Inspected> {
    return inspectConfiguration(this.#given)
  }

  /** A client on the server or the store that the configuration means; closed when the command has ended. */
  connect(): Promise<Client> {
    this.#client ??= this.#connect()
    return this.#client
  }

  /** Where connect() goes: a server, or straight to a store. */
  target(): Promise<Target> {
    this.#target ??= this.configuration().then(async (resolved) => {
      const { chooseTarget } = await import('../session.ts')
      return chooseTarget(resolved, await this.#tokenTrust())
    })
    return this.#target
  }

  /** Who gets a token. Asked at a terminal only; --yes is no answer, because it is about something else. */
  async #tokenTrust(): Promise<TokenTrust> {
    const { tokenTrust } = await import('../token-trust.ts')
    const { knownServers } = await import('../known-servers.ts')
    const canAsk = this.#isAtTerminal() && !this.options.flag('yes')
    return tokenTrust(knownServers(this.host.env), canAsk ? (question) => this.#ask(question) : null)
  }

  async #connect(): Promise<Client> {
    const { connection } = await import('../session.ts')
    const target = await this.target()
    if (target.kind === 'http' && target.token !== null && isReadableOnTheWay(target.url)) {
      this.output.warn(`${target.url} is plain http: others on the way can read your token. Use https.`)
    }
    const note = (text: string): void => this.output.note(text)
    return connection(target, await this.configuration(), { actor: `cli:${userOf(this.host.env)}`, note })
  }

  /** Called when the command has ended, however it did. */
  async end(): Promise<void> {
    const client = await this.#client?.catch(() => null)
    await client?.close()
  }

  /** Asks before something that can't be taken back. With --yes nobody is asked; without a terminal nobody can be. */
  async confirm(question: string): Promise<boolean> {
    if (this.options.flag('yes')) return true
    if (!this.#isAtTerminal()) {
      throw usageError(
        `${question} Nobody can be asked here: this is no terminal.`,
        'Add --yes if that is what you want.',
      )
    }
    const answer = await this.#ask(question)
    if (!answer) this.output.note('Nothing was done.')
    return answer
  }

  #isAtTerminal(): boolean {
    return this.host.stdin.isTTY === true && this.host.stderr.isTTY === true
  }

  async #ask(question: string): Promise<boolean> {
    const { confirm } = await import('@clack/prompts')
    // Standard output is for the data.
    const output = process.stderr
    const answer = await confirm({ message: plain(question), initialValue: false, output, signal: this.host.asked })
    return answer === true
  }
}

/** For the journal. Where nothing in the environment says it, as in a container, the system does, if it knows the user. */
function userOf({ USER, LOGNAME, USERNAME }: Host['env']): string {
  const named = USER ?? LOGNAME ?? USERNAME
  if (named !== undefined) return named
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}
