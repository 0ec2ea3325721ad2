// Something one loop waits on and many wake. A wake that comes while nobody waits is remembered for the next wait, so
// none is lost; several count as one.

export class Latch {
  #isSet = false
  #release: (() => void) | null = null

  wake(): void {
    this.#isSet = true
    this.#release?.()
    this.#release = null
  }

  /** Comes back at the next wake, or at once if there was one since the last wait. */
  async wait(): Promise<void> {
    if (!this.#isSet) {
      await new Promise<void>((resolve) => {
        this.#release = resolve
      })
    }
    this.#isSet = false
  }
}
