// Workers whose handlers block, kill or never return, on each engine, beside the store and over HTTP.

import { createInterface } from 'node:readline'
import { serverOn } from '../outages/product/served.ts'
import { ENGINES, processStage, startProcess } from './process-stage.ts'

export const RUN_MS_MAX = 120_000

/** Which engine, and how the worker gets to it. */
export const WAYS = ENGINES.flatMap((engine) => (['its store', 'a server'] as const).map((by) => [engine, by] as const))

export async function harmfulStage([on, by]: (typeof WAYS)[number]) {
  const { address, engine, client, file, written, sweep } = await processStage(on)
  await sweep({ intervalMs: 100 })
  const server = by === 'a server' ? await serverOn(engine) : null
  const worker = async (concurrency = 8) => {
    const args = [server?.url ?? address, file, String(concurrency)]
    const child = startProcess('blocking-worker.ts', args, { TOKEN: server?.token ?? '' })
    const ready = Promise.withResolvers<void>()
    const lines: { readonly level: string; readonly message: string }[] = []
    const errors: string[] = []
    if (child.stdout !== null) {
      createInterface(child.stdout).on('line', (line) => {
        lines.push(JSON.parse(line) as { readonly level: string; readonly message: string })
        ready.resolve()
      })
    }
    if (child.stderr !== null) createInterface(child.stderr).on('line', (line) => void errors.push(line))
    child.once('exit', () => ready.resolve())
    await ready.promise
    return { child, lines, errors }
  }
  /** How often each task began, by id. */
  const begun = (): Readonly<Record<string, number>> => {
    const counts: Record<string, number> = {}
    for (const line of written()) {
      const [id = ''] = line.split(' ')
      counts[id] = (counts[id] ?? 0) + 1
    }
    return counts
  }
  return { engine, client, worker, begun }
}
