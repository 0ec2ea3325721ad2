// Feature flags straight on an engine: read from the store and written to it. Whoever has a flag's part follows by itself.

import { type Engine, FLAGS, type FlagState, NotFoundError, openFlags } from '@reprise/core'
import { onlyBy } from '../operator-requests.ts'
import type { Flag, FlagCalls } from '../server-calls.ts'

export function engineFlags(engine: Engine): FlagCalls {
  return {
    list: async () => (await openFlags({ engine })).list().map(flagOf),
    async set(name, on, options = {}) {
      if (!Object.hasOwn(FLAGS, name)) throw new NotFoundError('flag', name)
      return flagOf(await (await openFlags({ engine })).set(name, on, onlyBy(options)))
    },
  }
}

const flagOf = ({ name, on, description }: FlagState): Flag => ({ name, on, description })
