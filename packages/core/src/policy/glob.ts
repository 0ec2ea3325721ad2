// Names with `*` for any run of characters: how policies say which actions, packs, tenants and codes they are about.
// It never goes back over what it matched. Nothing else is special: `?` and `[` stand for themselves.

export type Glob = (name: string) => boolean

export function compileGlob(glob: string): Glob {
  if (glob === '*') return () => true
  const [head = '', ...rest] = glob.split('*')
  const tail = rest.pop()
  if (tail === undefined) return (name) => name === glob
  const between = rest.filter((part) => part !== '')
  return (name) => {
    if (!name.startsWith(head) || !name.endsWith(tail)) return false
    const end = name.length - tail.length
    let at = head.length
    for (const part of between) {
      const found = name.indexOf(part, at)
      if (found === -1) return false
      at = found + part.length
    }
    return at <= end
  }
}

/** Whether any of them matches; always if there are none. */
export function compileGlobs(globs: readonly string[] | undefined): Glob {
  if (globs === undefined) return () => true
  const compiled = globs.map(compileGlob)
  return (name) => compiled.some((matches) => matches(name))
}
