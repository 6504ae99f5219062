/**
 * A store whose payloads are encrypted. Hashes are made before, so duplicates are found as ever; export, archive and
 * restore pass the sealed form on. Rotation is another `current`: old payloads keep the key they name.
 */
import { HookonceError, isHookonceError } from '../errors.js'
import type { ClaimedEvent, EventKey, NewDelivery, RecordVerdict } from '../model.js'
import type { Store } from '../store.js'
import type { KeyRing } from './key-ring.js'
import { keyOf, seal, unseal } from './seal.js'

export function encrypted<Tx>(store: Store<Tx>, ring: KeyRing): Store<Tx> {
  const { inspect } = store
  return {
    ...store,
    ...sealing(ring, store),
    claim: async (options) => (await store.claim(options)).map((claimed) => readable(ring, claimed)),
    ...(inspect && {
      inspect: {
        ...inspect,
        async payload(key: EventKey) {
          const payload = await inspect.payload(key)
          return payload && { ...payload, ...unseal(ring, { ...key, part: payload.part }, payload) }
        },
      },
    }),
  }
}

/** Seals deliveries before `next` gets them. A sealed delivery is not sealed again. */
export function sealing<Result>(
  ring: KeyRing,
  next: { record(deliveries: readonly NewDelivery[]): Promise<Result> },
): { record(deliveries: readonly NewDelivery[]): Promise<Result> } {
  return {
    record: (deliveries) => next.record(deliveries.map((delivery) => seal(ring, delivery))),
  }
}

/**
 * Refuses a delivery out of the spool that is not sealed, when encryption is required: the inbox seals before it spools,
 * so somebody else may have written it.
 */
export function refuseUnsealed(
  ring: KeyRing,
  { source, headers, events }: NewDelivery,
): RecordVerdict[] | null {
  if (!ring.required || keyOf(headers) !== null) return null
  return events.map(({ eventId }) => {
    const { code, message } = new HookonceError('ENCRYPTION_REQUIRED', { source, eventId })
    return { status: 'refused', code, detail: message }
  })
}

/** A claimed event that cannot be read must not fail the claim of its neighbours: its own attempt fails. */
function readable(ring: KeyRing, claimed: ClaimedEvent): ClaimedEvent {
  if (claimed.body === null) return claimed
  try {
    return { ...claimed, ...unseal(ring, claimed, { headers: claimed.headers, body: claimed.body }) }
  } catch (error) {
    if (!isHookonceError(error)) throw error
    return { ...claimed, headers: {}, body: null, unreadable: error }
  }
}
