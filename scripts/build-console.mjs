// Builds the console when it is missing or older than its sources, and does nothing otherwise. It runs before what
// serves or tests the console, with the workspace installed. Each file is also written compressed, since the server
// sends these as they are.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'packages', 'console')
const dist = join(folder, 'dist')
const stampFile = join(dist, '.stamp')
/** What goes into the build: its own sources, those of ours that it bundles, and the versions of all others. */
const SOURCES = [
  'package-lock.json',
  'packages/client/src',
  'packages/console/index.html',
  'packages/console/package.json',
  'packages/console/public',
  'packages/console/src',
  'packages/console/vite.config.ts',
  'packages/core/src',
  'scripts/build-console.mjs',
]
const COMPRESSED = /\.(?:js|css|html|svg)$/
/** Smaller ones gain nothing. */
const COMPRESSED_BYTES_MIN = 1_024

/** @param {string} path @returns {string[]} */
function filesIn(path) {
  if (!existsSync(path)) return []
  if (statSync(path).isFile()) return [path]
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesIn(join(path, name)))
}

function sourcesHash() {
  const hash = createHash('sha256')
  for (const file of SOURCES.flatMap((source) => filesIn(join(root, source)))) {
    hash.update(file.slice(root.length)).update('\0').update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex')
}

/** @param {string} target */
function compress(target) {
  for (const file of filesIn(target)) {
    const text = readFileSync(file)
    if (!COMPRESSED.test(file) || text.length < COMPRESSED_BYTES_MIN) continue
    writeFileSync(`${file}.gz`, gzipSync(text, { level: 9 }))
    writeFileSync(
      `${file}.br`,
      brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: text.length } }),
    )
  }
}

/** @param {string} hash */
function build(hash) {
  process.stdout.write('setup: building the console (a few seconds)\n')
  // In a folder of its own first: whoever looks meanwhile finds the old one whole, or none.
  const target = join(folder, `dist-${process.pid}`)
  const node = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const { status, stdout, stderr, error } = spawnSync(
    existsSync(node) ? node : process.execPath,
    [vite, 'build', '--outDir', target, '--emptyOutDir', '--logLevel', 'warn'],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, NODE_ENV: 'production' } },
  )
  if (error || status !== 0) {
    rmSync(target, { recursive: true, force: true })
    process.stderr.write(`setup: the console can't be built.\n${error?.message ?? ''}${stdout}${stderr}\n`)
    process.exit(1)
  }
  compress(target)
  writeFileSync(join(target, '.stamp'), hash)
  try {
    rmSync(dist, { recursive: true, force: true })
    renameSync(target, dist)
  } catch {
    // Somebody else built it meanwhile, of the same sources.
    rmSync(target, { recursive: true, force: true })
  }
}

const hash = sourcesHash()
const known = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : null
if (known !== hash && existsSync(dirname(folder))) build(hash)
