import { exerciseAgainstModel } from '@reprise/engine-conformance'
import { openSqliteEngine } from '@reprise/engine-sqlite'

exerciseAgainstModel(
  { name: 'sqlite in memory', open: (options) => openSqliteEngine({ path: ':memory:', ...options }) },
  { sequences: 1_000, long: 50_000 },
)
