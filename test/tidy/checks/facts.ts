// A fact has one home. What core says is not typed again in an engine's TypeScript, Lua or SQL, nor in the model; and no words
// for people are typed in two languages.

import { at, isNode, parse, type SourceFile, walk } from './source.ts'

const coreFolder = 'packages/core/'
const isScript = ({ path }: SourceFile): boolean => path.endsWith('.lua') || path.endsWith('.sql')

/** Constants that another file declares under the name of one of core's, with a value of its own. */
export function retypedConstants(files: readonly SourceFile[]): string[] {
  const known = new Set(
    files
      .filter(({ path }) => path.startsWith(coreFolder))
      .flatMap(({ text }) => [...text.matchAll(/^export const ([A-Z][A-Z0-9_]+)\b/gm)].map(([, name = '']) => name)),
  )
  return files
    .filter(({ path }) => !path.startsWith(coreFolder))
    .flatMap((file) =>
      [...file.text.matchAll(/^\s*(?:export )?(?:local|const) ([A-Z][A-Z0-9_]+)(?:: [^=]+)? =/gm)].flatMap((found) => {
        const [, name = ''] = found
        return known.has(name) ? [`${at(file, found.index)}: ${name} is a constant of core: take it from there`] : []
      }),
    )
}

/** Two words or more that a person reads, and more than such as 'at most'. */
const isSentence = (text: string): boolean => text.length >= 8 && /[a-z]{2,} [a-z]{2,}/.test(text)

/** Words for people that a script and TypeScript have in common. */
export function sentencesInTwoLanguages(files: readonly SourceFile[]): string[] {
  const inTypeScript = new Set(
    files
      .filter((file) => !isScript(file))
      .flatMap(literalsOf)
      .map(plain),
  )
  return files.filter(isScript).flatMap((file) =>
    [...file.text.matchAll(/'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|--[^\n]*/g)].flatMap((found) => {
      const text = plain(found[1] ?? found[2] ?? '')
      if (!isSentence(text) || !inTypeScript.has(text)) return []
      return [`${at(file, found.index)}: '${text}' is said in TypeScript too: let the compiler put it here`]
    }),
  )
}

/** Without what stands around a part of a sentence. */
const plain = (text: string): string => text.replace(/^[\s.,:;'"\\]+|[\s.,:;'"\\]+$/g, '')

/** The texts of a TypeScript file, templates in the parts between what is filled in. */
function literalsOf(file: SourceFile): string[] {
  const found: string[] = []
  walk(parse(file).program, (node) => {
    if (node.type === 'Literal' && typeof node.value === 'string') found.push(node.value)
    if (node.type !== 'TemplateElement' || !isRaw(node.value)) return
    found.push(node.value.raw)
  })
  return found
}

const isRaw = (value: unknown): value is { readonly raw: string } =>
  typeof value === 'object' && value !== null && !isNode(value) && 'raw' in value && typeof value.raw === 'string'
