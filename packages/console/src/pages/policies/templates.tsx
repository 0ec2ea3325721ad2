// Templates: what a policy can build on, with what each sets, ready to copy.

import { useOperation } from '../../api/operations.ts'
import { Facts } from '../../parts/facts.tsx'
import { Answered } from '../../parts/states.tsx'
import { CommandLine } from '../../parts/texts.tsx'
import { Section } from '../../shell/page.tsx'

const FOR: Readonly<Record<string, string>> = {
  default: 'Fits most: three retries over a few seconds.',
  patient: 'For work that may take its time: retries over about 20 hours, and a breaker.',
  urgent: 'For work that somebody waits for: quick retries, and a person hears of it soon.',
  never: 'For work that must not happen twice by itself: whatever goes wrong is left to a person.',
}

export function Templates() {
  const asked = useOperation('policyTemplates', {}, { everyMs: false, live: false })
  return (
    <Answered of={asked} what="the templates">
      {({ items }) => (
        <div className="grid max-w-5xl gap-x-8 md:grid-cols-2">
          {items.map(({ name, ...settings }) => (
            <Section key={name} title={name}>
              {FOR[name] !== undefined && <p className="mb-2">{FOR[name]}</p>}
              <Facts
                of={Object.entries(settings).map(
                  ([field, value]) =>
                    [
                      field,
                      <code key={field} className="font-mono text-sm">
                        {JSON.stringify(value)}
                      </code>,
                    ] as const,
                )}
              />
              <div className="mt-2">
                <CommandLine
                  command={`  - name: my-policy\n    match: { actions: 'invoice.*' }\n    template: ${name}`}
                />
              </div>
            </Section>
          ))}
        </div>
      )}
    </Answered>
  )
}
