// Routes about the server itself: is it well, what is it, what can it do.

import { z } from 'zod'
import { routeTable } from '../route.ts'

export const serviceRoutes = routeTable({
  health: {
    method: 'GET',
    path: '/healthz',
    summary: 'Is the process alive',
    tag: 'service',
    access: 'public',
    answers: { 200: { kind: 'json', schema: z.object({ status: z.literal('ok') }), description: 'It is.' } },
  },
  ready: {
    method: 'GET',
    path: '/readyz',
    summary: 'Can it serve requests now',
    tag: 'service',
    access: 'public',
    answers: {
      200: {
        kind: 'json',
        schema: z.object({ status: z.literal('ready'), store: z.string().optional() }),
        description: 'The store answers.',
      },
      503: {
        kind: 'json',
        schema: z.object({ status: z.literal('not ready'), because: z.string() }),
        description: 'It does not, or the server stops.',
      },
    },
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    summary: 'Metrics for Prometheus',
    description: 'Open to callers on the same host. All others need the scope `read`.',
    tag: 'service',
    access: 'public',
    answers: { 200: { kind: 'text', description: 'The text format of Prometheus.' } },
  },
  openapi: {
    method: 'GET',
    path: '/api/v1/openapi.json',
    summary: 'This API as an OpenAPI document',
    tag: 'service',
    access: 'public',
    answers: { 200: { kind: 'json', schema: z.looseObject({ openapi: z.string() }), description: 'OpenAPI 3.1.' } },
  },
})
