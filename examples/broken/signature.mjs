/** Stripe's signature, checked the right way: over the bytes, in constant time, with a window for its time. */
import { createHmac, timingSafeEqual } from 'node:crypto'

const WINDOW_SECONDS = 300

/**
 * @param {Buffer | string} signed the bytes the sender is said to have signed
 * @param {string | string[] | undefined} header
 * @param {string} secret
 */
export function isGenuine(signed, header, secret) {
  const parts = new Map(
    String(header)
      .split(',')
      .map((part) => /** @type {[string, string]} */ (part.split('=', 2))),
  )
  const time = parts.get('t') ?? ''
  if (!/^\d+$/.test(time) || Math.abs(Date.now() / 1000 - Number(time)) > WINDOW_SECONDS) return false
  const expected = createHmac('sha256', secret).update(`${time}.`).update(signed).digest()
  const given = Buffer.from(parts.get('v1') ?? '', 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected)
}
