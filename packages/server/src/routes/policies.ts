// Handlers for policies: what is in force, every version, a change, and a dry run.

import { failureView, type operationRoutes } from '@reprise/contract'
import { ConflictError, InvalidError, NotFoundError, type PolicyBook } from '@reprise/core'
import { ConfigurationError, parsePolicies, policyNotes, simulate, TEMPLATES } from '@reprise/policies'
import { wholeStore } from '../access/tenants.ts'
import { type Handlers, json } from '../http/handler.ts'
import type { Services } from '../services.ts'
import { pageOf } from './page.ts'

type Here = Extract<keyof typeof operationRoutes, `${string}olic${string}`>

export function policyHandlers(services: Services): Handlers<Pick<typeof operationRoutes, Here>> {
  const { policies, redaction, catalogue } = services
  return {
    policies: () => json(200, { version: policies.version(), notes: policyNotes(policies.current()) }),
    publishPolicies: async ({ body: { text, dryRun = false }, principal, request }) => {
      wholeStore(principal)
      const book = readPolicies(text)
      const notes = policyNotes(book)
      if (dryRun) return json(200, { version: null, notes })
      await policies.look()
      refuseOutdated(request.headers['if-match'], policies.version()?.number ?? 0)
      return json(200, { version: await policies.publish(text, principal.actor), notes })
    },
    listPolicyVersions: async ({ query }) => json(200, await policies.versions.list(pageOf(query))),
    getPolicyVersion: async ({ params: { number } }) => {
      const version = await policies.versions.get(number)
      if (version === null) throw new NotFoundError('version of the policies', String(number))
      return json(200, version)
    },
    policyTemplates: () =>
      json(200, { templates: Object.entries(TEMPLATES).map(([name, settings]) => ({ name, ...settings })) }),
    simulatePolicies: async ({ body: { text, tenant, attemptTime, attempts, action, failure } }) => {
      const { settings } = await catalogue.find(action)
      const book = text === undefined ? policies.current() : readPolicies(text)
      const result = simulate(book, {
        action,
        settings,
        failure: failure === 'lost' ? failure : given(failure),
        ...given({ tenant, attempts }),
        ...(attemptTime === undefined ? {} : { attemptTime }),
      })
      return json(200, {
        ...result,
        attempts: result.attempts.map((one) => ({ ...one, failure: failureView(one.failure, redaction) })),
      })
    },
  }
}

function readPolicies(text: string): PolicyBook {
  try {
    return parsePolicies(text, { file: 'policies', version: 0 })
  } catch (error) {
    if (error instanceof ConfigurationError) throw new InvalidError(error.message)
    throw error
  }
}

function refuseOutdated(ifMatch: string | undefined, number: number): void {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch === `"${number}"`) return
  throw new ConflictError(
    `Version ${number} of the policies is in force now, not the one that your change is made for. Look at it, and change that.`,
  )
}

/** Without what is not given: options say missing, not undefined. */
function given<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
