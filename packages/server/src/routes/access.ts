// Handlers for signing in and out with a browser, and for the one-time link.

import { isRepriseError } from '@reprise/core'
import type { accessRoutes } from '@reprise/operations'
import type { FastifyReply } from 'fastify'
import type { AccessControl } from '../access/access-control.ts'
import { type BrowserStep, beginSignIn, finishSignIn, redeemLink, signOut } from '../access/browser.ts'
import { LINK_PAGE, LINK_PAGE_HEADERS, USED_LINK_PAGE } from '../access/one-time-link.ts'
import { type Answer, empty, type Handlers, redirect, text } from '../http/handler.ts'

export function accessHandlers(access: AccessControl): Handlers<typeof accessRoutes> {
  return {
    signIn: async ({ query, reply }) => step(reply, await beginSignIn(access, query.returnTo ?? '/')),
    signInCallback: async ({ request, reply }) => step(reply, await finishSignIn(access, request)),
    signOut: async ({ request, reply }) => {
      setCookies(reply, await signOut(access, request))
      return empty()
    },
    showLink: () => text(200, LINK_PAGE, 'text/html; charset=utf-8', LINK_PAGE_HEADERS),
    redeemLink: async ({ params, request, reply }) => {
      try {
        return step(reply, await redeemLink(access, request, params.code))
      } catch (error) {
        // Programs get problem details, as everywhere.
        if (!isRepriseError(error, 'REPRISE_UNAUTHENTICATED') || !wantsPage(request.headers.accept)) throw error
        return text(401, USED_LINK_PAGE, 'text/html; charset=utf-8', LINK_PAGE_HEADERS)
      }
    },
  }
}

const wantsPage = (accept: string | undefined): boolean => accept?.includes('text/html') === true

function step(reply: FastifyReply, answer: BrowserStep): Answer {
  setCookies(reply, answer)
  return redirect(answer.to)
}

function setCookies(reply: FastifyReply, { cookies }: BrowserStep): void {
  // Fastify adds each to those before; other headers it would replace.
  for (const cookie of cookies) reply.header('set-cookie', cookie)
}
