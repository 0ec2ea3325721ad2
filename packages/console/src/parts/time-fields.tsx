// A period by two moments, as the address has it: `since` and `until`. A choice such as '7d' stays where no moment is given.

import { useParams } from '../address.tsx'
import { formText } from '../form-text.ts'

export const TIMES = [
  ['since', 'from'],
  ['until', 'until'],
] as const

/** A moment for a field of the browser, by this reader's clock: 2030-01-31T12:00. */
function fieldOf(text: string | undefined): string {
  const at = Date.parse(text ?? '')
  if (Number.isNaN(at)) return ''
  const zone = new Date(at).getTimezoneOffset() * 60_000
  return new Date(at - zone).toISOString().slice(0, 16)
}

export function TimeFields() {
  const params = useParams()
  return TIMES.map(([field, words]) => (
    <label key={field} className="flex items-center gap-1 text-sm text-dim">
      {words}
      <input
        type="datetime-local"
        name={field}
        defaultValue={fieldOf(params[field])}
        className="field h-7 w-44 text-sm text-ink"
      />
    </label>
  ))
}

/** What a form with these fields changes in the address. */
export function timesIn(form: FormData, params: Readonly<Record<string, string>>): Record<string, string | null> {
  const change: Record<string, string | null> = {}
  for (const [field] of TIMES) {
    const at = new Date(formText(form, field))
    if (!Number.isNaN(at.getTime())) change[field] = at.toISOString()
    // An emptied field takes a moment out, and leaves a choice such as '7d' alone.
    else if (fieldOf(params[field]) !== '') change[field] = null
  }
  return change
}
