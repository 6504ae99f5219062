/** The pause between two claims. A wake-up before the pause ends it as soon as it begins, so none is missed. */
export class Pause {
  #isEnded = false
  #resume: (() => void) | null = null

  /** With jitter, so that processes that started together do not poll together. */
  async begin(ms: number): Promise<void> {
    if (!this.#isEnded) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms * (0.75 + Math.random() / 2))
        this.#resume = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#resume = null
    this.#isEnded = false
  }

  end(): void {
    this.#isEnded = true
    this.#resume?.()
  }

  /** An event is due in this time. */
  endIn(ms: number): void {
    setTimeout(() => this.end(), ms + 1).unref()
  }
}
