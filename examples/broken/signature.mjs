/** A correct check of Stripe's signature: over the raw bytes, in constant time, with a limit for its age. */
import { createHmac, timingSafeEqual } from 'node:crypto'

const WINDOW_SECONDS = 300

/**
 * @param {Buffer | string} signed the bytes to verify
 * @param {string | string[] | undefined} header
 * @param {string} secret
 */
export function isGenuine(signed, header, secret) {
  const fields = new Map(
    String(header)
      .split(',')
      .map((part) => /** @type {[string, string]} */ (part.split('=', 2))),
  )
  const time = fields.get('t') ?? ''
  if (!/^\d+$/.test(time) || Math.abs(Date.now() / 1000 - Number(time)) > WINDOW_SECONDS) return false
  const expected = createHmac('sha256', secret).update(`${time}.`).update(signed).digest()
  const received = Buffer.from(fields.get('v1') ?? '', 'hex')
  return received.length === expected.length && timingSafeEqual(received, expected)
}
