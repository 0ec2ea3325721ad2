// Writes packages/engine-sqlite/src/sql.generated.ts from the .sql files of that package. With --check it writes
// nothing and exits with 1 if the file is not what it would write.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL_CONSTANTS } from '../packages/engine-sqlite/src/stored-numbers.ts'
import { compileSql, renderModule, type SqlFile } from './sql-compiler.ts'

const root = join(import.meta.dirname, '..')
const sqlFolder = 'packages/engine-sqlite/sql'
const outputPath = 'packages/engine-sqlite/src/sql.generated.ts'

function readSqlFiles(folder: string): SqlFile[] {
  const absolute = join(root, folder)
  if (!existsSync(absolute)) return []
  return readdirSync(absolute)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => ({ path: `${folder}/${name}`, text: readText(join(absolute, name)) }))
}

function readText(path: string): string {
  return readFileSync(path, 'utf8').replaceAll('\r\n', '\n')
}

function main(): number {
  const compiled = compileSql(readSqlFiles(`${sqlFolder}/migrations`), readSqlFiles(sqlFolder), SQL_CONSTANTS)
  if (compiled.problems.length > 0) {
    process.stderr.write(`${compiled.problems.join('\n')}\n`)
    return 1
  }

  const output = join(root, outputPath)
  const fresh = renderModule(compiled)
  const current = existsSync(output) ? readText(output) : undefined
  const contents = `${compiled.migrations.length} migrations, ${compiled.statements.length} statements`

  if (process.argv.includes('--check')) {
    if (current === fresh) {
      process.stdout.write(`${outputPath} is up to date (${contents})\n`)
      return 0
    }
    process.stderr.write(
      `${outputPath} does not match the .sql files: run \`npm run generate\` and commit the result\n`,
    )
    return 1
  }

  if (current !== fresh) writeFileSync(output, fresh)
  process.stdout.write(`${outputPath} ${current === fresh ? 'was up to date' : 'written'} (${contents})\n`)
  return 0
}

process.exitCode = main()
