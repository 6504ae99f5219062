/** A handler that charges a card at another service, with a place to stop at each step around the effect and its record. */

/**
 * Those of the lookup are reached only when an earlier attempt has begun the effect, so they come after a step at which an
 * effect is begun and not finished, and nobody else can finish it before its lease has ended.
 */
export const steps = [
  'before start',
  'after finish',
  'before commit',
  'after commit',
  'after start',
  'before the call',
  'after the call',
  'before finish',
  'before lookup',
  'after lookup',
]

/**
 * @typedef {object} Paying
 * @property {string} url of the payment service
 * @property {string} insert
 * @property {boolean} lookup
 * @property {import('hookonce').Duration} [keyLives]
 * @property {(step: string) => Promise<void>} [reached]
 */

/** @param {Paying} options @returns {import('hookonce').Handler<any>} */
export function payingHandler({ url, insert, lookup, keyLives, reached = async () => {} }) {
  return async (event, ctx) => {
    const pay = async () => {
      await reached('before the call')
      const key = ctx.idempotencyKey('charge')
      const answer = await fetch(`${url}/charges/${event.id}`, {
        method: 'POST',
        headers: { 'idempotency-key': key },
      })
      if (!answer.ok) throw new Error(`the payment service answered ${answer.status}`)
      const charge = await answer.json()
      await reached('after the call')
      return charge
    }
    const find = async () => {
      await reached('before lookup')
      const answer = await fetch(`${url}/charges/${event.id}`)
      if (!answer.ok) throw new Error(`the payment service answered ${answer.status}`)
      const found = await answer.json()
      await reached('after lookup')
      return found
    }
    const charge = /** @type {{ id: string }} */ (
      await ctx.once('charge', pay, {
        ...(lookup && { lookup: find }),
        ...(keyLives && { keyLives }),
      })
    )
    const value = `${event.id}: ${charge.id}`
    await (insert.includes('?') ? ctx.tx.run(insert, [value]) : ctx.tx.query(insert, [value]))
  }
}
