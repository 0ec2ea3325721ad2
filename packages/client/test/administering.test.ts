// What operators and administrators do, on both ways with the same results: workers, breakers, flags, policies, figures, tokens.

import { describe, expect, test } from 'vitest'
import { codeOf, ways } from './both-ways.ts'
import { claimAll } from './fixture.ts'

const POLICIES = `
policies:
  - name: patient
    match: { actions: [invoice.*] }
    retries: 5
    backoff: { kind: fixed, delay: 10s, jitter: 0 }
`

describe.each(ways)('$name', ({ open }) => {
  test('workers, breakers, an inspection, flags and what is talked to', async () => {
    const { client, engine } = await open()
    await claimAll(engine)
    expect((await client.listWorkers()).items).toMatchObject([{ worker: 'w1', health: { status: 'healthy' } }])
    expect(await client.getWorker({ id: 'w1' })).toMatchObject({ worker: 'w1', draining: false })
    expect(await client.drainWorker({ id: 'w1' })).toEqual({ changed: true })
    expect(await client.drainWorker({ id: 'w1' })).toEqual({ changed: false })
    const nobody = [client.getWorker({ id: 'w9' }), client.drainWorker({ id: 'w9' })]
    expect(await Promise.all(nobody.map(codeOf))).toEqual(nobody.map(() => 'REPRISE_NOT_FOUND'))
    expect(await client.listBreakers()).toEqual({ items: [], next: null })
    expect(await client.resetBreaker({ name: 'dependency:stripe' })).toEqual({ changed: false })
    expect(await client.inspect()).toMatchObject({ findings: [] })
    const { items: flags } = await client.listFlags()
    expect(flags).toContainEqual(expect.objectContaining({ name: 'dlq-inspector', on: true }))
    expect(await client.setFlag({ name: 'dlq-inspector', on: false })).toMatchObject({ on: false })
    expect(await codeOf(client.setFlag({ name: 'nonsense', on: true }))).toBe('REPRISE_NOT_FOUND')
    // B12: what belongs to the feature is refused at once, on both ways.
    expect(await codeOf(client.listFailureGroups())).toBe('REPRISE_FEATURE_OFF')
    expect(await codeOf(client.redriveTasks({ all: true }))).toBe('REPRISE_FEATURE_OFF')
    expect(await client.info()).toMatchObject({
      engine: { kind: engine.info.kind },
      maxRetries: 1,
      flags: { 'dlq-inspector': false },
    })
  })

  test('B7: policies are tried, published, read back by version, and not overwritten unseen', async () => {
    const { client } = await open()
    expect(await client.policies()).toMatchObject({ version: null })
    expect(await client.publishPolicies({ text: POLICIES, dryRun: true })).toMatchObject({ version: null })
    expect(await client.publishPolicies({ text: POLICIES, expected: 0 })).toMatchObject({ version: { number: 1 } })
    await expect(client.publishPolicies({ text: 'policies: []', expected: 0 })).rejects.toMatchObject({
      code: 'REPRISE_CONFLICT',
      name: 'ConflictError',
    })
    expect(await codeOf(client.publishPolicies({ text: 'policies: {' }))).toBe('REPRISE_INVALID')
    expect((await client.policies()).version?.text).toBe(POLICIES)
    expect((await client.listPolicyVersions()).items.map(({ number }) => number)).toEqual([1])
    expect((await client.getPolicyVersion({ number: 1 })).text).toBe(POLICIES)
    expect(await codeOf(client.getPolicyVersion({ number: 9 }))).toBe('REPRISE_NOT_FOUND')
    expect((await client.policyTemplates()).items.length).toBeGreaterThan(0)
    const { attempts } = await client.simulatePolicies({ action: 'invoice.send', failure: { code: 'ECONNRESET' } })
    expect(attempts).toHaveLength(6)
    expect(attempts[0]).toMatchObject({ failure: { code: 'ECONNRESET' }, decision: { kind: 'retry', delayMs: 10_000 } })
  })

  test('C10: figures to watch, and how many workers a pool needs', async () => {
    const { client } = await open()
    expect(await client.monitoring({ window: '5m' })).toMatchObject({ level: 'ok', windowMs: 300_000 })
    expect(await client.monitoring({ window: 300_000 })).toMatchObject({ windowMs: 300_000 })
    const { items: signals } = await client.scaling({ pool: 'default', targetWait: '5s' })
    expect(signals).toMatchObject([{ pool: 'default' }])
  })

  test('API tokens are made, seen without their secrets, and revoked', async () => {
    const { client } = await open()
    const made = await client.createToken({ name: 'ci', role: 'viewer', expiresIn: '1h' })
    expect(made).toMatchObject({ name: 'ci', scopes: ['read'], tenants: null })
    const listed = (await client.listTokens()).items.find(({ id }) => id === made.id)
    expect(listed).toBeDefined()
    expect(JSON.stringify(listed)).not.toContain(made.token)
    expect(await client.revokeToken({ id: made.id })).toBeNull()
    expect(await codeOf(client.revokeToken({ id: made.id }))).toBe('REPRISE_NOT_FOUND')
    expect(await codeOf(client.createToken({ name: 'both', role: 'viewer', scopes: ['read'] }))).toBe('REPRISE_INVALID')
  })
})
