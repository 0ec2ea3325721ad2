// What an operation is: one entry of the table that everything beyond the hot path is read off. It has a name, the shape of
// its input and output, the right it needs, what it means for a caller limited to tenants, and one function. The HTTP routes,
// the OpenAPI document, the typed client, the command line and the test of rights are made from the same entries.

import { z } from 'zod'
import type { Caller } from './access/caller.ts'
import type { Access } from './access/scopes.ts'
import type { Context } from './context.ts'
import type { Method, Route } from './route.ts'

/** An output whose JSON is written already: a long list is bounded while it is written, and sent as it is. */
export class Written<T> {
  declare readonly written: T
  readonly text: string
  #bytes: Buffer | null = null

  constructor(text: string) {
    this.text = text
  }

  /** As it is sent: made once for all who share it. */
  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(this.text)
    return this.#bytes
  }
}

type Result<Output extends z.ZodType> = z.output<Output> | Written<z.output<Output>>
type Lines<Output extends z.ZodType> = AsyncIterable<z.output<Output>>

interface Description<Input extends z.ZodObject, Output extends z.ZodType> {
  /** Such as `GET /api/v1/tasks/{id}`. Inputs that the path does not name stand in the query, or in the body. */
  readonly route: `${Method} /${string}`
  readonly summary: string
  readonly description?: string
  readonly tag: string
  readonly right: Exclude<Access, 'public'>
  /**
   * What it means for a caller limited to some tenants: `own` shows and touches theirs only, `all` concerns every tenant and
   * is refused, `none` has nothing to do with tenants.
   */
  readonly tenants: 'own' | 'all' | 'none'
  readonly input: Input
  readonly output: Output
  /** The answer in a few words. */
  readonly answer: string
  /** 200 if missing; 204 has no body, and null as output. */
  readonly status?: 200 | 201 | 202 | 204
  /** Whether a second call changes nothing more, so that a call without an answer may be sent again. True for GET. */
  readonly repeatable?: boolean
  /**
   * What an audit shows of that which it changes, looked at before and after; of others the input alone is told. False for what
   * changes nothing, or goes on with something that was told before. Operations that read are not told at all.
   */
  readonly audit?: false | ((context: Context, caller: Caller, input: z.output<Input>) => Promise<unknown>)
  /** Statuses of problems that are its own, beside the usual ones. */
  readonly problems?: readonly number[]
}

/** An operation with one answer. */
export interface OneAnswer<Input extends z.ZodObject, Output extends z.ZodType> extends Description<Input, Output> {
  readonly run: (
    context: Context,
    caller: Caller,
    input: z.output<Input>,
    signal: AbortSignal,
  ) => Promise<Result<Output>> | Result<Output>
}

/** An operation whose answer is a stream of values. `output` is the shape of one. */
export interface ManyAnswers<Input extends z.ZodObject, Output extends z.ZodType> extends Description<Input, Output> {
  readonly lines: (context: Context, caller: Caller, input: z.output<Input>, signal: AbortSignal) => Lines<Output>
}

export type Operation = OneAnswer<z.ZodObject, z.ZodType> | ManyAnswers<z.ZodObject, z.ZodType>
export type AnyOneAnswer = OneAnswer<z.ZodObject, z.ZodType>

/** Ties the function of an entry to its schemas. A field that nobody knows is refused. */
export const operation = <Input extends z.ZodObject, Output extends z.ZodType>(
  entry: OneAnswer<Input, Output>,
): OneAnswer<Input, Output> => ({ ...entry, input: entry.input.strict() as unknown as Input })

export const linesOperation = <Input extends z.ZodObject, Output extends z.ZodType>(
  entry: ManyAnswers<Input, Output>,
): ManyAnswers<Input, Output> => ({ ...entry, input: entry.input.strict() as unknown as Input })

/** A schema in the type of core that it describes, where a view is core's own record. */
export const viewOf = <T>(schema: z.ZodType): z.ZodType<T> => schema as z.ZodType<T>

/** Names of the inputs that stand in the path. */
const pathNames = (path: string): readonly string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')

const hasBody = (method: Method): boolean => method === 'POST' || method === 'PUT' || method === 'PATCH'

/** The entry as a line of the route table. */
export function routeOf(entry: Operation): Route {
  const { summary, description, tag, right, input, output, answer, status = 200, problems } = entry
  const [method, path] = entry.route.split(' ') as [Method, string]
  const named = pathNames(path)
  const params = z.object(Object.fromEntries(named.map((name) => [name, input.shape[name] as z.ZodType])))
  const rest = z.strictObject(Object.fromEntries(Object.entries(input.shape).filter(([name]) => !named.includes(name))))
  const isEmpty = Object.keys(rest.shape).length === 0
  const body = rest.safeParse({}).success ? rest.optional() : rest
  const kind = 'lines' in entry ? 'ndjson' : 'json'
  return {
    method,
    path,
    summary,
    ...(description === undefined ? {} : { description }),
    tag,
    access: right,
    tenants: entry.tenants,
    ...(named.length === 0 ? {} : { params }),
    ...(isEmpty ? {} : hasBody(method) ? { body } : { query: rest }),
    answers: {
      [status]: status === 204 ? { kind: 'empty', description: answer } : { kind, schema: output, description: answer },
    },
    ...(problems === undefined ? {} : { problems }),
  }
}
