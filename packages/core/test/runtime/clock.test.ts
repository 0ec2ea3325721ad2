// Time that is moved by hand, and the real one behind the same port.

import { sleep, systemClock, VirtualClock } from '@reprise/core'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'

describe('VirtualClock', () => {
  test('stands still until it is told to move', async () => {
    const clock = new VirtualClock(1_000)
    expect(clock.now()).toBe(1_000)
    await clock.advance(500)
    expect(clock.now()).toBe(1_500)
    expect(clock.monotonic()).toBe(1_500)
  })

  test('fires timers in order of time, equal ones in the order they were set', async () => {
    const clock = new VirtualClock(0)
    const fired: string[] = []
    for (const [name, delayMs] of [
      ['late', 30],
      ['first', 10],
      ['second', 10],
      ['now', 0],
    ] as const)
      clock.after(delayMs, () => fired.push(`${name}@${clock.now()}`))
    await clock.advance(30)
    expect(fired).toEqual(['now@0', 'first@10', 'second@10', 'late@30'])
  })

  test('fires what is due at the target, and nothing later', async () => {
    const clock = new VirtualClock(0)
    const fired = vi.fn<() => void>()
    clock.after(10, fired)
    clock.after(11, fired)
    await clock.advance(10)
    expect(fired).toHaveBeenCalledTimes(1)
    expect(clock.nextAt()).toBe(11)
  })

  test('a timer set by a timer fires in the same advance if it is due', async () => {
    const clock = new VirtualClock(0)
    const firedAt: number[] = []
    clock.after(10, () => clock.after(5, () => firedAt.push(clock.now())))
    await clock.advance(20)
    expect(firedAt).toEqual([15])
    expect(clock.now()).toBe(20)
  })

  test('promises settle between two timers', async () => {
    const clock = new VirtualClock(0)
    const seen: string[] = []
    const work = async (name: string): Promise<void> => {
      seen.push(`${name} starts`)
      await Promise.resolve()
      await Promise.resolve()
      seen.push(`${name} ends`)
    }
    clock.after(1, () => void work('a'))
    clock.after(1, () => void work('b'))
    await clock.advance(1)
    expect(seen).toEqual(['a starts', 'a ends', 'b starts', 'b ends'])
  })

  test('a cancelled timer does not fire, also when another timer cancels it', async () => {
    const clock = new VirtualClock(0)
    const fired = vi.fn<() => void>()
    clock.after(5, fired).cancel()
    const later = clock.after(5, fired)
    clock.after(1, () => later.cancel())
    await clock.advance(10)
    expect(fired).not.toHaveBeenCalled()
    expect(clock.nextAt()).toBeNull()
  })

  test('a delay below 0 is none', async () => {
    const clock = new VirtualClock(100)
    clock.after(-50, () => undefined)
    expect(clock.nextAt()).toBe(100)
  })

  test('a jump fires nothing; the next advance does, and time does not go back for it', async () => {
    const clock = new VirtualClock(0)
    const firedAt: number[] = []
    clock.after(10, () => firedAt.push(clock.now()))
    clock.jump(50)
    expect(firedAt).toEqual([])
    await clock.advance(0)
    expect(firedAt).toEqual([50])
  })

  test('soon comes after what is ready now, without moving time', async () => {
    const clock = new VirtualClock(0)
    const seen: string[] = []
    clock.soon(() => seen.push('soon'))
    void Promise.resolve().then(() => seen.push('ready'))
    await clock.advance(0)
    expect(seen).toEqual(['ready', 'soon'])
    expect(clock.now()).toBe(0)
  })

  test('any timers fire in order, each at its own moment', async () => {
    const delays = fc.array(fc.nat(50), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(delays, async (delaysMs) => {
        const clock = new VirtualClock(0)
        const fired: { index: number; at: number }[] = []
        delaysMs.forEach((delayMs, index) => void clock.after(delayMs, () => fired.push({ index, at: clock.now() })))
        await clock.advance(50)
        const expected = delaysMs.map((at, index) => ({ index, at })).sort((a, b) => a.at - b.at || a.index - b.index)
        expect(fired).toEqual(expected)
      }),
      { numRuns: 30 },
    )
  })
})

describe('sleep', () => {
  test('comes back after the delay', async () => {
    const clock = new VirtualClock(0)
    const wokenAt = sleep(clock, 25).then(() => clock.now())
    await clock.advance(40)
    expect(await wokenAt).toBe(25)
  })

  test('comes back early when the signal fires, and leaves no timer behind', async () => {
    const clock = new VirtualClock(0)
    const controller = new AbortController()
    const asleep = sleep(clock, 1_000, controller.signal)
    controller.abort()
    await asleep
    expect(clock.now()).toBe(0)
    expect(clock.nextAt()).toBeNull()
  })

  test('does not begin when the signal has fired already', async () => {
    const clock = new VirtualClock(0)
    await sleep(clock, 1_000, AbortSignal.abort())
    expect(clock.nextAt()).toBeNull()
  })

  test('takes its listener away when the time is over', async () => {
    const clock = new VirtualClock(0)
    const { signal } = new AbortController()
    const removed = vi.spyOn(signal, 'removeEventListener')
    const asleep = sleep(clock, 5, signal)
    await clock.advance(5)
    await asleep
    expect(removed).toHaveBeenCalledTimes(1)
  })
})

describe('systemClock', () => {
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  test('follows the host', () => {
    vi.useFakeTimers({ now: 5_000 })
    expect(systemClock.now()).toBe(5_000)
    const before = systemClock.monotonic()
    vi.advanceTimersByTime(20)
    expect(systemClock.now()).toBe(5_020)
    expect(systemClock.monotonic() - before).toBe(20)
  })

  test('calls back once after the delay, unless it is cancelled', () => {
    vi.useFakeTimers()
    const kept = vi.fn<() => void>()
    const cancelled = vi.fn<() => void>()
    systemClock.after(10, kept)
    systemClock.after(10, cancelled).cancel()
    vi.advanceTimersByTime(9)
    expect(kept).not.toHaveBeenCalled()
    vi.advanceTimersByTime(100)
    expect(kept).toHaveBeenCalledTimes(1)
    expect(cancelled).not.toHaveBeenCalled()
  })

  test('waits longer than a host timer can: 60 days', () => {
    vi.useFakeTimers()
    const days = 86_400_000
    const called = vi.fn<() => void>()
    const cancelled = vi.fn<() => void>()
    systemClock.after(60 * days, called)
    const timer = systemClock.after(60 * days, cancelled)
    vi.advanceTimersByTime(60 * days - 1)
    expect(called).not.toHaveBeenCalled()
    timer.cancel()
    vi.advanceTimersByTime(1)
    expect(called).toHaveBeenCalledTimes(1)
    expect(cancelled).not.toHaveBeenCalled()
  })

  test('keeps a process alive only when asked to', () => {
    const set = vi.spyOn(globalThis, 'setTimeout')
    const timers = [
      systemClock.after(60_000, () => undefined),
      systemClock.after(60_000, () => undefined, { hold: true }),
    ]
    expect(set.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([false, true])
    for (const timer of timers) timer.cancel()
  })

  test('soon calls back', async () => {
    const called = vi.fn<() => void>()
    systemClock.soon(called)
    expect(called).not.toHaveBeenCalled()
    await new Promise<void>((resolve) => systemClock.soon(resolve))
    expect(called).toHaveBeenCalledTimes(1)
  })
})
