// Routes about who is asking: signing in and out with a browser, the one-time link, and API tokens. Those under /auth/ are for
// browsers; everything else works with any credential.

import { z } from 'zod'
import { ROLE_NAMES, SCOPES } from '../access.ts'
import { routeTable } from '../route.ts'
import { DurationInput, Moment, NameInput, PageQuery, pageOf, TenantIdInput } from '../schemas/names.ts'

const TENANTS_MAX = 1_000

const MeView = z
  .object({
    kind: z.enum(['user', 'token', 'dev']),
    actor: z.string().meta({ description: 'As the journal names you.' }),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    tenants: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The only tenants you may see or touch; null for all.' }),
  })
  .meta({ id: 'Me' })

const TokenView = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    tenants: z.array(z.string()).nullable(),
    createdBy: z.string(),
    createdAt: Moment,
    expiresAt: Moment.nullable(),
    lastUsedAt: Moment.nullable().meta({ description: 'To the minute; null if it was not used yet.' }),
  })
  .meta({ id: 'Token', description: 'An API token, without its secret.' })
const TokenPage = pageOf(TokenView, 'TokenPage')

const NewTokenView = TokenView.extend({
  token: z.string().meta({ description: 'The token itself. It is shown now and never again.' }),
}).meta({ id: 'NewToken' })

const NewTokenInput = z
  .object({
    name: NameInput,
    scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length).optional(),
    role: z.enum(ROLE_NAMES).optional().meta({ description: 'A name for a set of scopes, in place of them.' }),
    tenants: z
      .array(TenantIdInput)
      .min(1)
      .max(TENANTS_MAX)
      .nullable()
      .optional()
      .meta({ description: 'Your own if missing; null for all.' }),
    expiresIn: DurationInput.optional().meta({ description: 'It never expires if missing.' }),
  })
  .refine(({ scopes, role }) => (scopes === undefined) !== (role === undefined), 'Give either scopes or a role.')
  .meta({ id: 'NewTokenInput' })

const LinkParams = z.object({ code: z.string().max(200) })

export const accessRoutes = routeTable({
  signIn: {
    method: 'GET',
    path: '/auth/sign-in',
    summary: 'Sign in with a browser',
    description: 'Sends the browser to the configured issuer, and back to `returnTo`, a path on this server.',
    tag: 'access',
    access: 'public',
    query: z.object({ returnTo: z.string().max(2_000).optional() }),
    answers: { 303: { kind: 'redirect', description: 'To the issuer.' } },
    problems: [404, 503],
  },
  signInCallback: {
    method: 'GET',
    path: '/auth/callback',
    summary: 'Where the issuer sends the browser back to',
    tag: 'access',
    access: 'public',
    answers: { 303: { kind: 'redirect', description: 'Signed in: to where the browser wanted to go.' } },
    problems: [401, 403, 404, 503],
  },
  signOut: {
    method: 'POST',
    path: '/auth/sign-out',
    summary: 'End the session of this browser',
    tag: 'access',
    access: 'public',
    answers: { 204: { kind: 'empty', description: 'There is no session any more.' } },
    problems: [403],
  },
  showLink: {
    method: 'GET',
    path: '/auth/link/{code}',
    summary: 'The page of a one-time link',
    description: 'The same for every code: opening it does not use the link up.',
    tag: 'access',
    access: 'public',
    params: LinkParams,
    answers: { 200: { kind: 'html', description: 'A page with one button.' } },
  },
  redeemLink: {
    method: 'POST',
    path: '/auth/link/{code}',
    summary: 'Sign in as an admin with a one-time link',
    tag: 'access',
    access: 'public',
    params: LinkParams,
    answers: { 303: { kind: 'redirect', description: 'Signed in.' } },
    problems: [401, 403],
  },
  me: {
    method: 'GET',
    path: '/api/v1/me',
    summary: 'Who you are and what you may do',
    tag: 'access',
    access: 'known',
    answers: { 200: { kind: 'json', schema: MeView, description: 'You.' } },
  },
  listTokens: {
    method: 'GET',
    path: '/api/v1/tokens',
    summary: 'API tokens, without their secrets',
    tag: 'access',
    access: 'tokens',
    query: PageQuery,
    answers: { 200: { kind: 'json', schema: TokenPage, description: 'Oldest first; of your tenants only.' } },
  },
  createToken: {
    method: 'POST',
    path: '/api/v1/tokens',
    summary: 'Make an API token',
    description: 'It can have no scope and no tenant that you do not have yourself. Admins can give `work` to workers.',
    tag: 'access',
    access: 'tokens',
    body: NewTokenInput,
    answers: { 201: { kind: 'json', schema: NewTokenView, description: 'With the token, for this once.' } },
    problems: [409],
  },
  revokeToken: {
    method: 'DELETE',
    path: '/api/v1/tokens/{id}',
    summary: 'Revoke an API token',
    description: 'Every server refuses it within a second.',
    tag: 'access',
    access: 'tokens',
    params: z.object({ id: NameInput }),
    answers: { 204: { kind: 'empty', description: 'It is revoked.' } },
    problems: [404],
  },
})
