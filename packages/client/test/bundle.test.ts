// What comes along with a client that speaks HTTP alone: it has to fit a browser.

import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'

const BYTES_MAX = 40 * 1_024

test('the client for HTTP alone, bundled and minified, stays small, and has no schema library in it', async () => {
  const bundle = await rolldown({
    input: fileURLToPath(new URL('../src/http.ts', import.meta.url)),
    platform: 'browser',
    resolve: { conditionNames: ['reprise-source', 'browser', 'import'] },
    treeshake: true,
  })
  const { output } = await bundle.generate({ minify: true })
  await bundle.close()
  const code = output.map((chunk) => ('code' in chunk ? chunk.code : '')).join('')
  expect(output).toHaveLength(1)
  expect(code).toContain('/api/v1/tasks')
  expect(output.flatMap((chunk) => ('moduleIds' in chunk ? chunk.moduleIds : [])).join('\n')).not.toMatch(
    /\/zod\/|node:/,
  )
  expect(Buffer.byteLength(code)).toBeLessThan(BYTES_MAX)
  expect(gzipSync(code).length).toBeLessThan(BYTES_MAX / 2)
})
