// One run of one command: its arguments and options, where to write, and what it can ask for (the configuration, a
// connection, a yes). Whatever was opened through it is closed when the command has ended.

import type { Client } from '@reprise/client'
import {
  type Given,
  type Inspected,
  inspectConfiguration,
  type Resolved,
  resolveConfiguration,
} from '../configuration/resolve.ts'
import type { Host } from '../host.ts'
import { CommandError } from '../output/errors.ts'
import { EXIT } from '../output/exit-codes.ts'
import type { Output } from '../output/output.ts'
import type { Target } from '../session.ts'
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
  readonly #given: Given
  readonly #closing: (() => Promise<void>)[] = []
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
      return chooseTarget(resolved)
    })
    return this.#target
  }

  async #connect(): Promise<Client> {
    const { connection } = await import('../session.ts')
    const client = await connection(await this.target(), await this.configuration())
    this.onEnd(() => client.close())
    return client
  }

  /** Called when the command has ended, however it did; the last first. */
  onEnd(close: () => Promise<void>): void {
    this.#closing.push(close)
  }

  async end(): Promise<void> {
    for (const close of this.#closing.splice(0).toReversed()) await close()
  }

  /** Asks before something that can't be taken back. With --yes nobody is asked; without a terminal nobody can be. */
  async confirm(question: string): Promise<boolean> {
    if (this.options.flag('yes')) return true
    if (this.host.stdin.isTTY !== true || this.host.stderr.isTTY !== true) {
      throw new CommandError(`${question} Nobody can be asked here: this is no terminal.`, {
        exitCode: EXIT.usage,
        hint: 'Add --yes if that is what you want.',
      })
    }
    const { confirm } = await import('@clack/prompts')
    // Standard output is for the data.
    const answer = await confirm({
      message: question,
      initialValue: false,
      output: process.stderr,
      signal: this.host.asked,
    })
    return answer === true
  }
}
