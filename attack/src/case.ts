// What an attack is: a name, a sentence that says what it tries, and a function that tries it and decides by what can be
// seen from outside: an answer, a figure, the state of the victim. How the server is built is none of its business.

import type { Scene } from './stage/scene.ts'

export interface Verdict {
  readonly outcome: 'refused' | 'succeeded'
  /** What was seen, in a few words. */
  readonly seen: string
}

export interface AttackCase {
  /** What it does, in words with dashes between them. Unique. */
  readonly name: string
  /** One sentence: who tries what. */
  readonly tries: string
  /** It needs a server of its own, because it leaves one behind that is no longer like new. */
  readonly alone?: true
  /** Not in the fast part, it has a server of its own, and the neighbour's tasks are timed while it runs. */
  readonly timed?: true
  /** Not in the fast part: its size is what it is about. */
  readonly slow?: true
  /** What the platform itself did before: it is not measured. */
  readonly prepare?: (scene: Scene) => Promise<void>
  readonly run: (scene: Scene) => Promise<Verdict>
}

export const refused = (seen: string): Verdict => ({ outcome: 'refused', seen })
export const succeeded = (seen: string): Verdict => ({ outcome: 'succeeded', seen })
export const judged = (isSuccess: boolean, seen: string): Verdict => (isSuccess ? succeeded(seen) : refused(seen))
