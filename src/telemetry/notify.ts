import { randomUUID } from 'node:crypto'
import { type Duration, msOf } from '../duration.js'
import { HookonceError, invalid } from '../errors.js'
import { allowList } from '../forward/address.js'
import { type Destination, signersOf } from '../forward/destination.js'
import { checkUrl } from '../forward/guard.js'
import { send } from '../forward/send.js'
import { signatures } from '../forward/sign.js'
import { callable, duration, either, listOf, MAX_TIMER_MS, shape, text } from '../options.js'

/** `text` is one sentence, for chat services. */
export interface Notice {
  readonly type: 'alert.firing' | 'alert.resolved'
  readonly alert: string
  readonly value: number
  readonly threshold: number
  readonly unit: string
  readonly sources: Readonly<Record<string, number>>
  readonly at: string
  readonly host: string
  readonly text: string
}

export type Notify =
  /** A POST with the notice as JSON, signed as Standard Webhooks if there is a secret; private addresses are refused. */
  | {
      readonly url: string
      readonly secret?: Destination['secret']
      readonly allowPrivate?: readonly string[]
      readonly timeout?: Duration
    }
  | ((notice: Notice) => unknown)

export const notifyRule = either(
  callable,
  shape({
    url: text,
    // `signersOf` checks the secret.
    secret: either(text, listOf(text), callable),
    allowPrivate: listOf(text),
    timeout: duration(1, MAX_TIMER_MS),
  }),
)

const TIMEOUT = '10s'

/** Throws at once for wrong options. The returned function rejects when it could not send the notice. */
export function notifier(notify: Notify): (notice: Notice) => Promise<void> {
  if (typeof notify === 'function') return async (notice) => void (await notify(notice))
  if (notify !== null && typeof notify === 'object' && 'url' in notify) return byUrl(notify)
  throw invalid('alerts.notify', 'must be { url } or a function')
}

function byUrl({ url: text, secret, allowPrivate = [], timeout }: Extract<Notify, { url: string }>) {
  const what = 'alerts.notify'
  const allow = allowList('allowPrivate of alerts.notify', allowPrivate)
  const url = checkUrl(what, text, allow)
  const signers = secret === undefined ? [] : signersOf(what, secret)
  return async (notice: Notice): Promise<void> => {
    const body = Buffer.from(JSON.stringify(notice))
    const signed =
      signers.length > 0 ? await signatures(signers, `alert_${randomUUID()}`, body, Date.now()) : {}
    const headers = { 'user-agent': 'hookonce', 'content-type': 'application/json', ...signed }
    const { httpStatus } = await send({ what, url, headers, body, timeoutMs: msOf(timeout, TIMEOUT), allow })
    if (httpStatus < 200 || httpStatus > 299)
      throw new HookonceError('DESTINATION_FAILED', { what, problem: `it answered ${httpStatus}` })
  }
}
