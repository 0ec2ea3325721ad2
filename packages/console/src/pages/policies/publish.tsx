// What is asked before a text comes into force: a draft, or an older version again.

import { call } from '../../api/client.ts'
import { refresh } from '../../api/operations.ts'
import type { Change } from '../../parts/confirm.tsx'
import { TextDiff } from '../../parts/text-diff.tsx'
import type { Version } from './policies-page.tsx'

interface Publishing {
  readonly inForce: Version | null
  readonly text: string
  /** The version whose text it is, if it is an older one. */
  readonly older?: Version
  readonly onDone: (version: Version | null) => void
}

const FILE = 'file:'

export function publishOf({ inForce, text, older, onDone }: Publishing): Change {
  const expected = inForce?.number ?? 0
  const source = older === undefined ? '' : `npx reprise policy show ${older.number} | `
  const file = older === undefined ? 'retry-policies.yaml' : '-'
  const publish = async (what: string, reason: string | undefined, after: number): Promise<Version | null> => {
    const { version } = await call('publishPolicies', { text: what, expected: after, reason })
    onDone(version)
    await refresh()
    return version
  }
  return {
    title: older === undefined ? 'Publish this draft' : `Roll back to version ${older.number}`,
    verb: older === undefined ? `Publish version ${expected + 1}` : `Publish it as version ${expected + 1}`,
    command: `${source}npx reprise policy publish ${file} --expected ${expected}`,
    needsReason: true,
    touches: (
      <>
        <p>
          It decides about every failure of every tenant from now on: all workers and orchestrators apply it within
          seconds. What was decided before stays as it is.
        </p>
        {inForce?.by.startsWith(FILE) === true && (
          <p className="text-waiting">
            ◔ Version {inForce.number} came from the file <bdi>{inForce.by.slice(FILE.length)}</bdi>. This one counts
            until that file is changed: change it there as well.
          </p>
        )}
      </>
    ),
    fields: <TextDiff before={inForce?.text ?? ''} after={text} />,
    run: async (reason) => {
      const version = await publish(text, reason, expected)
      const says = `Version ${version?.number} of the policies is in force.`
      if (inForce === null || version === null) return says
      const back = `version ${version.number} taken back`
      return { says, undo: () => publish(inForce.text, back, version.number) }
    },
  }
}
