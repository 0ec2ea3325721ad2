// Turns SQL files into one TypeScript module. Pure: text in, text or problems out; reading and writing files is the
// part of compile-sql.ts. It knows just enough SQL to find comments, quotes, the ends of statements and their columns.
//
//   -- name: taskById             a statement
//   -- name: taskById (columns)   the module also says which of its columns stands where
//   -- part: laneInScope          text that statements of any file insert as $laneInScope
//   $DEAD                         a constant that was given; in statements only: a migration never changes

export interface SqlFile {
  /** Path as it is shown in problems, with forward slashes. */
  readonly path: string
  readonly text: string
}

interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

interface Statement {
  readonly name: string
  readonly sql: string
  /** The names of its columns in order, if they are asked for. */
  readonly columns?: readonly string[]
}

export interface Compiled {
  readonly migrations: readonly Migration[]
  readonly statements: readonly Statement[]
  /** Each as `path:line: what is wrong`. When there are any, nothing may be written. */
  readonly problems: readonly string[]
}

const migrationFileName = /^(\d{4})_([a-z0-9_]+)\.sql$/
const nameLine = /^\s*--\s*(?<kind>name|part)\s*:(?<name>.*?)(?<columns> \(columns\))?\s*$/i
const camelCase = /^[a-z][A-Za-z0-9]*$/

export type SqlConstants = Readonly<Record<string, number>>

export function compileSql(
  migrationFiles: readonly SqlFile[],
  statementFiles: readonly SqlFile[],
  constants: SqlConstants = {},
): Compiled {
  const problems: string[] = []
  const migrations = compileMigrations(migrationFiles, problems)
  const statements = compileStatements(statementFiles, constants, problems)
  return { migrations, statements, problems }
}

function compileMigrations(files: readonly SqlFile[], problems: string[]): Migration[] {
  const migrations: Migration[] = []
  for (const { path, text } of files.toSorted(byPath)) {
    const match = migrationFileName.exec(path.slice(path.lastIndexOf('/') + 1))
    const [, digits, name] = match ?? []
    if (digits === undefined || name === undefined) {
      problems.push(`${path}:1: a migration's file is named NNNN_name.sql, in lower case`)
      continue
    }
    const version = Number(digits)
    const expected = migrations.length + 1
    if (version !== expected) {
      const wanted = String(expected).padStart(4, '0')
      problems.push(`${path}:1: migrations are numbered without gaps or repeats; this one should be ${wanted}`)
    }
    const sql = trimBlankLines(stripComments(text))
    if (sql === '') problems.push(`${path}:1: the migration is empty`)
    migrations.push({ version, name, sql })
  }
  return migrations
}

function compileStatements(files: readonly SqlFile[], constants: SqlConstants, problems: string[]): Statement[] {
  const statements: Statement[] = []
  const firstSeenAt = new Map<string, string>()
  const blocks = files
    .toSorted(byPath)
    .flatMap((file) => splitByName(file, problems).map((block) => ({ ...block, at: `${file.path}:${block.line}` })))
  const parts = new Map(blocks.filter(({ isPart }) => isPart).map(({ name, sql }) => [name, sql.trim()]))
  const filled = (sql: string, at: string): string =>
    sql.replace(inserted, (found, name: string) => {
      const part = parts.get(name)
      if (part !== undefined) return filled(part, at)
      const constant = constants[name]
      if (constant === undefined) problems.push(`${at}: there is no part and no constant ${found}`)
      return String(constant)
    })
  for (const block of blocks) {
    const { name, at } = block
    const sql = trimBlankLines(block.isPart ? block.sql : filled(block.sql, at))
    const earlier = firstSeenAt.get(name)
    if (earlier !== undefined) problems.push(`${at}: the name ${name} is already used at ${earlier}`)
    if (sql === '') problems.push(`${at}: ${name} has no statement`)
    firstSeenAt.set(name, earlier ?? at)
    if (!block.isPart) statements.push({ name, sql, ...(block.hasColumns ? { columns: columnsOf(sql) } : {}) })
  }
  return statements
}

const inserted = /\$(\w+)/g

/** The names of what the first SELECT of a statement gives: the last word of each item. */
function columnsOf(sql: string): string[] {
  const columns: string[] = []
  let depth = 0
  let item = ''
  for (const [piece] of sql.slice(sql.search(/\bSELECT\b/i) + 'SELECT'.length).matchAll(/\bFROM\b|[(),]|[^(),]/gi)) {
    if (piece === '(') depth++
    if (piece === ')') depth--
    const isEnd = depth === 0 && /^from$/i.test(piece)
    if (isEnd || (depth === 0 && piece === ',')) {
      columns.push(/\w+$/.exec(item.trimEnd())?.[0] ?? '')
      item = ''
    } else item += piece
    if (isEnd) break
  }
  return columns
}

interface Block {
  readonly name: string
  readonly isPart: boolean
  readonly hasColumns: boolean
  /** Of the `-- name:` line, from 1. */
  readonly line: number
  readonly sql: string
}

function splitByName({ path, text }: SqlFile, problems: string[]): Block[] {
  const lines = text.split('\n')
  // Blanking keeps every line in its place, so that a line number here is one in the file.
  const code = blankComments(text).split('\n')
  const blocks: Block[] = []
  let open: (Omit<Block, 'sql'> & { readonly from: number }) | undefined

  const close = (end: number) => {
    if (open === undefined) return
    const { from, ...named } = open
    const stray = lineAfterFirstStatement(code.slice(from, end))
    if (stray !== undefined) {
      problems.push(
        `${path}:${from + stray + 1}: a statement without a name, after ${named.name}; add a "-- name:" line`,
      )
    }
    blocks.push({ ...named, sql: stripComments(lines.slice(from, end).join('\n')) })
  }

  for (const [index, line] of lines.entries()) {
    const isComment = code[index]?.trim() === ''
    const found = isComment ? nameLine.exec(line)?.groups : undefined
    if (found !== undefined) {
      const name = found.name?.trim() ?? ''
      const isPart = found.kind?.toLowerCase() === 'part'
      close(index)
      if (!camelCase.test(name)) problems.push(`${path}:${index + 1}: "${name}" is not a camelCase name`)
      open = { name, isPart, hasColumns: found.columns !== undefined, line: index + 1, from: index + 1 }
    } else if (open === undefined && !isComment) {
      problems.push(`${path}:${index + 1}: a statement without a name; put a "-- name: someName" line above it`)
      return blocks
    }
  }
  close(lines.length)
  return blocks
}

/** The line, from 0, where a second statement starts, or undefined. The input is free of comments. */
function lineAfterFirstStatement(code: readonly string[]): number | undefined {
  const text = blankQuotes(code.join('\n'))
  const end = text.indexOf(';')
  if (end === -1) return undefined
  const rest = text.slice(end + 1)
  const start = rest.search(/\S/)
  if (start === -1) return undefined
  return text.slice(0, end + 1 + start).split('\n').length - 1
}

/** A comment, a quoted string or a quoted name, whichever comes first. An unclosed one reaches to the end. */
const token =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$)/g
const isCommentToken = (found: string) => found.startsWith('--') || found.startsWith('/*')
const blank = (text: string) => text.replace(/[^\n]/g, ' ')
const lineBreaksOf = (text: string) => text.replace(/[^\n]/g, '')

function blankComments(sql: string): string {
  return sql.replace(token, (found) => (isCommentToken(found) ? blank(found) : found))
}

function blankQuotes(sql: string): string {
  return sql.replace(token, (found) => (isCommentToken(found) ? found : found.replace(/[^\n]/g, 'x')))
}

/** Takes comments out, and the lines that held nothing else. Everything else stays as it is. */
function stripComments(sql: string): string {
  const before = sql.split('\n')
  const after = sql.replace(token, (found) => (isCommentToken(found) ? lineBreaksOf(found) : found)).split('\n')
  const kept: string[] = []
  for (const [index, line] of after.entries()) {
    const original = before[index] ?? ''
    if (line.trim() === '' && original.trim() !== '') continue
    kept.push(line === original ? line : line.trimEnd())
  }
  return kept.join('\n')
}

function trimBlankLines(sql: string): string {
  return sql.replace(/^(?:[ \t]*\n)+/, '').trimEnd()
}

function byPath(a: SqlFile, b: SqlFile): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0
}

export function renderModule({ migrations, statements }: Compiled): string {
  const migrationLines = migrations.map(
    ({ version, name, sql }) => `  { version: ${version}, name: '${name}', sql: ${templateLiteral(sql)} },\n`,
  )
  const statementLines = statements.map(({ name, sql }) => `  ${name}: ${templateLiteral(sql)},\n`)
  const columnLines = statements.flatMap(({ name, columns }) => {
    if (columns === undefined) return []
    return [`  ${name}: { ${columns.map((column, place) => `${column}: ${place}`).join(', ')} },\n`]
  })
  return [
    '// The SQL of this package, compiled from its sql folder. Do not edit: change the .sql files and run\n',
    '// `npm run generate`.\n\n',
    `export const migrations = [${wrapped(migrationLines)}] as const\n\n`,
    `export const statements = {${wrapped(statementLines)}} as const\n`,
    columnLines.length === 0 ? '' : `\nexport const columns = {${wrapped(columnLines)}} as const\n`,
  ].join('')
}

function wrapped(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `\n${lines.join('')}`
}

function templateLiteral(text: string): string {
  return `\`${text.replace(/\\|`|\$\{/g, '\\$&')}\``
}
