/**
 * Whether due events may wait in the log that this process could claim. While there may be some, a free place ends the
 * pause of the claim loop, and `record` leases no new event (`record-claims.ts`), which would overtake them.
 */
export class Backlog {
  #isEmpty = false
  #changes = 0

  get isEmpty(): boolean {
    return this.#isEmpty
  }

  /** Events were left in the log, or soon will be. */
  add(): void {
    this.#isEmpty = false
    this.#changes++
  }

  /** Call it before a claim, and the result when the claim has found fewer events than it could. */
  beforeClaim(): () => void {
    const changes = this.#changes
    return () => {
      this.#isEmpty = changes === this.#changes
    }
  }
}
