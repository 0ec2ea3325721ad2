// The start/stop contract that every background service shares.

import { createService, type Service } from '@reprise/core'
import fc from 'fast-check'
import { describe, expect, type Mock, test, vi } from 'vitest'

interface Watched {
  readonly service: Service
  readonly seen: { starts: number; alive: number; maxAlive: number }
  readonly onError: Mock<(error: unknown) => void>
}

/** A service whose body ends a few turns after it was asked to. */
function watched(): Watched {
  const seen = { starts: 0, alive: 0, maxAlive: 0 }
  const onError = vi.fn<(error: unknown) => void>()
  const body = async (signal: AbortSignal): Promise<void> => {
    seen.starts++
    seen.maxAlive = Math.max(seen.maxAlive, ++seen.alive)
    await fired(signal)
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
    seen.alive--
  }
  return { service: createService('sweep', body, onError), seen, onError }
}

function fired(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

describe('one call after the other', () => {
  test('it runs when start comes back, and rests when stop does', async () => {
    const { service, seen } = watched()
    expect(service.name).toBe('sweep')
    await service.start()
    expect(seen.alive).toBe(1)
    await service.stop()
    expect(seen.alive).toBe(0)
  })

  test('a second start changes nothing', async () => {
    const { service, seen } = watched()
    await service.start()
    await service.start()
    expect(seen.starts).toBe(1)
    await service.stop()
  })

  test('a second stop changes nothing, nor does one before the first start', async () => {
    const { service, seen } = watched()
    await service.stop()
    await service.start()
    await service.stop()
    await service.stop()
    expect(seen).toEqual({ starts: 1, alive: 0, maxAlive: 1 })
  })

  test('it can be started anew after a stop, with a signal of its own', async () => {
    const signals: AbortSignal[] = []
    const body = (signal: AbortSignal): Promise<void> => {
      signals.push(signal)
      return fired(signal)
    }
    const service = createService('twice', body, vi.fn<(error: unknown) => void>())
    await service.start()
    await service.stop()
    await service.start()
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    await service.stop()
  })
})

describe('all at once', () => {
  test('many starts run one body, many stops all wait for its end', async () => {
    const { service, seen } = watched()
    await Promise.all([service.start(), service.start(), service.start()])
    expect(seen.starts).toBe(1)
    const aliveAtStop = [service.stop(), service.stop()].map((stop) => stop.then(() => seen.alive))
    expect(await Promise.all(aliveAtStop)).toEqual([0, 0])
  })

  test('a start during a stop comes back when it runs again', async () => {
    const { service, seen } = watched()
    await service.start()
    const stopped = service.stop()
    await service.start()
    await stopped
    expect(seen).toEqual({ starts: 2, alive: 1, maxAlive: 1 })
    await service.stop()
  })

  test('whatever is called, never two bodies run, and the last call is what holds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }), async (calls) => {
        const { service, seen, onError } = watched()
        await Promise.all(calls.map((start) => (start ? service.start() : service.stop())))
        expect(seen.alive).toBe(calls.at(-1) === true ? 1 : 0)
        await service.stop()
        expect(seen.alive).toBe(0)
        expect(seen.maxAlive).toBeLessThanOrEqual(1)
        expect(onError).not.toHaveBeenCalled()
      }),
    )
  })
})

describe('a body that fails', () => {
  test.each<[string, () => Promise<void>]>([
    ['later', () => Promise.reject(new Error('broken'))],
    [
      'at once',
      () => {
        throw new Error('broken')
      },
    ],
  ])('%s: the error is reported once, and stop still works', async (_, body) => {
    const onError = vi.fn<(error: unknown) => void>()
    const service = createService('broken', body, onError)
    await service.start()
    await service.stop()
    expect(onError).toHaveBeenCalledExactlyOnceWith(new Error('broken'))
  })

  test('can be started anew, without a stop', async () => {
    let starts = 0
    const body = async (signal: AbortSignal): Promise<void> => {
      if (++starts === 1) throw new Error('broken')
      await fired(signal)
    }
    const reported = Promise.withResolvers<unknown>()
    const service = createService('again', body, reported.resolve)
    await service.start()
    await reported.promise
    await new Promise((resolve) => setImmediate(resolve))
    await service.start()
    expect(starts).toBe(2)
    await service.stop()
  })

  test('an onError that throws neither ends the process nor keeps stop from coming back', async () => {
    let told = 0
    const service = createService(
      'broken',
      () => Promise.reject(new Error('broken')),
      () => {
        told++
        throw new Error('the hook is broken too')
      },
    )
    await service.start()
    await expect(service.stop()).resolves.toBeUndefined()
    await service.start()
    await service.stop()
    expect(told).toBe(2)
  })
})
