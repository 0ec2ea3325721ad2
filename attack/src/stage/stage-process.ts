// The process that starts servers and neighbours for an attacker of a lower priority, and hands on what they say.

import { startNeighbour, type Timing } from './neighbour.ts'
import { type RunningServer, startServer } from './server.ts'
import type { Answered, Asked, StageOrder, Started } from './stage.ts'

const servers: RunningServer[] = []
const neighbours: (() => Promise<Timing>)[] = []

async function done(order: StageOrder): Promise<unknown> {
  switch (order.verb) {
    case 'start': {
      const server = await startServer(order.options)
      const { url, link, data, admin } = server
      return { url, link, data, token: admin.token, server: servers.push(server) - 1 } satisfies Started
    }
    case 'time':
      return neighbours.push(await startNeighbour(order.order)) - 1
    case 'timing':
      return neighbours[order.neighbour]?.()
    default:
      return servers[order.server]?.[order.verb]()
  }
}

process.on('message', ({ number, order }: Asked) => {
  const answer = (what: Omit<Answered, 'number'>): void => void process.send?.({ number, ...what })
  done(order).then(
    (result) => answer({ result }),
    (error: unknown) => answer({ error: error instanceof Error ? error.message : String(error) }),
  )
})
// Servers and neighbours end with this process: they hear that it has gone.
process.once('disconnect', () => process.exit(0))
