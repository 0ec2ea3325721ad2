// Makes several causes one: from then on they are counted, looked into and sent back as one.

import { call } from '../../api/client.ts'
import { refresh } from '../../api/operations.ts'
import { causeWords } from '../../cause-words.ts'
import { count, many } from '../../format.ts'
import { Confirm } from '../../parts/confirm.tsx'
import type { Group } from './cases.ts'

export function MergeGroups({ groups, onClose }: { readonly groups: readonly Group[]; readonly onClose: () => void }) {
  const [into, ...others] = groups.toSorted((one, other) => other.count - one.count)
  if (into === undefined) return null
  const from = others.map(({ fingerprint }) => fingerprint)
  return (
    <Confirm
      onClose={onClose}
      change={{
        title: `Merge ${many(groups.length, 'cause')}`,
        verb: 'Merge',
        command: `npx reprise groups merge ${into.fingerprint} ${from.join(' ')}`,
        touches: (
          <>
            <p>
              {many(others.length, 'cause')} with {count(others.reduce((sum, one) => sum + one.count, 0))} dead become
              part of the largest:
            </p>
            <p>
              <bdi className="font-semibold">{causeWords(into.sample)}</bdi>{' '}
              <bdi className="text-dim">{into.action}</bdi>
            </p>
            <p className="text-dim">
              New failures of each count there as well. A merge moves no task, and can be split again.
            </p>
          </>
        ),
        run: async (reason) => {
          await call('mergeFailureGroups', {
            fingerprint: into.fingerprint,
            from,
            ...(reason === undefined ? {} : { reason }),
          })
          await refresh()
          return {
            says: `${many(groups.length, 'cause')} are one now.`,
            undo: () =>
              Promise.all(
                from.map((fingerprint) => call('splitFailureGroup', { fingerprint, reason: 'merge taken back' })),
              ),
          }
        },
      }}
    />
  )
}
