// Lets a client notice that it is called from inside a handler. Neither the client nor the worker knows the other: the worker says
// here how to find the handler that runs, and the client asks here.

export interface HandlerScope {
  /** This handler waits for the result of another task, until what comes back is called. */
  awaits(): () => void
}

let find: () => HandlerScope | null = () => null

/** The handler whose code runs now; null outside of handlers, and where no worker is. */
export const currentHandler = (): HandlerScope | null => find()

export function provideHandlers(source: () => HandlerScope | null): void {
  find = source
}
