// What stands out about failures, as terms of a query: so that other causes with the same signs can be found. The version and
// labels if they stand out, since they say what was deployed where; otherwise for whom and where it ran.

import type { OperationOutput } from '../../api/client.ts'

type Contrast = OperationOutput<'explainFailureGroup'>['contrasts'][number]

export interface Sign {
  readonly term: string
  readonly words: string
}

const SHARE_MIN = 0.95
const SIGNS_MAX = 3

const isDeploy = (feature: string): boolean => feature === 'version' || /^label\.[\w-]+$/.test(feature)
const isPlace = (feature: string): boolean => ['tenant', 'pool', 'host'].includes(feature)

/** Values may have any characters: in a query they stand in quotes. */
const quoted = (value: string): string =>
  /^[\w.-]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`

function signsAmong(contrasts: readonly Contrast[], isWanted: (feature: string) => boolean): readonly Sign[] {
  return contrasts.flatMap(({ feature, test, failures, failuresOf }): Sign[] => {
    if (test.kind !== 'is' || !isWanted(feature) || failures < SHARE_MIN * failuresOf) return []
    const value = String(test['value'])
    // A star would stand for anything.
    return value.includes('*') ? [] : [{ term: `${feature}:${quoted(value)}`, words: `${feature} = ${value}` }]
  })
}

/** What tells something first. A dead letter has used up its attempts: that all of them were tried as often says nothing. */
export function tellingFirst<One extends { readonly feature: string }>(contrasts: readonly One[]): readonly One[] {
  const isTold = ({ feature }: One): boolean => feature !== 'attempt'
  return [...contrasts.filter(isTold), ...contrasts.filter((one) => !isTold(one))]
}

/** None if nothing stands out that a query can say. */
export function signsOf(contrasts: readonly Contrast[]): readonly Sign[] {
  const deployed = signsAmong(contrasts, isDeploy)
  return (deployed.length > 0 ? deployed : signsAmong(contrasts, isPlace)).slice(0, SIGNS_MAX)
}
