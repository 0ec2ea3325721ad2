// Two stores draw different tokens and epochs for the same steps. Before answers are compared, both are renamed by their
// first appearance, so that only their pattern counts: which are equal, which are new.

export class Names {
  readonly #known = new Map<unknown, string>()

  /** A plain copy in which tokens and epochs have their new names, and what is undefined is left out. */
  renamed(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item: unknown) => this.renamed(item))
    if (typeof value !== 'object' || value === null) return value
    const copy: Record<string, unknown> = {}
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue
      copy[key] = key === 'token' || key === 'epoch' ? this.#nameOf(item) : this.renamed(item)
    }
    return copy
  }

  #nameOf(secret: unknown): string {
    const name = this.#known.get(secret) ?? `#${this.#known.size + 1}`
    this.#known.set(secret, name)
    return name
  }
}
