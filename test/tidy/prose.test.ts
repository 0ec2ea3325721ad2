// Pages are wrapped and name things by their nouns, and each check sees a line that does not.

import { expect, test } from 'vitest'
import { lineProblems, wordProblems } from './checks/prose.ts'
import { readFiles } from './checks/source.ts'

const pages = readFiles('*.md', 'docs/**/*.md')

test('no line of prose is too long', () => {
  expect(pages.length).toBeGreaterThan(20)
  expect(lineProblems(pages)).toEqual([])
})

test('pages say the noun', () => {
  expect(wordProblems(pages)).toEqual([])
  expect(wordProblems(page('One.\nWhoever reads this.\nSo many words.'))).toEqual([
    expect.stringContaining('docs/sample.md:2: "Whoever"'),
    expect.stringContaining('docs/sample.md:3: "So many"'),
  ])
})

const page = (text: string) => [{ path: 'docs/sample.md', text }]
const words = 'word '.repeat(30)

test('refuses a long line, and says where it is', () => {
  expect(lineProblems(page(`# Sample\n\n${words}`))).toEqual([expect.stringContaining('docs/sample.md:3: 150')])
  expect(lineProblems(page(`- ${words}`))).toHaveLength(1)
  expect(lineProblems(page(`\`\`\`\n\`\`\`\n${words}`))).toHaveLength(1)
})

test.each([
  ['a table', `| ${words} |`],
  ['code', `\`\`\`\n${words}\n\`\`\``],
  ['a link', `- [${words}](https://example.com/${'path/'.repeat(20)})`],
  ['a line that just fits', 'x '.repeat(60)],
])('lets through %s', (_, text) => {
  expect(lineProblems(page(text))).toEqual([])
})
