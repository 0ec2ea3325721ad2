// What the failures have and the successes don't, as bars: how many of each. The strongest first.

import { type ReactNode, useState } from 'react'
import type { OperationOutput } from '../../api/client.ts'
import { count, share } from '../../format.ts'

type Contrast = OperationOutput<'explainFailureGroup'>['contrasts'][number]

/** 'region is eu', 'version is 2', 'duration at least 800' */
function contrastName({ feature, test }: Contrast): string {
  const value =
    'value' in test
      ? ` ${String(test['value'])}`
      : 'limit' in test
        ? ` ${String(test['limit'])}`
        : 'at' in test
          ? ` ${String(test['at'])}`
          : ''
  switch (test.kind) {
    case 'is':
      return `${feature} =${value}`
    case 'missing':
      return `${feature} is missing`
    case 'present':
      return `${feature} is there`
    case 'atLeast':
      return `${feature} ≥${value}`
    case 'atMost':
      return `${feature} ≤${value}`
  }
}

function Bar({
  part,
  of,
  colour,
  name,
}: {
  readonly part: number
  readonly of: number
  readonly colour: string
  readonly name: string
}) {
  return (
    <div
      className="grid grid-cols-[72px_minmax(0,1fr)_48px] items-center gap-2 text-sm"
      title={`${count(part)} of ${count(of)}`}
    >
      <span className="text-dim">{name}</span>
      <span className="h-2.5 bg-sunken">
        <span className={`block h-full ${colour}`} style={{ width: `${of === 0 ? 0 : (100 * part) / of}%` }} />
      </span>
      <span className="text-right">{share(part, of)}</span>
    </div>
  )
}

/** The strongest say it; the rest is a press away. */
const SHOWN = 6

export function Contrasts({ contrasts }: { readonly contrasts: readonly Contrast[] }) {
  const [isWhole, setWhole] = useState(false)
  const rest = contrasts.length - SHOWN
  return (
    <>
      <ol className="grid gap-x-8 gap-y-3 md:grid-cols-2">
        {(isWhole ? contrasts : contrasts.slice(0, SHOWN)).map((contrast) => (
          <li key={contrastName(contrast)} className="min-w-0">
            <p className="truncate font-mono" title={contrast.sentence}>
              <bdi>{contrastName(contrast)}</bdi>
            </p>
            <Bar name="failures" part={contrast.failures} of={contrast.failuresOf} colour="bg-dead" />
            <Bar name="successes" part={contrast.successes} of={contrast.successesOf} colour="bg-succeeded" />
          </li>
        ))}
      </ol>
      {rest > 0 && (
        <button type="button" className="link mt-2 text-sm" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Less' : `${rest} more that stand out`}
        </button>
      )}
    </>
  )
}

/** '100 % of these have version = 2, 0 % of the successes do. 98 % have label.region = eu, 11 % of the successes do.' */
export function causeSentence([first, second]: readonly Contrast[], otherwise: ReactNode): ReactNode {
  if (first === undefined) return otherwise
  return second === undefined || excess(second) < EXCESS_MIN
    ? `${said(first, 'of these have')}`
    : `${said(first, 'of these have')} ${said(second, 'have')}`
}

/** A second one is named if it tells nearly as much. */
const EXCESS_MIN = 0.5

const excess = ({ failures, failuresOf, successes, successesOf }: Contrast): number =>
  failures / Math.max(failuresOf, 1) - successes / Math.max(successesOf, 1)

const said = (contrast: Contrast, have: string): string =>
  `${share(contrast.failures, contrast.failuresOf)} ${have} ${contrastName(contrast)}, ${share(contrast.successes, contrast.successesOf)} of the successes do.`
