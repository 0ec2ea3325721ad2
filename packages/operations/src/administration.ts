// Operations for administrators: feature flags, inspection and repair, API tokens, and who you are.

import {
  durationMs,
  FLAGS,
  type FlagState,
  type InspectResult,
  NotFoundError,
  RequestError,
  setbackFindings,
} from '@reprise/core'
import { z } from 'zod'
import { byOf } from './access/caller.ts'
import { ROLE_NAMES, ROLES, SCOPES } from './access/scopes.ts'
import { given } from './given.ts'
import { operation, viewOf } from './operation.ts'
import {
  DurationInput,
  listOf,
  Moment,
  NameInput,
  NewName,
  NewTenantId,
  PageQuery,
  pageOf,
  ReasonInput,
  wholePage,
} from './schemas/names.ts'

const TENANTS_MAX = 1_000

const FlagView = z
  .object({
    name: z.string(),
    on: z.boolean(),
    description: z.string(),
    changedBy: z.string().nullable(),
    changedAt: Moment.nullable(),
  })
  .meta({ id: 'Flag' })

const FindingView = z
  .object({
    kind: z.string().meta({ description: 'What does not fit: `queue_entry_missing`, `count`, `lease_extra`, …' }),
    subject: z.looseObject({ kind: z.enum(['task', 'lane', 'limit', 'worker', 'key', 'group', 'store']) }),
    found: z.string(),
    expected: z.string(),
    sentence: z.string(),
    repaired: z.boolean(),
  })
  .meta({ id: 'Finding' })

const InspectionView = z
  .object({
    checked: z.int(),
    findings: z.array(FindingView),
    unchecked: z.array(z.string()).meta({ description: 'What this step could not look at.' }),
    next: z.string().nullable(),
  })
  .meta({ id: 'Inspection' })

const MeView = z
  .object({
    kind: z.enum(['user', 'token', 'dev', 'local']),
    actor: z.string().meta({ description: 'As the journal names you.' }),
    name: z.string(),
    scopes: listOf(z.enum(SCOPES)),
    tenants: listOf(z.string())
      .nullable()
      .meta({ description: 'The only tenants you may see or touch; null for all.' }),
  })
  .meta({ id: 'Me' })

const TokenView = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: listOf(z.enum(SCOPES)),
    tenants: listOf(z.string()).nullable(),
    createdBy: z.string(),
    createdAt: Moment,
    expiresAt: Moment.nullable(),
    lastUsedAt: Moment.nullable().meta({ description: 'To the minute; null if it was not used yet.' }),
  })
  .meta({ id: 'Token', description: 'An API token, without its secret.' })

const NewTokenView = TokenView.extend({
  token: z.string().meta({ description: 'The token itself. It is shown now and never again.' }),
}).meta({ id: 'NewToken' })

export const administrationOperations = {
  listFlags: operation({
    route: 'GET /api/v1/flags',
    summary: 'List feature flags',
    tag: 'configuration',
    right: 'read',
    tenants: 'none',
    input: z.object({}),
    output: pageOf(FlagView, 'Flags'),
    answer: 'All of them.',
    run: async ({ flags }, { tenants }) => {
      await flags.look()
      const isLimited = tenants !== null
      // Who runs the store is for those who may see all of it.
      return wholePage(flags.list().map((flag) => ({ ...flagView(flag), ...(isLimited ? { changedBy: null } : {}) })))
    },
  }),
  setFlag: operation({
    audit: async ({ flags }, _caller, { name }) => ({
      on: flags.list().find((flag) => flag.name === name)?.on ?? null,
    }),
    route: 'PUT /api/v1/flags/{name}',
    summary: 'Switch a feature on or off',
    tag: 'configuration',
    right: 'configure',
    tenants: 'all',
    input: z.object({ name: NameInput, on: z.boolean(), reason: ReasonInput.optional() }),
    output: FlagView,
    answer: 'The flag as it is now.',
    repeatable: true,
    problems: [404],
    run: async ({ flags }, caller, { name, on, reason }) => {
      if (!Object.hasOwn(FLAGS, name)) throw new NotFoundError('flag', name)
      return flagView(await flags.set(name, on, byOf(caller, reason)))
    },
  }),
  inspect: operation({
    // A repair has an entry for each thing that it mends.
    audit: false,
    route: 'POST /api/v1/inspect',
    summary: 'Recount, and find what does not fit',
    description:
      'One bounded step: go on with `cursor` while `next` is not null. Changes nothing unless `repair` is true, which needs the scope `configure`.',
    tag: 'configuration',
    right: 'operate',
    tenants: 'all',
    input: z.object({
      repair: z.boolean().optional(),
      limit: z.int().min(1).max(1_000).optional(),
      cursor: z.string().max(2_000).optional(),
      reason: ReasonInput.optional(),
    }),
    output: viewOf<InspectResult>(InspectionView),
    answer: 'What was found.',
    run: async ({ engine }, caller, { repair = false, reason, ...page }) => {
      if (repair && !caller.scopes.has('configure')) {
        throw new RequestError(
          'REPRISE_FORBIDDEN',
          `A repair needs the scope 'configure', which ${caller.actor} does not have.`,
        )
      }
      const by = byOf(caller, reason)
      const result = await engine.inspect({ repair, by, ...given(page) })
      // What the store lost, no look at it alone can find: it is told with the first step.
      const setbacks = page.cursor === undefined ? await setbackFindings(engine, { repair, by }) : []
      return { ...result, findings: [...setbacks, ...result.findings] }
    },
  }),
  me: operation({
    route: 'GET /api/v1/me',
    summary: 'Who you are and what you may do',
    tag: 'access',
    right: 'known',
    tenants: 'none',
    input: z.object({}),
    output: MeView,
    answer: 'You.',
    run: (_, { kind, actor, name, scopes, tenants }) => ({
      kind,
      actor,
      name,
      scopes: SCOPES.filter((scope) => scopes.has(scope)),
      tenants,
    }),
  }),
  listTokens: operation({
    route: 'GET /api/v1/tokens',
    summary: 'API tokens, without their secrets',
    tag: 'access',
    right: 'tokens',
    tenants: 'own',
    input: PageQuery,
    output: pageOf(TokenView, 'TokenPage'),
    answer: 'Oldest first; of your tenants only.',
    run: ({ tokens }, caller, page) => tokens.list(caller, given(page)),
  }),
  createToken: operation({
    route: 'POST /api/v1/tokens',
    summary: 'Make an API token',
    description:
      'It can have no scope and no tenant that you do not have yourself. Admins can give `work` to workers. Give either `scopes` or a `role`.',
    tag: 'access',
    right: 'tokens',
    tenants: 'own',
    input: z.object({
      name: NewName,
      scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length).optional(),
      role: z.enum(ROLE_NAMES).optional().meta({ description: 'A name for a set of scopes, in place of them.' }),
      tenants: z
        .array(NewTenantId)
        .min(1)
        .max(TENANTS_MAX)
        .nullable()
        .optional()
        .meta({ description: 'Your own if missing; null for all.' }),
      expiresIn: DurationInput.optional().meta({
        description: 'If missing it never expires, or when your own token does. It can not outlive your own token.',
      }),
    }),
    output: NewTokenView,
    answer: 'With the token, for this once.',
    status: 201,
    problems: [409],
    run: async ({ tokens, clock }, caller, { name, scopes, role, tenants, expiresIn }) => {
      if ((scopes === undefined) === (role === undefined)) {
        throw new RequestError('REPRISE_INVALID', 'Give either scopes or a role.')
      }
      const { token, facts } = await tokens.create(
        {
          name,
          scopes: scopes ?? (role === undefined ? [] : ROLES[role]),
          ...given({ tenants }),
          ...(expiresIn === undefined ? {} : { expiresAt: clock.now() + durationMs(expiresIn) }),
        },
        caller,
      )
      return { ...facts, token }
    },
  }),
  revokeToken: operation({
    route: 'DELETE /api/v1/tokens/{id}',
    summary: 'Revoke an API token',
    description: 'Every server refuses it within a second.',
    tag: 'access',
    right: 'tokens',
    tenants: 'own',
    input: z.object({ id: NameInput }),
    output: z.null(),
    answer: 'It is revoked.',
    status: 204,
    problems: [404],
    run: async ({ tokens }, caller, { id }) => {
      await tokens.revoke(id, caller)
      return null
    },
  }),
}

const flagView = ({ name, description, on, by, changedAt }: FlagState) => ({
  name,
  description,
  on,
  changedBy: by?.actor ?? null,
  changedAt,
})
