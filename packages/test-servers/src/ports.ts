// Ports that nobody listens on. They lie below the range from which the system takes the local ends of outgoing
// connections (32768 on Linux, 49152 elsewhere). In that range a port would not be safe while its server is down:
// another connection may take it, and a client that tries again and again ends up connected to itself. The nodes of a
// cluster talk to each other on the port 10,000 above their own, which lies below that range too.

import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const lowest = 10_000
const beyond = 22_000

/** Free now. Somebody else may take it first, so the listener has to be ready to ask for another. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(lowest, beyond)
    if (await isFree(port)) return port
  }
  throw new Error(`There is no free port between ${lowest} and ${beyond}.`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.on('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}
