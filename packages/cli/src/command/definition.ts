// What a command is: data that help, completion and the tests of all commands are made from, and one function that runs it.
// Each command is one file in commands/ that exports one of these. Such a file loads nothing heavy by itself: what only the
// running command needs (the client, an engine, the server) it imports inside `run`, so that --help stays quick.

import type { SettingName } from '../configuration/settings.ts'
import type { ExitCode } from '../output/exit-codes.ts'
import type { Invocation } from './invocation.ts'

/** The headings that help shows commands under, in this order. */
export const GROUPS = ['Start', 'Tasks', 'Operate', 'Policies', 'Set up'] as const
type Group = (typeof GROUPS)[number]

interface ArgumentDefinition {
  /** `<file>` if it is needed, `[file]` if not, `[files...]` for any number. */
  readonly name: string
  readonly about: string
}

export interface OptionDefinition {
  /** `-l, --label <key=value>`, or `--wait` for one that is on or off. */
  readonly flags: string
  readonly about: string
  /** May be given several times. */
  readonly repeatable?: true
  readonly choices?: readonly string[]
}

/** What to type, from `reprise` on, and what for. */
export type Example = readonly [command: string, says: string]

export interface CommandDefinition {
  /** `['config', 'check']` for `reprise config check`. */
  readonly path: readonly [string, ...string[]]
  /** What its family does when no second word is given. */
  readonly isDefault?: true
  readonly group: Group
  /** One line, without a full stop. */
  readonly summary: string
  /** More about it, for its own help. */
  readonly details?: string
  readonly arguments?: readonly ArgumentDefinition[]
  readonly options?: readonly OptionDefinition[]
  /** Settings that can be given as flags, beside those of every command. */
  readonly settings?: readonly SettingName[]
  readonly examples: readonly [Example, ...Example[]]
  /** Ends by itself when it is asked to, as services do; others are left off in the middle. */
  readonly endsWhenAsked?: true
  readonly run: (invocation: Invocation) => Promise<ExitCode | undefined>
}

/** What stands over commands with two words. */
export interface FamilyDefinition {
  readonly name: string
  readonly group: Group
  readonly summary: string
}
