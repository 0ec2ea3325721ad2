// A store that keeps tasks in several places has no order between them. For tests about order, every task gets an id that
// lies in one place: the engine under test sees 'a~3' where the test says 'a', and the test sees 'a' again in every answer.

import type { Collection, Document, Engine, TaskId, TaskSpec } from '@reprise/core'
import type { EngineFactory } from '../factory.ts'

/** The same factory if its stores have only one place. */
export function inOnePlace(factory: EngineFactory): EngineFactory {
  const placeOf = factory.placeOf?.bind(factory)
  if (placeOf === undefined) return factory
  return { name: factory.name, open: async (options) => renamed(await factory.open(options), new Names(placeOf)) }
}

class Names {
  readonly #placeOf: (id: string) => number
  readonly #inner = new Map<string, TaskId>()
  readonly #outer = new Map<string, string>()

  constructor(placeOf: (id: string) => number) {
    this.#placeOf = placeOf
  }

  /** As the engine knows it. */
  in(id: TaskId): TaskId {
    const known = this.#inner.get(id)
    if (known !== undefined) return known
    let name: string = id
    for (let tries = 1; this.#placeOf(name) !== 0; tries++) name = `${id}~${tries}`
    this.#inner.set(id, name as TaskId)
    this.#outer.set(name, id)
    return name as TaskId
  }

  /** A cursor that may be an id, as the engine knows it. */
  cursorIn<T extends { readonly cursor?: string }>(query: T): T {
    const known = query.cursor === undefined ? undefined : this.#inner.get(query.cursor)
    return known === undefined ? query : { ...query, cursor: known }
  }

  /** As the test knows it, wherever it stands in an answer. */
  out<T>(answer: T): T
  out(answer: unknown): unknown {
    if (typeof answer === 'string') return this.#outer.get(answer) ?? answer
    if (Array.isArray(answer)) return answer.map((item: unknown) => this.out(item))
    if (typeof answer !== 'object' || answer === null) return answer
    return Object.fromEntries(Object.entries(answer).map(([name, value]: [string, unknown]) => [name, this.out(value)]))
  }
}

function renamed(engine: Engine, names: Names): Engine {
  const inSpec = (spec: TaskSpec): TaskSpec => ({ ...spec, id: names.in(spec.id) })
  const inTask = <T extends { readonly taskId: TaskId }>(item: T): T => ({ ...item, taskId: names.in(item.taskId) })
  const inRef = <T extends { readonly ref: { readonly taskId: TaskId } }>(item: T): T => ({
    ...item,
    ref: inTask(item.ref),
  })
  const inSelect = <T extends { readonly select: object }>(request: T): T => {
    const { select } = request
    if (!('ids' in select)) return request
    return { ...request, select: { ids: (select.ids as readonly TaskId[]).map((id) => names.in(id)) } }
  }
  const answered = async <T>(call: Promise<T>): Promise<T> => names.out(await call)
  return {
    ...engine,
    submit: (tasks) => answered(engine.submit(tasks.map(inSpec))),
    claim: (request) => answered(engine.claim(request)),
    assign: (assignments) => engine.assign(assignments.map(inTask)),
    launches: (query) => answered(engine.launches(names.cursorIn(query))),
    reserve: (request) => answered(engine.reserve({ ...request, task: inSpec(request.task) })),
    renew: (leases, leaseMs) => answered(engine.renew(leases.map(inTask), leaseMs)),
    settle: (settlements) => answered(engine.settle(settlements.map(inRef))),
    settleAndClaim: (settlements, request) => answered(engine.settleAndClaim(settlements.map(inRef), request)),
    standings: (ids) => answered(engine.standings(ids.map((id) => names.in(id)))),
    expired: (limit) => answered(engine.expired(limit)),
    change: (request) => answered(engine.change(inSelect(request))),
    retry: (id, options) => engine.retry(names.in(id), options),
    task: (id) => answered(engine.task(names.in(id))),
    statuses: (ids) => engine.statuses(ids.map((id) => names.in(id))),
    tasks: (query) => answered(engine.tasks(query)),
    execution: (id, attempt) => answered(engine.execution(names.in(id), attempt)),
    executions: (id, page) => answered(engine.executions(names.in(id), page)),
    explain: (id, look) => answered(engine.explain(names.in(id), look)),
    failureGroups: (query) => answered(engine.failureGroups(query)),
    journal: {
      append: (entries) =>
        engine.journal.append(
          entries.map((entry) => (entry.taskId === null ? entry : { ...entry, taskId: names.in(entry.taskId) })),
        ),
      read: (query = {}) =>
        answered(
          engine.journal.read(query.taskId === undefined ? query : { ...query, taskId: names.in(query.taskId) }),
        ),
      from: (at) => engine.journal.from(at),
    },
    collection: <D extends Document>(definition: Parameters<typeof engine.collection<D>>[0]): Collection<D> =>
      engine.collection(definition),
    wait: (interest, timeoutMs, signal) =>
      engine.wait(
        interest.tasks === undefined ? interest : { ...interest, tasks: interest.tasks.map((id) => names.in(id)) },
        timeoutMs,
        signal,
      ),
  }
}
