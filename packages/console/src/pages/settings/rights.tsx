// Who may do what: what you may do, and what the roles mean. The server decides; this says what it decides by.

import { type Scope, useMe } from '../../api/me.ts'
import { Answered } from '../../parts/states.tsx'
import { CommandLine } from '../../parts/texts.tsx'
import { Section } from '../../shell/page.tsx'
import { ROLES, SCOPES } from './roles.ts'

export function Rights() {
  const me = useMe()
  return (
    <Answered of={me} what="who you are">
      {({ name, actor, scopes, tenants }) => (
        <div className="max-w-3xl">
          <p className="text-md">
            You are <bdi>{name}</bdi>, <bdi className="font-mono text-sm">{actor}</bdi> in the journal. You may{' '}
            {scopes.join(', ')}
            {tenants === null ? ', for all tenants.' : ', for '}
            {tenants !== null && <bdi>{tenants.join(', ')}.</bdi>}
          </p>
          <Section title="What each role may do">
            <table className="w-full text-left">
              <thead className="text-sm text-dim">
                <tr className="border-b border-line">
                  <th scope="col" className="py-1 font-normal">
                    Scope
                  </th>
                  {Object.keys(ROLES).map((role) => (
                    <th key={role} scope="col" className="w-11 py-1 text-center font-normal max-sm:text-xs sm:w-16">
                      {role}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {(Object.entries(SCOPES) as [Scope, string][]).map(([scope, says]) => (
                  <tr key={scope} className="border-b border-line align-top">
                    <th scope="row" className="py-1 pr-3 font-normal">
                      <span className="font-mono text-sm font-semibold">{scope}</span>
                      {scopes.includes(scope) && <span className="text-sm text-dim"> · yours</span>}
                      <span className="block text-dim">{says}</span>
                    </th>
                    {Object.entries(ROLES).map(([role, its]) => (
                      <td key={role} className="py-1 text-center">
                        {its.includes(scope) ? (
                          <>
                            <span aria-hidden="true">✓</span>
                            <span className="sr-only">yes</span>
                          </>
                        ) : (
                          <span className="sr-only">no</span>
                        )}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </Section>
          <Section title="People">
            <p className="mb-2">
              People get a role from the groups that their sign-in names; the configuration says which. Programs get a
              token, with a role or with scopes of their own, for all tenants or for some.
            </p>
            <CommandLine command="npx reprise token create night-shift --role operator --tenant acme --expires 90d" />
          </Section>
        </div>
      )}
    </Answered>
  )
}
