// Package boundaries hold in the workspace, and the check sees each way of breaking them.

import { expect, test } from 'vitest'
import { boundaryProblems, type Manifest, manifestProblems } from './checks/boundaries.ts'
import { readFiles } from './checks/source.ts'

test('every import in packages/*/src is allowed', () => {
  expect(boundaryProblems(readFiles('packages/*/src/**/*.ts'))).toEqual([])
})

test('every package asks for allowed dependencies only', () => {
  const manifests = readFiles('packages/*/package.json').map(({ path, text }) => ({
    ...(JSON.parse(text) as Omit<Manifest, 'path'>),
    path,
  }))
  expect(manifests.length).toBeGreaterThan(0)
  expect(manifestProblems(manifests)).toEqual([])
})

test.each([
  ['a Node module in core', 'core', "import { createHash } from 'node:crypto'"],
  ['an npm package in core', 'core', "import fc from 'fast-check'"],
  ['a package against the direction', 'core', "export * from '@reprise/client'"],
  ['a type from a package against the direction', 'core', "import type { Client } from '@reprise/client'"],
  ['an inline type import', 'core', "export type X = import('@reprise/client').Client"],
  ['a dynamic import', 'client', "await import('@reprise/engine-sqlite')"],
  ['a computed dynamic import', 'client', 'await import(name)'],
  ['an unknown npm package', 'worker', "import express from 'express'"],
  ['a path into another package', 'client', "import { x } from '@reprise/core/src/ids.ts'"],
  ['what is for engines only', 'client', "import { checkBatch } from '@reprise/core/engine'"],
  ['a relative path out of the package', 'client', "import { x } from '../../core/src/ids.ts'"],
  ['a Node module without its prefix', 'client', "import fs from 'fs'"],
])('refuses %s', (_, name, text) => {
  expect(boundaryProblems([{ path: `packages/${name}/src/index.ts`, text }])).toEqual([
    expect.stringContaining(`packages/${name}/src/index.ts:1: `),
  ])
})

test('refuses a package that is not in the table', () => {
  expect(boundaryProblems([{ path: 'packages/new/src/index.ts', text: '' }])).toHaveLength(1)
  expect(manifestProblems([{ path: 'packages/new/package.json' }])).toHaveLength(1)
})

test('refuses a dependency that is not in the table', () => {
  const path = 'packages/client/package.json'
  expect(manifestProblems([{ path, dependencies: { express: '5.0.0' } }])).toHaveLength(1)
  expect(manifestProblems([{ path, peerDependencies: { '@reprise/worker': '0.1.0' } }])).toHaveLength(1)
})

test('lets through what is allowed, and what only looks like an import', () => {
  const text = [
    "import { readFileSync } from 'node:fs'",
    "import { Task } from '@reprise/core'",
    "import { open } from './inner/open.ts'",
    "// import x from 'express'",
    'export const sample = "import x from \'express\'"',
  ].join('\n')
  expect(boundaryProblems([{ path: 'packages/client/src/index.ts', text }])).toEqual([])
  const engine = "import { checkBatch } from '@reprise/core/engine'"
  expect(boundaryProblems([{ path: 'packages/engine-sqlite/src/index.ts', text: engine }])).toEqual([])
})
