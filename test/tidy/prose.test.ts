// Pages are wrapped, and the check sees a line that is not.

import { expect, test } from 'vitest'
import { lineProblems } from './checks/prose.ts'
import { readFiles } from './checks/source.ts'

test('no line of prose is too long', () => {
  const pages = readFiles('*.md', 'docs/**/*.md')
  expect(pages.length).toBeGreaterThan(20)
  expect(lineProblems(pages)).toEqual([])
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
