// A function of a text that is asked about the same few texts again and again: it answers from memory. What it remembers is
// bounded; when that is full it begins anew, which costs less than to know what was used last.

export interface RememberedOptions {
  readonly textsMax: number
  /** A longer text is judged each time. */
  readonly lengthMax: number
}

export function remembered<T extends string | number | boolean | object | null>(
  judge: (text: string) => T,
  { textsMax, lengthMax }: RememberedOptions,
): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const judged = judge(text)
    if (text.length > lengthMax) return judged
    if (known.size >= textsMax) known.clear()
    known.set(text, judged)
    return judged
  }
}
