// The typed caller: one function for each operation, over HTTP or straight on a store. Types only: a client that speaks HTTP
// needs no schema library.

import type { z } from 'zod'
import type { OPERATIONS, OperationName } from './table.ts'

export interface CallOptions {
  /** Gives the call up. */
  readonly signal?: AbortSignal
}

type Arguments<Input> =
  Record<never, never> extends Input ? [input?: Input, options?: CallOptions] : [input: Input, options?: CallOptions]

type Call<Entry extends { readonly input: z.ZodType; readonly output: z.ZodType }> = (
  ...given: Arguments<z.input<Entry['input']>>
) => Entry extends { readonly lines: unknown }
  ? AsyncGenerator<z.output<Entry['output']>>
  : Promise<z.output<Entry['output']>>

/** Every operation of the table as a function. */
export type Operations = { readonly [Name in OperationName]: Call<(typeof OPERATIONS)[Name]> }

export type OperationInput<Name extends OperationName> = z.input<(typeof OPERATIONS)[Name]['input']>
export type OperationOutput<Name extends OperationName> = z.output<(typeof OPERATIONS)[Name]['output']>
