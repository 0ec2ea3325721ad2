// Every error code has its section in docs/errors.md, with the same status as the registry and advice on what to do.

interface ErrorEntry {
  readonly status: number
  readonly title: string
}

export function errorDocProblems(registry: Readonly<Record<string, ErrorEntry>>, markdown: string): string[] {
  const sections = sectionsOf(markdown)
  const problems: string[] = []

  for (const [code, { status }] of Object.entries(registry)) {
    const own = sections.filter((section) => section.heading === code)
    const [section] = own
    if (section === undefined) {
      problems.push(`${code} has no section: add "## ${code}"`)
      continue
    }
    if (own.length > 1) problems.push(`${code} has ${own.length} sections, and needs exactly one`)
    const documented = /^\*\*Status:\*\* (\d+)\s*$/m.exec(section.body)?.[1]
    if (documented !== String(status)) {
      problems.push(`${code} needs a line "**Status:** ${status}"; found ${documented ?? 'none'}`)
    }
    if (!/^(?:#+ |\*\*)?What to do\b[^\n]*(?:\S|\n\s*\S)/m.test(section.body)) {
      problems.push(`${code} needs a paragraph that starts with "What to do"`)
    }
  }

  for (const { heading } of sections) {
    if (/^REPRISE_\w+$/.test(heading) && !Object.hasOwn(registry, heading)) {
      problems.push(`${heading} is documented but not in the registry`)
    }
  }
  return problems
}

interface Section {
  readonly heading: string
  readonly body: string
}

function sectionsOf(markdown: string): Section[] {
  const [, ...parts] = `\n${markdown.replaceAll('\r\n', '\n')}`.split(/\n## /)
  return parts.map((part) => {
    const [heading = '', ...body] = part.split('\n')
    return { heading: heading.trim().replaceAll('`', ''), body: body.join('\n') }
  })
}
