// Checks a file of the sealed journal without the store that it came from: the same questions as verify.ts asks of a store. The file
// may begin anywhere, and may lack entries that retention had removed when it was written; those are counted.

import type { AuditLine } from './file.ts'
import { entryDigest, type SealPlace, sealHash } from './seal.ts'
import type { AuditProblem, AuditProblemKind } from './verify.ts'

export interface LinesVerified {
  readonly seals: number
  readonly entries: number
  /** Sealed entries that are not in the file. */
  readonly absent: number
  readonly problems: readonly AuditProblem[]
  /** The last seal; null if there is none. */
  readonly head: SealPlace | null
}

/** `isWhole` says that no entry may be absent: retention had removed nothing. */
export async function verifyLines(lines: AsyncIterable<AuditLine>, isWhole: boolean): Promise<LinesVerified> {
  const problems: AuditProblem[] = []
  const tell = (kind: AuditProblemKind, seal: number, entries: readonly string[], sentence: string): void => {
    problems.push({ kind, seal, entries, sentence })
  }
  let [seals, entries, absent] = [0, 0, 0]
  let last: SealPlace | null = null
  let digests = new Map<string, string>()
  for await (const line of lines) {
    if (line.kind === 'entry') {
      digests.set(line.entry.id, entryDigest(line.entry))
      entries++
      continue
    }
    seals++
    const { number, hash, previous } = line
    if (sealHash(line) !== hash) {
      tell('seal_changed', number, [], `Seal ${number} is not as it was made: its content does not have its hash.`)
    }
    if (last !== null && (previous !== last.hash || number !== last.number + 1)) {
      tell('chain_broken', number, [], `Seal ${number} does not follow seal ${last.number}.`)
    }
    for (const [id, digest] of line.entries) {
      const found = digests.get(id)
      if (found === undefined) {
        absent++
        if (isWhole) tell('entry_missing', number, [id], `Entry ${id} was sealed, and is missing.`)
      } else if (found !== digest) tell('entry_changed', number, [id], `Entry ${id} is not as it was sealed.`)
      digests.delete(id)
    }
    for (const id of digests.keys()) {
      tell('entry_added', number, [id], `Entry ${id} is in no seal: it was added later.`)
    }
    digests = new Map()
    last = { number, hash }
  }
  return { seals, entries, absent, problems, head: last }
}
