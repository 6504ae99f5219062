/**
 * A store whose payloads are encrypted. Hashes are made before, so duplicates are found as ever; export, archive and
 * restore pass the sealed form on. Rotation is another `current`: old payloads keep the key they name.
 */
import { isHookonceError } from '../errors.js'
import type { ClaimedEvent } from '../model.js'
import type { Store } from '../store.js'
import type { KeyRing } from './keys.js'
import { seal, unseal } from './seal.js'

export function encrypted<Tx>(store: Store<Tx>, ring: KeyRing): Store<Tx> {
  return {
    ...store,
    record: (deliveries) => store.record(deliveries.map((delivery) => seal(ring, delivery))),
    claim: async (options) => (await store.claim(options)).map((claimed) => readable(ring, claimed)),
    async payload(key) {
      const payload = await store.payload(key)
      return payload && { ...payload, ...unseal(ring, key.source, payload) }
    },
  }
}

/** A claimed event that cannot be read must not fail the claim of its neighbours: its own attempt fails. */
function readable(ring: KeyRing, claimed: ClaimedEvent): ClaimedEvent {
  if (claimed.body === null) return claimed
  try {
    return { ...claimed, ...unseal(ring, claimed.source, { headers: claimed.headers, body: claimed.body }) }
  } catch (error) {
    if (!isHookonceError(error)) throw error
    return { ...claimed, headers: {}, body: null, unreadable: error }
  }
}
