// Two texts, line by line: what stays, what goes, what comes.

export interface DiffLine {
  readonly kind: 'same' | 'gone' | 'new'
  readonly text: string
}

/** More pairs of lines than this are not compared: all of one text goes and all of the other comes. */
const PAIRS_MAX = 4_000_000

export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [old, young] = [before.split('\n'), after.split('\n')]
  const isSame = (a: number, b: number): boolean => old[a] === young[b]
  let start = 0
  while (start < old.length && start < young.length && isSame(start, start)) start++
  let end = 0
  while (
    end < old.length - start &&
    end < young.length - start &&
    isSame(old.length - 1 - end, young.length - 1 - end)
  ) {
    end++
  }
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }))
  const middle = changed(old.slice(start, old.length - end), young.slice(start, young.length - end))
  return [...same(old.slice(0, start)), ...middle, ...same(end === 0 ? [] : old.slice(-end))]
}

/** By the longest lines in common. */
function changed(old: readonly string[], young: readonly string[]): readonly DiffLine[] {
  const gone = (text: string): DiffLine => ({ kind: 'gone', text })
  const come = (text: string): DiffLine => ({ kind: 'new', text })
  if (old.length * young.length > PAIRS_MAX) return [...old.map(gone), ...young.map(come)]
  const width = young.length + 1
  const common = new Uint32Array((old.length + 1) * width)
  const at = (a: number, b: number): number => common[a * width + b] ?? 0
  for (let a = old.length - 1; a >= 0; a--) {
    for (let b = young.length - 1; b >= 0; b--) {
      common[a * width + b] = old[a] === young[b] ? at(a + 1, b + 1) + 1 : Math.max(at(a + 1, b), at(a, b + 1))
    }
  }
  const lines: DiffLine[] = []
  let [a, b] = [0, 0]
  while (a < old.length || b < young.length) {
    const [left, right] = [old[a], young[b]]
    if (left !== undefined && left === right) {
      lines.push({ kind: 'same', text: left })
      a++
      b++
    } else if (left !== undefined && (right === undefined || at(a + 1, b) >= at(a, b + 1))) {
      lines.push(gone(left))
      a++
    } else if (right !== undefined) {
      lines.push(come(right))
      b++
    }
  }
  return lines
}
