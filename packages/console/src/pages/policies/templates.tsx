// Templates: what a policy can build on, with what each sets, ready to copy.

import { formatDuration } from '@reprise/core'
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

/** As the file names it: `max_losses`. */
const fileName = (field: string): string =>
  field.replace(/Ms$/, '').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** As the file would say it: durations with their unit. */
function wordsOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  const parts = Object.entries(value).map(
    ([field, part]) =>
      `${fileName(field)}: ${field.endsWith('Ms') && typeof part === 'number' ? formatDuration(part).replaceAll(' ', '') : wordsOf(part)}`,
  )
  return `{ ${parts.join(', ')} }`
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
                      fileName(field),
                      <code key={field} className="font-mono text-sm">
                        {wordsOf(value)}
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
