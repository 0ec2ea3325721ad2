// What we depend on: exact versions, licences that we know, and a licence in every package that is published. All of it is
// read off the lockfile and the manifests; nobody is asked over the network.

import type { SourceFile } from './source.ts'

/** Licences that may come along with our own, Apache-2.0. */
const allowedLicences: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
])

/** Tools that run on our machines and are not part of what we publish. */
const toolLicences: readonly (readonly [name: RegExp, licence: string])[] = [
  [/^lightningcss(?:-|$)/, 'MPL-2.0'],
  [/^(?:@axe-core\/playwright|axe-core)$/, 'MPL-2.0'],
  [/^graceful-fs$/, 'BlueOak-1.0.0'],
  [/^argparse$/, 'Python-2.0'],
  // Of @kubernetes/client-node, which users install themselves, or not.
  [/^argparse$/, 'PSF-2.0'],
  [/^stream-buffers$/, 'Unlicense'],
]

interface Manifest {
  readonly name?: string
  readonly private?: boolean
  readonly [field: string]: unknown
}

const EXACT = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/
/** A peer is brought by somebody else, who chooses its version. */
const PINNED_FIELDS = ['dependencies', 'devDependencies', 'optionalDependencies']

export function pinProblems(manifests: readonly SourceFile[]): string[] {
  return manifests.flatMap(({ path, text }) => {
    const manifest = JSON.parse(text) as Manifest
    return PINNED_FIELDS.flatMap((field) =>
      Object.entries((manifest[field] ?? {}) as Readonly<Record<string, string>>)
        .filter(([, version]) => !EXACT.test(version))
        .map(([name, version]) => `${path}: ${name} is '${version}'; pin it to an exact version`),
    )
  })
}

interface LockedPackage {
  readonly license?: string
  readonly link?: boolean
  readonly resolved?: string
  readonly integrity?: string
}

/** Of a package-lock.json. */
export function licenceProblems({ text }: SourceFile): string[] {
  return installed(text).flatMap(([name, { license }]) => {
    if (license !== undefined && isAllowed(name, license)) return []
    const says = license === undefined ? 'says no licence' : `has the licence ${license}`
    return [`${name} ${says}; see what it asks for, then add it to test/tidy/checks/supply-chain.ts or leave it out`]
  })
}

/** A package without a checksum could be exchanged on its way. */
export function integrityProblems({ text }: SourceFile): string[] {
  return installed(text)
    .filter(([, { integrity }]) => integrity === undefined)
    .map(([name]) => `${name} has no integrity in the lockfile`)
}

function installed(lockfile: string): (readonly [name: string, locked: LockedPackage])[] {
  const { packages } = JSON.parse(lockfile) as { readonly packages: Readonly<Record<string, LockedPackage>> }
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
    .map(([path, locked]) => [path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length), locked] as const)
}

/** Of `A OR B` one is enough, of `A AND B` both are needed. */
function isAllowed(name: string, expression: string): boolean {
  if (toolLicences.some(([tool, licence]) => tool.test(name) && licence === expression)) return true
  const alternatives = expression.replace(/^\((.*)\)$/, '$1').split(' OR ')
  return alternatives.some((one) => one.split(' AND ').every((licence) => allowedLicences.has(licence.trim())))
}

/** Every package that is published carries a copy of our licence: what is installed must say what it may be used for. */
export function copyProblems(manifests: readonly SourceFile[], copies: readonly SourceFile[], own: string): string[] {
  return manifests.flatMap(({ path, text }) => {
    const folder = path.replace(/package\.json$/, '')
    if ((JSON.parse(text) as Manifest).private === true) return []
    const copy = copies.find((file) => file.path === `${folder}LICENSE`)
    return copy?.text === own ? [] : [`${folder}LICENSE is missing, or differs from the one at the root`]
  })
}
