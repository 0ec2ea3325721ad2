// Handlers about who is asking: signing in and out with a browser, the one-time link, and API tokens.

import { type accessRoutes, ROLES, SCOPES, type Scope } from '@reprise/contract'
import { durationMs } from '@reprise/core'
import type { FastifyReply } from 'fastify'
import type { AccessControl } from '../access/access-control.ts'
import { type BrowserStep, beginSignIn, finishSignIn, redeemLink, signOut } from '../access/browser.ts'
import { LINK_PAGE, LINK_PAGE_HEADERS } from '../access/one-time-link.ts'
import type { Principal } from '../access/principal.ts'
import { type Answer, empty, type Handlers, json, redirect, text } from '../http/handler.ts'
import { pageOf } from './page.ts'

export function accessHandlers(access: AccessControl): Handlers<typeof accessRoutes> {
  return {
    signIn: async ({ query, reply }) => step(reply, await beginSignIn(access, query.returnTo ?? '/')),
    signInCallback: async ({ request, reply }) => step(reply, await finishSignIn(access, request)),
    signOut: async ({ request, reply }) => {
      setCookies(reply, await signOut(access, request))
      return empty()
    },
    showLink: () => text(200, LINK_PAGE, 'text/html; charset=utf-8', LINK_PAGE_HEADERS),
    redeemLink: async ({ params, request, reply }) => step(reply, await redeemLink(access, request, params.code)),
    me: ({ principal }) => json(200, meView(principal)),
    listTokens: async ({ query, principal }) => json(200, await access.tokens.list(principal, pageOf(query))),
    createToken: async ({ body, principal }) => {
      const { name, scopes, role, tenants, expiresIn } = body
      const wanted: readonly Scope[] = scopes ?? (role === undefined ? [] : ROLES[role])
      const { token, facts } = await access.tokens.create(
        {
          name,
          scopes: wanted,
          ...(tenants === undefined ? {} : { tenants }),
          ...(expiresIn === undefined ? {} : { expiresAt: access.clock.now() + durationMs(expiresIn) }),
        },
        principal,
      )
      return json(201, { ...facts, token })
    },
    revokeToken: async ({ params, principal }) => {
      await access.tokens.revoke(params.id, principal)
      return empty()
    },
  }
}

function step(reply: FastifyReply, answer: BrowserStep): Answer {
  setCookies(reply, answer)
  return redirect(answer.to)
}

function setCookies(reply: FastifyReply, { cookies }: BrowserStep): void {
  // Fastify adds each to those before; other headers it would replace.
  for (const cookie of cookies) reply.header('set-cookie', cookie)
}

function meView({ kind, actor, name, scopes, tenants }: Principal) {
  return { kind, actor, name, scopes: SCOPES.filter((scope) => scopes.has(scope)), tenants }
}
