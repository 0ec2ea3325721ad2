// Who may import whom. One table says which packages each package may use; an import that is not in the table, that
// leaves its package by a relative path or that reaches past another package's front door is a problem.

import { posix } from 'node:path'
import { at, isNode, parse, type SourceFile, walk } from './source.ts'

interface Allowed {
  /** Packages of this workspace, without the scope. */
  readonly packages: readonly string[]
  /** Packages from npm. */
  readonly npm?: readonly string[]
  /** Modules of Node itself: none for what has to be pure. */
  readonly node: boolean
}

export const boundaries: Readonly<Record<string, Allowed>> = {
  core: { packages: [], node: false },
  'engine-sqlite': { packages: ['core'], node: true },
  'engine-redis': { packages: ['core'], npm: ['redis'], node: true },
  'engine-conformance': { packages: ['core'], npm: ['fast-check', 'vitest'], node: true },
  policies: { packages: ['core'], npm: ['yaml', 'zod'], node: true },
  orchestrator: { packages: ['core'], node: true },
  launchers: {
    packages: ['core'],
    npm: [
      '@aws-sdk/client-ecs',
      '@aws-sdk/client-lambda',
      '@kubernetes/client-node',
      'google-auth-library',
      'ipaddr.js',
    ],
    node: true,
  },
  jobs: { packages: ['core', 'launchers'], node: true },
  sqs: { packages: ['core'], npm: ['@aws-sdk/client-sqs'], node: true },
  'launcher-conformance': { packages: ['core', 'engine-sqlite', 'orchestrator'], npm: ['vitest'], node: true },
  connect: { packages: ['core', 'engine-redis', 'engine-sqlite'], node: true },
  client: { packages: ['core', 'connect', 'operations'], npm: ['@opentelemetry/api'], node: true },
  worker: { packages: ['core', 'connect', 'orchestrator', 'policies'], npm: ['@opentelemetry/api'], node: true },
  testing: { packages: ['core', 'engine-sqlite', 'client', 'worker'], node: true },
  operations: {
    packages: ['core', 'launchers', 'orchestrator', 'policies', 'telemetry'],
    npm: ['nodemailer', 'zod'],
    node: true,
  },
  telemetry: { packages: ['core'], npm: ['@opentelemetry/api', '@prometheus-io/client', 'pino'], node: true },
  server: {
    packages: ['core', 'launchers', 'operations', 'orchestrator', 'policies', 'telemetry'],
    npm: ['@fastify/proxy-addr', 'fastify', 'ipaddr.js', 'jose', 'openid-client', 'zod'],
    node: true,
  },
  console: {
    packages: ['client', 'core'],
    npm: [
      '@codemirror/autocomplete',
      '@codemirror/commands',
      '@codemirror/lang-yaml',
      '@codemirror/language',
      '@codemirror/lint',
      '@codemirror/state',
      '@codemirror/view',
      '@lezer/highlight',
      '@tanstack/react-query',
      '@tanstack/react-virtual',
      'react',
      'react-dom',
      'uplot',
    ],
    node: false,
  },
  cli: {
    packages: [
      'client',
      'connect',
      'console',
      'core',
      'engine-redis',
      'engine-sqlite',
      'jobs',
      'launchers',
      'operations',
      'orchestrator',
      'policies',
      'server',
      'sqs',
      'telemetry',
      'worker',
    ],
    npm: ['@clack/prompts', 'commander', 'jiti', 'redis', 'zod'],
    node: true,
  },
  reprise: { packages: ['cli', 'client', 'engine-sqlite', 'worker'], node: true },
  'test-servers': { packages: [], npm: ['jose'], node: true },
}

/** What a package offers beside its front door, for those who need no more than that. */
const SIDE_DOORS: readonly string[] = [
  '@reprise/client/http',
  '@reprise/launchers/clients',
  '@reprise/policies/fields',
  '@reprise/policies/tenant-fields',
]
/** What only engines need of core stands behind a door of its own. */
const ENGINE_DOOR = '@reprise/core/engine'

/** Problems of the files under packages/<name>/src; other files are passed over. */
export function boundaryProblems(files: readonly SourceFile[], table: typeof boundaries = boundaries): string[] {
  return files.flatMap((file) => {
    const name = /^packages\/([^/]+)\/src\//.exec(file.path)?.[1]
    if (name === undefined) return []
    const allowed = table[name]
    if (allowed === undefined) return [`${file.path}: package ${name} is not in the table of test/tidy/boundaries.ts`]
    return importsOf(file).flatMap(({ specifier, start }) => {
      const problem = importProblem(specifier, file, name, allowed)
      return problem === undefined ? [] : [`${at(file, start)}: ${problem}`]
    })
  })
}

function importProblem(specifier: string | undefined, file: SourceFile, name: string, allowed: Allowed) {
  if (specifier === undefined) return 'imports a computed name; boundaries can only be checked for a plain string'

  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(file.path), specifier)
    const isInside = target.startsWith(`packages/${name}/src/`)
    return isInside ? undefined : `${specifier} leaves the sources of ${name}`
  }

  if (specifier.startsWith('node:')) return allowed.node ? undefined : `${name} is pure and may not import ${specifier}`

  const [, sibling, inner] = /^@reprise\/([^/]+)(\/.*)?$/.exec(specifier) ?? []
  if (sibling !== undefined) {
    if (!allowed.packages.includes(sibling)) return `${name} may not import ${specifier}`
    if (inner === undefined || SIDE_DOORS.includes(specifier)) return undefined
    if (specifier === ENGINE_DOOR && name.startsWith('engine-')) return undefined
    return `${specifier} reaches into another package; import @reprise/${sibling}`
  }

  const npmName = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
  return allowed.npm?.includes(npmName) ? undefined : `${name} may not import ${specifier}`
}

interface Import {
  /** Undefined when it is computed at run time. */
  readonly specifier: string | undefined
  readonly start: number
}

const importingNodes = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
])

function importsOf(file: SourceFile): Import[] {
  const imports: Import[] = []
  walk(parse(file).program, (node) => {
    if (!importingNodes.has(node.type) || !isNode(node.source)) return
    const value = node.source.value
    imports.push({ specifier: typeof value === 'string' ? value : undefined, start: node.start })
  })
  return imports
}

export interface Manifest {
  readonly path: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** Problems of packages/<name>/package.json: what it asks for at run time has to be in the table too. */
export function manifestProblems(manifests: readonly Manifest[], table: typeof boundaries = boundaries): string[] {
  return manifests.flatMap(({ path, dependencies, peerDependencies }) => {
    const allowed = table[path.split('/')[1] ?? '']
    if (allowed === undefined) return [`${path}: the package is not in the table of test/tidy/boundaries.ts`]
    const names = new Set([...allowed.packages.map((name) => `@reprise/${name}`), ...(allowed.npm ?? [])])
    return Object.keys({ ...dependencies, ...peerDependencies })
      .filter((name) => !names.has(name))
      .map((name) => `${path}: depends on ${name}, which the table of test/tidy/boundaries.ts does not allow`)
  })
}
