/** What an alarm says: the likely cause in plain words, and what to do. */
import type { WatchedSource } from './alarm.js'

export type Rejected = ReadonlyMap<string, number>

export interface Cause {
  readonly text: string
  readonly todo: string
}

const secret: Cause = {
  text: 'the secret has probably changed',
  todo: 'Compare the secret of the source with that of the sender. A proxy that changes the body has the same effect.',
}
const unsigned: Cause = {
  text: 'the sender probably no longer signs',
  todo: 'Switch signing on at the sender. Deliveries without a signature may also come from somebody else.',
}
const clock: Cause = {
  text: 'the clock of this machine is probably wrong',
  todo: 'Synchronise the clock of this machine (NTP).',
}
const keys: Cause = {
  text: 'the public keys of the sender cannot be fetched or have changed',
  todo: 'Check that this machine can reach the key server of the sender.',
}

const causes: Readonly<Record<string, Cause>> = {
  bad_signature: secret,
  malformed_signature: secret,
  malformed_token: secret,
  wrong_claims: {
    text: 'the deliveries name another receiver',
    todo: 'Compare the options of the source with the endpoint at the sender.',
  },
  missing_signature: unsigned,
  missing_timestamp: unsigned,
  missing_field: unsigned,
  stale_timestamp: clock,
  future_timestamp: clock,
  unknown_key: keys,
  key_unavailable: keys,
}

/** `rejected`: since the last delivery that was accepted. */
export function causeOf({ name, disables }: WatchedSource, rejected: Rejected): Cause {
  const [reason] = mostFirst(rejected)
  if (reason === undefined) {
    const again = !disables ? '' : ` ${name} ${disables.when}. ${disables.again}`
    return {
      text: 'no connection at all since then: the endpoint is probably disabled at the sender, or its address no longer leads here.',
      todo: `Look at the endpoint and its failed deliveries at the sender.${again}`,
    }
  }
  const cause = causes[reason]
  return {
    text: `since then ${rejectedAs(rejected)}: ${cause?.text ?? 'see the log of this process'}.`,
    todo: `${cause?.todo ?? 'The log of this process has a line for each reason.'}${!disables ? '' : ` ${name} ${disables.when}: do not wait.`}`,
  }
}

/** `214 rejected as bad_signature`. */
export function rejectedAs(rejected: Rejected): string {
  const [reason, ...others] = mostFirst(rejected)
  const total = [...rejected.values()].reduce((sum, count) => sum + count, 0)
  return `${total} rejected as ${reason}${others.length > 0 ? ` and ${others.length} other ${others.length === 1 ? 'reason' : 'reasons'}` : ''}`
}

function mostFirst(rejected: Rejected): string[] {
  return [...rejected].sort((a, b) => b[1] - a[1]).map(([reason]) => reason)
}

/** `06:35 UTC`, with the day if it is another one. */
export function clockText(at: number, now: number): string {
  const iso = new Date(at).toISOString()
  const day = iso.slice(0, 10)
  return `${day === new Date(now).toISOString().slice(0, 10) ? '' : `${day} `}${iso.slice(11, 16)} UTC`
}
