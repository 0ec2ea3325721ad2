// The packages as npm would publish them: built, packed into tarballs, and unpacked again into the node_modules of a project.
// What they depend on from elsewhere is linked from this workspace, so that nothing is fetched: quick enough for `npm test`.
// The matrix installs with npm itself.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../tidy/checks/source.ts'

const run = promisify(execFile)

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
}

export interface Tarball {
  readonly manifest: Manifest
  /** Of the file. */
  readonly path: string
  /** Of the files in it, from the package's folder, and how many bytes each has. */
  readonly files: ReadonlyMap<string, number>
}

export type Tarballs = ReadonlyMap<string, Tarball>

const published: readonly string[] = readdirSync(join(root, 'packages'))
  .map((name) => join(root, 'packages', name))
  .filter((folder) => existsSync(join(folder, 'package.json')) && manifestIn(folder).private !== true)

/** Builds the packages and packs them into the folder. */
export async function packAll(folder: string): Promise<Tarballs> {
  await run(join(root, 'node_modules', '.bin', 'tsc'), ['-b'], { cwd: root })
  await run('node', ['scripts/build-console.mjs'], { cwd: root })
  const { stdout } = await run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...published],
    { cwd: root, maxBuffer: 64 * 1_024 * 1_024 },
  )
  const manifests = new Map(published.map((one) => [manifestIn(one).name, manifestIn(one)]))
  return new Map(
    (JSON.parse(stdout) as readonly Packed[]).map(({ name, filename, files }) => {
      const sizes = new Map(files.map(({ path, size }) => [path, size]))
      return [name, { manifest: manifests.get(name) ?? { name }, path: join(folder, basename(filename)), files: sizes }]
    }),
  )
}

interface Packed {
  readonly name: string
  readonly filename: string
  readonly files: readonly { readonly path: string; readonly size: number }[]
}

/** The packages and all of ours that they depend on. */
export function closureOf(tarballs: Tarballs, names: readonly string[]): readonly Tarball[] {
  const found = new Set<Tarball>()
  const visit = (name: string): void => {
    const tarball = tarballs.get(name)
    if (tarball === undefined || found.has(tarball)) return
    found.add(tarball)
    Object.keys(tarball.manifest.dependencies ?? {}).forEach(visit)
  }
  names.forEach(visit)
  return [...found]
}

/** What `npm install` of these packages would bring, and `others` of this workspace, such as the types of Node. */
export async function unpackInto(
  project: string,
  tarballs: Tarballs,
  names: readonly string[],
  others: readonly string[] = [],
): Promise<void> {
  const modules = join(project, 'node_modules')
  const elsewhere = new Set(others)
  for (const { manifest, path } of closureOf(tarballs, names)) {
    const folder = join(modules, manifest.name)
    mkdirSync(folder, { recursive: true })
    await run('tar', ['-xzf', path, '-C', folder, '--strip-components=1'])
    for (const name of Object.keys(manifest.dependencies ?? {})) if (!tarballs.has(name)) elsewhere.add(name)
    for (const [name, file] of Object.entries(manifest.bin ?? {})) link(join(folder, file), join(modules, '.bin', name))
  }
  for (const name of elsewhere) link(join(root, 'node_modules', name), join(modules, name))
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  if (!existsSync(path)) symlinkSync(target, path)
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}
