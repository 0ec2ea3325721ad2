// A page of the console that is watched while much happens: how long it held up the browser at a time, and how much it keeps.

import type { CDPSession, Page } from 'playwright-core'

export interface Watched {
  /** The longest task of its main thread since it was last asked, in milliseconds; 0 if all were short. */
  longestMs(): Promise<number>
  /** What it keeps after the collector ran, in megabytes. */
  keptMb(): Promise<number>
}

const MB = 1_048_576

/** Scripts for the page, which this program's types don't know. */
const WATCH = `
  globalThis.longestMs = 0
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) globalThis.longestMs = Math.max(globalThis.longestMs, duration)
  }).observe({ type: 'longtask' })
`
const TAKE = `(() => {
  const longest = globalThis.longestMs
  globalThis.longestMs = 0
  return longest
})()`

export async function watched(page: Page): Promise<Watched> {
  await page.evaluate(WATCH)
  const session: CDPSession = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  await session.send('HeapProfiler.enable')
  return {
    longestMs: () => page.evaluate<number>(TAKE),
    keptMb: async () => {
      await session.send('HeapProfiler.collectGarbage')
      const { metrics } = await session.send('Performance.getMetrics')
      return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / MB
    },
  }
}
