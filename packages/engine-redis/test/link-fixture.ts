// What the tests of the link share: links with short deadlines, small scripts, and waiting for what happens.

import { createHash } from 'node:crypto'
import { seededRandom, systemClock } from '@reprise/core'
import type { RedisServer } from '@reprise/test-servers'
import { onTestFinished } from 'vitest'
import { type Link, type LinkOptions, openLink, type Script } from '../src/link/link.ts'

export interface Observed {
  readonly link: Link
  /** What the link said about lost connections. */
  readonly troubles: string[]
  /** Resolves when it has said something that contains this. */
  readonly heard: (text: string) => Promise<void>
}

export const COMMAND_TIMEOUT_MS = 200

export async function observedLink(options: Partial<LinkOptions> & Pick<LinkOptions, 'url'>): Promise<Observed> {
  const troubles: string[] = []
  const link = await openLink({
    clock: systemClock,
    random: seededRandom(1),
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    connectTimeoutMs: COMMAND_TIMEOUT_MS,
    checkMs: 100,
    backoffMinMs: 5,
    backoffMaxMs: 100,
    onTrouble: (_server, reason) => troubles.push(reason),
    ...options,
  })
  onTestFinished(() => link.close())
  const heard = (text: string) => until(() => troubles.some((reason) => reason.includes(text)))
  return { link, troubles, heard }
}

export async function openTestLink(options: Partial<LinkOptions> & Pick<LinkOptions, 'url'>): Promise<Link> {
  return (await observedLink(options)).link
}

export function script(body: string, flags = ''): Script {
  const library = `test_${createHash('sha1').update(body).digest('hex')}`
  const listed = flags === '' ? '' : `'${flags}'`
  const text = `#!lua name=${library}
redis.register_function{ function_name = '${library}_run', flags = {${listed}}, callback = function(KEYS, ARGV)
${body}
end }`
  return { name: `${library}_run`, library: { name: library, text }, readOnly: flags.includes('no-writes') }
}

/** Counts each request id once: safe to repeat, and it shows in the server how often it ran. */
export const countOnce = script(`
  redis.call('INCR', KEYS[1] .. ':runs')
  if redis.call('SADD', KEYS[1] .. ':requests', ARGV[1]) == 1 then redis.call('INCR', KEYS[1]) end
  return tonumber(redis.call('GET', KEYS[1]))
`)

/** How often the server answered with this error so far. */
export async function errorCount(server: RedisServer, code: string): Promise<number> {
  const info = String(await server.command('INFO', 'errorstats'))
  return Number(new RegExp(`errorstat_${code}:count=(\\d+)`).exec(info)?.[1] ?? 0)
}

/** Looks again and again; a failure to look counts as a no. The test's own time-out ends it. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (;;) {
    const yes = await Promise.resolve()
      .then(isSo)
      .catch(() => false)
    if (yes) return
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
