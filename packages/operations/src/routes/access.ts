// Routes for signing in and out with a browser, and the one-time link.

import { z } from 'zod'
import { routeTable } from '../route.ts'

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
})
