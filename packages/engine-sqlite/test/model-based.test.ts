import { exerciseAgainstModel } from '@reprise/engine-conformance'
import { openSqliteEngine } from '@reprise/engine-sqlite'

const isLong = process.env.REPRISE_LONG === '1'

exerciseAgainstModel(
  { name: 'sqlite in memory', open: (options) => openSqliteEngine({ path: ':memory:', ...options }) },
  // In CI always the same sequences; the long run takes new ones each time.
  isLong ? { sequences: 50_000, seed: Date.now() } : { sequences: 1_000 },
)
