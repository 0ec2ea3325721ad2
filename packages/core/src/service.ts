// Every background service has this contract: start() comes back when it runs, stop() when it has come to rest; both
// may be called again, at any moment and concurrently, and a stopped service can be started anew.

export interface Service {
  readonly name: string
  start(): Promise<void>
  stop(): Promise<void>
}

/** Gives a body the start/stop contract. The body runs until its signal fires and must then end soon. */
export function createService(
  name: string,
  body: (signal: AbortSignal) => Promise<void>,
  onError: (error: unknown) => void,
): Service {
  let running: { readonly controller: AbortController; readonly ended: Promise<void> } | null = null
  return {
    name,
    async start() {
      if (running !== null) return
      const controller = new AbortController()
      const ended = body(controller.signal).catch(onError)
      running = { controller, ended }
    },
    async stop() {
      const current = running
      if (current === null) return
      current.controller.abort()
      await current.ended
      if (running === current) running = null
    },
  }
}
