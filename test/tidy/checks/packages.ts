// What is published: each package says what it is, where it comes from and what is in it, and all have one version. Whether
// a tarball then works is tried by test/packages.

import type { SourceFile } from './source.ts'

interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly private?: boolean
  readonly description?: string
  readonly keywords?: readonly string[]
  readonly repository?: { readonly url?: string; readonly directory?: string }
  readonly publishConfig?: { readonly access?: string }
  readonly engines?: { readonly node?: string }
  readonly sideEffects?: boolean
  readonly files?: readonly string[]
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>> | string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** Problems of packages/<folder>/package.json and of the README beside it. */
export function packageProblems(
  manifests: readonly SourceFile[],
  readmes: readonly SourceFile[],
  version: string,
): string[] {
  return manifests.flatMap(({ path, text }) => {
    const manifest = JSON.parse(text) as Manifest
    if (manifest.private === true) return []
    const folder = path.replace(/\/package\.json$/, '')
    const readme = readmes.find((file) => file.path === `${folder}/README.md`)?.text ?? ''
    const wrong = [
      [manifest.version === version, `its version is not ${version}, the one in packages/core/src/version.ts`],
      [ours(manifest).every((one) => one === version), `it asks for a package of ours in another version`],
      [(manifest.description ?? '') !== '', 'it has no description'],
      [manifest.keywords?.includes('reprise') ?? false, "its keywords lack 'reprise'"],
      [manifest.repository?.directory === folder, `its repository names another directory than ${folder}`],
      [manifest.repository?.url?.startsWith('git+https://') ?? false, 'its repository has no address'],
      [manifest.publishConfig?.access === 'public', "its publishConfig lacks access: 'public'"],
      [manifest.engines?.node === '>=24', 'its engines do not say Node 24 or newer'],
      [manifest.files?.includes('!dist/.tsbuildinfo') ?? false, 'its files do not leave out dist/.tsbuildinfo'],
      [exportsAreWhole(manifest), 'an entry of its exports lacks the sources, the types or the code, in this order'],
      [readme.startsWith(`# ${manifest.name ?? ''}\n`), `its README is missing, or is not headed '# ${manifest.name}'`],
    ] as const
    return wrong.filter(([isRight]) => !isRight).map(([, problem]) => `${folder}: ${problem}`)
  })
}

const ours = ({ dependencies, peerDependencies }: Manifest): string[] =>
  Object.entries({ ...dependencies, ...peerDependencies }).flatMap(([name, version]) =>
    name.startsWith('@reprise/') ? [version] : [],
  )

/** Types come before the code: the first condition that fits counts. A program that is no module stands there as it is. */
const exportsAreWhole = ({ exports = {} }: Manifest): boolean =>
  Object.values(exports).every(
    (entry) => typeof entry === 'string' || Object.keys(entry).join() === 'reprise-source,types,default',
  )
