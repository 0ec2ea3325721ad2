// The SQL compiler: what it takes out, what it keeps, and each mistake it must refuse.

import { describe, expect, test } from 'vitest'
import { compileSql, renderModule } from '../../scripts/sql-compiler.ts'

const statements = (text: string) => compileSql([], [{ path: 'sql/tasks.sql', text }])
const migrations = (...files: [name: string, text: string][]) =>
  compileSql(
    files.map(([name, text]) => ({ path: `sql/migrations/${name}`, text })),
    [],
  )

describe('statements', () => {
  test('are named, and lose their comments and nothing else', () => {
    const { statements: found, problems } = statements(
      [
        '-- About this file.',
        '',
        '-- Why it is written this way.',
        '-- name: taskById',
        '-- More of why.',
        'SELECT *   -- every column',
        '',
        "  FROM task WHERE id = ? /* one */ AND note <> '-- not a comment; nor an end';",
        '',
        '-- Says something about the next one.',
        '-- name: countTasks',
        'SELECT count(*) FROM task',
      ].join('\n'),
    )
    expect(problems).toEqual([])
    expect(found).toEqual([
      {
        name: 'taskById',
        sql: "SELECT *\n\n  FROM task WHERE id = ?  AND note <> '-- not a comment; nor an end';",
      },
      { name: 'countTasks', sql: 'SELECT count(*) FROM task' },
    ])
  })

  test.each([
    ['without any name', 'SELECT 1;', 'sql/tasks.sql:1: a statement without a name'],
    [
      'a second one under the same name',
      '-- name: one\nSELECT 1;\n\nSELECT 2;',
      'sql/tasks.sql:4: a statement without a name',
    ],
    [
      'a name used twice',
      '-- name: one\nSELECT 1;\n-- name: one\nSELECT 2;',
      'sql/tasks.sql:3: the name one is already used at sql/tasks.sql:1',
    ],
    [
      'a name in another case',
      '-- name: Task_by_id\nSELECT 1;',
      'sql/tasks.sql:1: "Task_by_id" is not a camelCase name',
    ],
    ['a name with nothing below', '-- name: one\n-- only a comment', 'sql/tasks.sql:1: one has no statement'],
  ])('refuses %s', (_, text, problem) => {
    expect(statements(text).problems).toEqual([expect.stringContaining(problem)])
  })
})

describe('what statements insert', () => {
  const compiled = (text: string) => compileSql([], [{ path: 'sql/tasks.sql', text }], { DEAD: 4 })

  test('a constant, and a part that may have constants of its own', () => {
    const { statements: found, problems } = compiled(
      ['-- part: isDead', 'status = $DEAD', '-- name: dead', 'SELECT seq FROM tasks WHERE $isDead AND seq > ?;'].join(
        '\n',
      ),
    )
    expect(problems).toEqual([])
    expect(found).toEqual([{ name: 'dead', sql: 'SELECT seq FROM tasks WHERE status = 4 AND seq > ?;' }])
  })

  test('columns are named by their last word, in order', () => {
    const text =
      '-- name: seen (columns)\nSELECT t.seq, coalesce(a, (SELECT b FROM c)) AS b,\n CASE WHEN x THEN 1 END AS at FROM t'
    expect(compiled(text).statements[0]?.columns).toEqual(['seq', 'b', 'at'])
    expect(renderModule(compiled(text))).toContain('  seen: { seq: 0, b: 1, at: 2 },\n')
  })

  test('refuses what is not there', () => {
    expect(compiled('-- name: one\nSELECT $LIVE;').problems).toEqual([
      'sql/tasks.sql:1: there is no part and no constant $LIVE',
    ])
  })
})

describe('migrations', () => {
  test('are whole files in the order of their numbers', () => {
    const compiled = migrations(['0002_add_label.sql', 'B;\nC;'], ['0001_initial.sql', '-- Why.\nA;\n'])
    expect(compiled.problems).toEqual([])
    expect(compiled.migrations).toEqual([
      { version: 1, name: 'initial', sql: 'A;' },
      { version: 2, name: 'add_label', sql: 'B;\nC;' },
    ])
  })

  test('refuses a gap, a repeat and a wrong name', () => {
    expect(migrations(['0001_a.sql', 'A'], ['0003_b.sql', 'B']).problems).toEqual([
      expect.stringContaining('0003_b.sql:1'),
    ])
    expect(migrations(['0001_a.sql', 'A'], ['0001_b.sql', 'B']).problems).toEqual([
      expect.stringContaining('0001_b.sql:1'),
    ])
    expect(migrations(['initial.sql', 'A']).problems).toEqual([expect.stringContaining('initial.sql:1')])
  })
})

test('the module survives backticks, backslashes and dollar signs', async () => {
  const sql = 'SELECT `a`, "\\n", $' + '{x}'
  const module = renderModule({ migrations: [], statements: [{ name: 'odd', sql }], problems: [] })
  const loaded: unknown = await import(
    /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(module.replaceAll(' as const', ''))}`
  )
  expect(loaded).toMatchObject({ migrations: [], statements: { odd: sql } })
})
