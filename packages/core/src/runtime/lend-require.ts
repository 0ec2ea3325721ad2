// For packages of CommonJS in bundles of ES modules. esbuild puts such a package into the bundle, where its calls of
// `require('node:net')` and the like find no `require`, and throw. So one is lent while the package loads: by a module that
// is imported just before it, and taken back by the module that imports both. A `require` that is there already stays.

export function lendRequire(): () => void {
  const scope: { require?: unknown } = globalThis
  if (scope.require !== undefined) return () => undefined
  scope.require = (name: string): unknown => process.getBuiltinModule(name)
  return () => {
    delete scope.require
  }
}
