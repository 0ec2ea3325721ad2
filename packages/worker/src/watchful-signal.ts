// An AbortSignal that looks at the clock whenever it is asked. A process that stood still (SIGSTOP, a frozen container, a
// sleeping laptop) goes on where it was: what the handler does next runs before any timer of ours. So the end of the lease is
// found out when the handler, or what it calls, looks at the signal.

/** `look` fires the signal if it is time to. */
export function watchfulSignal(signal: AbortSignal, look: () => void): void {
  const aborted = Object.getOwnPropertyDescriptor(AbortSignal.prototype, 'aborted')
  Object.defineProperties(signal, {
    aborted: {
      configurable: true,
      enumerable: true,
      get(): boolean {
        look()
        return aborted?.get?.call(signal) === true
      },
    },
    throwIfAborted: {
      configurable: true,
      value(): void {
        look()
        AbortSignal.prototype.throwIfAborted.call(signal)
      },
    },
  })
}
