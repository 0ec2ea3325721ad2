// Writes the version of the packages into the sources, which show it to operators. After `changeset version`.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const core = new URL('../packages/core/', import.meta.url)
const file = fileURLToPath(new URL('src/version.ts', core))
const { version } = /** @type {{ version: string }} */ (JSON.parse(readFileSync(new URL('package.json', core), 'utf8')))
writeFileSync(file, readFileSync(file, 'utf8').replace(/VERSION = '.*'/, `VERSION = '${version}'`))
