// One whole inspection, step by step to its end: for the suite, the comparison, and the engines' own tests of damaged stores.

import type { Engine, Finding, InspectRequest, InspectResult } from '@reprise/core'

const STEPS_MAX = 10_000

export interface WholeInspection {
  readonly findings: readonly Finding[]
  readonly unchecked: readonly string[]
  readonly checked: number
}

export async function wholeInspection(
  engine: Engine,
  request: Omit<InspectRequest, 'cursor'>,
): Promise<WholeInspection> {
  const findings: Finding[] = []
  const unchecked: string[] = []
  let checked = 0
  let cursor: string | null = null
  for (let steps = 0; steps < STEPS_MAX; steps++) {
    const result: InspectResult = await engine.inspect(cursor === null ? request : { ...request, cursor })
    findings.push(...result.findings)
    unchecked.push(...result.unchecked)
    checked += result.checked
    if (result.next === null) return { findings, unchecked, checked }
    cursor = result.next
  }
  throw new Error('The inspection does not end.')
}
