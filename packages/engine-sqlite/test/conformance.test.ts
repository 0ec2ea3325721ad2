import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exerciseEngine } from '@reprise/engine-conformance'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { afterAll } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'reprise-conformance-'))
let files = 0

afterAll(() => rmSync(folder, { recursive: true, force: true }))

exerciseEngine({ name: 'sqlite in memory', open: (options) => openSqliteEngine({ path: ':memory:', ...options }) })

exerciseEngine({
  name: 'sqlite on a file',
  open: (options) => openSqliteEngine({ path: join(folder, `${files++}.db`), durability: 'fast', ...options }),
})
