// What a setting is: how it is called wherever it can be given, and what it is if nobody says anything.

import type { Kind } from './kinds.ts'

export interface Setting<T> {
  readonly kind: Kind<T>
  /** `--port <port>`; null if it has none. */
  readonly flag: string | null
  /** The first that is set counts. REPRISE_PUBLIC_URL for `publicUrl`, unless others are named. */
  readonly variables: readonly string[]
  /** Where it stands in the file: `oidc.issuer`; null if it may not stand there. */
  readonly key: string | null
  readonly default: T
  /** What the default is, where it depends on something. */
  readonly defaultText?: string
  /** Never shown, and can be given as a file: `<VARIABLE>_FILE`. */
  readonly secret?: true
  /** May hold a password, which is not shown; can be given as a file as well. */
  readonly address?: true
  /** Names files: resolved against the folder of the file it stands in, or the working directory. */
  readonly path?: true
  readonly about: string
}

type Described<T, Default> = Omit<Setting<T>, 'default' | 'flag' | 'key' | 'variables'> &
  Partial<Pick<Setting<T>, 'flag' | 'key' | 'variables'>> & { readonly default: Default }

/** One without `flag` or `key` can't be given that way. What it is called in the environment is filled in by `named`. */
export const setting = <T, const Default extends T | null>(
  described: Described<T, Default>,
): Setting<null extends Default ? T | null : T> => ({ flag: null, key: null, ...described }) as never

export const named = <Table extends object>(table: Table): Table =>
  Object.fromEntries(
    Object.entries(table).map(([name, one]) => {
      const variable = `REPRISE_${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`
      return [name, { variables: [variable], ...one }]
    }),
  ) as Table
