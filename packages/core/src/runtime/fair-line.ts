// A line in which everybody has a turn: of those who wait, the next is the first of the name whose turn it is. Whoever waits a
// hundredfold keeps nobody else waiting for longer.

export class FairLine<T> {
  /** By name; the name whose turn it is comes first. */
  readonly #waiting = new Map<string, T[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(name: string, one: T): void {
    const line = this.#waiting.get(name)
    if (line === undefined) this.#waiting.set(name, [one])
    else line.push(one)
    this.#size++
  }

  /** Takes the next out of the line: of those whose name may come now, if that is asked. Others keep their place. */
  next(mayCome: (name: string) => boolean = () => true): T | undefined {
    for (const [name, line] of this.#waiting) {
      if (!mayCome(name)) continue
      this.#waiting.delete(name)
      const next = line.shift()
      if (line.length > 0) this.#waiting.set(name, line)
      this.#size--
      return next
    }
    return undefined
  }
}
