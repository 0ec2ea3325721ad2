// Operations about policies: what is in force, every version, a change, and a dry run.

import { ConflictError, type Failure, InvalidError, NotFoundError, type PolicyBook } from '@reprise/core'
import { ConfigurationError, parsePolicies, policyNotes, simulate, TEMPLATES } from '@reprise/policies'
import { z } from 'zod'
import { authorise, type Caller, tenantScope, wholeStore } from './access/caller.ts'
import type { Context } from './context.ts'
import { given } from './given.ts'
import { aTurn, inTurns } from './in-turns.ts'
import { operation, Written } from './operation.ts'
import {
  ActionNameInput,
  DurationInput,
  digitsInput,
  JsonValue,
  listOf,
  Milliseconds,
  Moment,
  PageQuery,
  pageOf,
  ReasonInput,
  TenantIdInput,
  wholePage,
} from './schemas/names.ts'
import { DecisionView, FailureView } from './schemas/task.ts'
import { failureView } from './views.ts'

const TEXT_LENGTH_MAX = 250_000

const PolicyVersionView = z
  .object({
    number: z.int(),
    text: z.string().meta({ description: 'As it was written: YAML.' }),
    hash: z.string(),
    by: z.string(),
    reason: z.string().optional().meta({ description: 'Why; missing if nobody said.' }),
    at: Moment,
  })
  .meta({ id: 'PolicyVersion' })

const PoliciesView = z
  .object({ version: PolicyVersionView.nullable(), notes: listOf(z.string()) })
  .meta({ id: 'Policies' })

const SimulationInput = z.object({
  action: ActionNameInput,
  tenant: TenantIdInput.optional(),
  text: z.string().max(200_000).optional().meta({ description: 'Policies to try; those in force if missing.' }),
  failure: z.union([
    z.literal('lost'),
    z.strictObject({
      code: z.string().max(200).optional(),
      status: z.int().optional(),
      message: z.string().max(10_000).optional(),
      name: z.string().max(200).optional(),
    }),
  ]),
  attemptTime: DurationInput.optional(),
  attempts: z.int().min(1).max(1_000).optional(),
})

const SimulationView = z
  .object({
    attempts: listOf(
      z.object({
        attempt: z.int(),
        startsAtMs: Milliseconds,
        endsAtMs: Milliseconds,
        failure: FailureView,
        decision: DecisionView,
        guards: JsonValue,
      }),
    ),
    notes: listOf(z.string()),
  })
  .meta({ id: 'Simulation' })

export const policyOperations = {
  policies: operation({
    route: 'GET /api/v1/policies',
    summary: 'The policies in force',
    tag: 'policies',
    right: 'read',
    tenants: 'all',
    input: z.object({}),
    output: PoliciesView,
    answer: 'The newest version; null if there is none.',
    run: async ({ policies }) => {
      await policies.look()
      return { version: policies.version(), notes: policyNotes(policies.current()) }
    },
  }),
  publishPolicies: operation({
    audit: async ({ policies }) => ({ version: policies.version()?.number ?? 0 }),
    route: 'PUT /api/v1/policies',
    summary: 'Change the policies',
    description:
      'A new version, in force everywhere within seconds. With `expected`, or `If-Match: "<number>"`, only if that is still the newest.',
    tag: 'policies',
    right: 'configure',
    tenants: 'all',
    input: z.object({
      text: z.string().max(TEXT_LENGTH_MAX),
      dryRun: z.boolean().optional(),
      expected: z
        .int()
        .min(0)
        .optional()
        .meta({ description: 'The newest version must still be this one; 0 for none.' }),
      reason: ReasonInput.optional(),
    }),
    output: PoliciesView,
    answer: 'The version, or null for a dry run.',
    problems: [409],
    run: async ({ policies }, { actor }, { text, dryRun = false, expected, reason }) => {
      const notes = policyNotes(readPolicies(text))
      if (dryRun) return { version: null, notes }
      await policies.look()
      const newest = policies.version()?.number ?? 0
      if (expected !== undefined && expected !== newest) {
        throw new ConflictError(
          `Version ${newest} of the policies is in force now, not the one that your change is made for. Look at it, and change that.`,
        )
      }
      return { version: await policies.publish(text, actor, reason), notes }
    },
  }),
  listPolicyVersions: operation({
    route: 'GET /api/v1/policies/versions',
    summary: 'List all versions of the policies',
    tag: 'policies',
    right: 'read',
    tenants: 'all',
    input: PageQuery,
    output: pageOf(PolicyVersionView, 'PolicyVersionPage'),
    answer: 'Oldest first.',
    run: ({ policies }, _, page) => policies.versions.list(given(page)),
  }),
  getPolicyVersion: operation({
    route: 'GET /api/v1/policies/versions/{number}',
    summary: 'Get one version of the policies',
    tag: 'policies',
    right: 'read',
    tenants: 'all',
    input: z.object({ number: digitsInput(1) }),
    output: PolicyVersionView,
    answer: 'The version.',
    problems: [404],
    run: async ({ policies }, _, { number }) => {
      const version = await policies.versions.get(number)
      if (version === null) throw new NotFoundError('version of the policies', String(number))
      return version
    },
  }),
  policyTemplates: operation({
    route: 'GET /api/v1/policies/templates',
    summary: 'Templates for policies',
    tag: 'policies',
    right: 'read',
    tenants: 'none',
    input: z.object({}),
    output: pageOf(z.looseObject({ name: z.string() }), 'PolicyTemplates'),
    answer: 'Each with what it sets.',
    run: () => wholePage(Object.entries(TEMPLATES).map(([name, settings]) => ({ name, ...settings }))),
  }),
  simulatePolicies: operation({
    route: 'POST /api/v1/policies/simulate',
    summary: 'Try policies out on a made-up task',
    description: 'Those in force, or a text of your own, which needs the scope `configure`.',
    tag: 'policies',
    right: 'read',
    tenants: 'own',
    input: SimulationInput,
    output: SimulationView,
    answer: 'What would happen, attempt by attempt.',
    repeatable: true,
    run: (context, caller, input) => context.searches.run(caller, () => simulated(context, caller, input)),
  }),
}

/** In steps of which each may take some milliseconds. */
async function simulated(
  { policies, catalogue, redaction, clock }: Context,
  caller: Caller,
  { text, failure, action, tenant, ...options }: z.output<typeof SimulationInput>,
): Promise<Written<z.output<typeof SimulationView>>> {
  if (text !== undefined) mayConfigure(caller)
  await policies.look()
  const { settings } = await catalogue.find(action)
  await aTurn(clock)
  const book = text === undefined ? policies.current() : readPolicies(text)
  await aTurn(clock)
  const result = simulate(book, {
    action,
    settings,
    failure: failure === 'lost' ? failure : given(failure),
    ...given(options),
    ...tenantScope(caller, tenant),
  })
  await aTurn(clock)
  const views = new Map<Failure, string>()
  const viewOf = (seen: Failure): string => {
    const written = views.get(seen) ?? JSON.stringify(failureView(seen, redaction))
    views.set(seen, written)
    return written
  }
  // Written here: the same long failure stands in each of a thousand attempts.
  const attempts = await inTurns(
    clock,
    result.attempts,
    ({ failure: seen, ...one }) => `${JSON.stringify(one).slice(0, -1)},"failure":${viewOf(seen)}}`,
  )
  return new Written(`{"attempts":[${attempts.join()}],"notes":${JSON.stringify(result.notes)}}`)
}

/** Reading a text is work for callers who can make it count: policies are everybody's. */
export function mayConfigure(caller: Caller): void {
  authorise(caller, 'configure', 'To try policies of your own')
  wholeStore(caller)
}

export function readPolicies(text: string): PolicyBook {
  try {
    return parsePolicies(text, { file: 'policies', version: 0 })
  } catch (error) {
    if (error instanceof ConfigurationError) throw new InvalidError(error.message)
    throw error
  }
}
