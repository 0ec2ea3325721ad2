// The API document: valid by the rules of OpenAPI 3.1, complete, and the one that is checked in.

import { readFileSync } from 'node:fs'
import { openApiDocument, ROUTES } from '@reprise/operations'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'

const document = openApiDocument(ROUTES, { version: '0.1.0' })

test('is a valid OpenAPI 3.1 document', async () => {
  const result = await new Validator().validate(structuredClone(document))
  expect(result).toMatchObject({ valid: true })
})

test('is the one in docs', () => {
  const file = new URL('../../../docs/openapi.json', import.meta.url)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(document)))
})

test('has every route once, with its own operation id, and every parameter of its path', () => {
  const paths = document.paths as Readonly<
    Record<string, Readonly<Record<string, { operationId: string; parameters?: { name: string; in: string }[] }>>>
  >
  const seen = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
  expect(seen.toSorted()).toEqual(Object.keys(ROUTES).toSorted())
  for (const [operation, route] of Object.entries(ROUTES)) {
    const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const described = paths[route.path]?.[route.method.toLowerCase()]?.parameters ?? []
    expect([operation, described.filter((one) => one.in === 'path').map(({ name }) => name)]).toEqual([
      operation,
      names,
    ])
  }
})

test('refers only to what it has', () => {
  const components = document.components as Readonly<Record<string, Readonly<Record<string, unknown>>>>
  const refs = [...JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)]
  expect(refs.length).toBeGreaterThan(100)
  for (const [ref, kind = '', name = ''] of refs) expect([ref, components[kind]?.[name]]).not.toEqual([ref, undefined])
})
