// One run of one command: its arguments and options, where to write, and what it can ask for (the configuration, a
// connection, a yes). The connection is closed when the command has ended.

import type { Client } from '@reprise/client'
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
    const { USER, LOGNAME, USERNAME } = this.host.env
    const actor = `cli:${USER ?? LOGNAME ?? USERNAME ?? 'unknown'}`
    return connection(await this.target(), await this.configuration(), { actor })
  }

  /** Called when the command has ended, however it did. */
  async end(): Promise<void> {
    const client = await this.#client?.catch(() => null)
    await client?.close()
  }

  /** Asks before something that can't be taken back. With --yes nobody is asked; without a terminal nobody can be. */
  async confirm(question: string): Promise<boolean> {
    if (this.options.flag('yes')) return true
    if (this.host.stdin.isTTY !== true || this.host.stderr.isTTY !== true) {
      throw usageError(
        `${question} Nobody can be asked here: this is no terminal.`,
        'Add --yes if that is what you want.',
      )
    }
    const { confirm } = await import('@clack/prompts')
    // Standard output is for the data.
    const answer = await confirm({
      message: question,
      initialValue: false,
      output: process.stderr,
      signal: this.host.asked,
    })
    if (answer !== true) this.output.note('Nothing was done.')
    return answer === true
  }
}
