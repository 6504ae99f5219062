/**
 * A store whose payloads are encrypted. Hashes are made before encryption, so duplicates are found as before. Export,
 * archive and restore keep the encrypted form. Keys are rotated by a new `current`: older payloads keep their key.
 */
import { HookonceError, isHookonceError } from '../errors.js'
import type {
  Action,
  ActionResult,
  ClaimedEvent,
  EventKey,
  NewDelivery,
  RecordClaim,
  RecordVerdict,
} from '../model.js'
import type { ImportedEvent, Payload, Store, StoreTransaction } from '../store.js'
import type { KeyRing } from './key-ring.js'
import { type Place, type Sealable, seal, sealingKeyId, sealReply, unseal, unsealReply } from './seal.js'

export function encrypted<Tx>(store: Store<Tx>, ring: KeyRing): Store<Tx> {
  const { inspect, imports, replies } = store
  return {
    ...store,
    ...sealing(ring, store),
    claim: async (options) => (await store.claim(options)).map((claimed) => readable(ring, claimed)),
    operate: (action) => operate(ring, store, action),
    ...(inspect && {
      inspect: {
        ...inspect,
        async payload(key: EventKey) {
          const payload = await inspect.payload(key)
          return payload && { ...payload, ...unseal(ring, placeOf(key, payload), payload) }
        },
        async conflict(key: EventKey, hash?: string) {
          const conflict = await inspect.conflict(key, hash)
          return conflict && { ...conflict, ...unseal(ring, placeOf(key, conflict, true), conflict) }
        },
      },
    }),
    ...(replies && {
      transaction: async (options) => sealingReplies(ring, await store.transaction(options)),
      replies: {
        async get(key: EventKey) {
          const reply = await replies.get(key)
          return reply && unsealReply(ring, key, reply)
        },
      },
    }),
    ...(imports && {
      imports: {
        ...imports,
        add: (events: readonly ImportedEvent[]) => imports.add(events.map((event) => sealed(ring, event))),
      },
    }),
  }
}

function sealingReplies<Tx>(ring: KeyRing, transaction: StoreTransaction<Tx>): StoreTransaction<Tx> {
  const { tx, replies } = transaction
  return {
    tx,
    get beginFailure() {
      return transaction.beginFailure ?? null
    },
    settle: (settlements) => transaction.settle(settlements),
    finish: (settlements, onSent) => transaction.finish(settlements, onSent),
    commit: () => transaction.commit(),
    rollback: () => transaction.rollback(),
    get keys() {
      return transaction.keys!
    },
    ...(replies && {
      replies: { put: (claimed, reply) => replies.put(claimed, sealReply(ring, claimed, reply)) },
    }),
  }
}

function placeOf(
  { source, id }: EventKey,
  { part, contentHash }: Pick<Payload, 'part' | 'contentHash'>,
  isConflict = false,
): Place {
  return { source, id, part, contentHash, isConflict }
}

/** An event whose payload cannot be decrypted would only become a dead letter. */
async function operate(ring: KeyRing, store: Store, action: Action): Promise<ActionResult[]> {
  const { inspect } = store
  if (action.verb === 'ignore' || !inspect) return store.operate(action)
  const refused: (ActionResult | null)[] = []
  for (const key of action.events) {
    const { conflict } = action
    const named = typeof conflict === 'string' ? conflict : undefined
    const payload = conflict ? await inspect.conflict(key, named) : await inspect.payload(key)
    const fits = payload === null || isReadable(ring, placeOf(key, payload, Boolean(conflict)), payload)
    refused.push(fits ? null : { done: false, code: 'PAYLOAD_UNREADABLE' })
  }
  const results = await store.operate({ ...action, events: action.events.filter((_, i) => !refused[i]) })
  return refused.map((refusal) => refusal ?? results.shift()!)
}

function isReadable(ring: KeyRing, place: Place, payload: Sealable): boolean {
  try {
    unseal(ring, place, payload)
    return true
  } catch (error) {
    if (!isHookonceError(error)) throw error
    return false
  }
}

function sealed(ring: KeyRing, event: ImportedEvent): ImportedEvent {
  if (event.payload === null) return event
  const { source, id, type, reference, payload } = event
  const events = [{ id, type, reference, contentHash: null, guardHash: null }]
  const { headers, body } = seal(ring, { source, events, ...payload })
  return { ...event, payload: { headers, body } }
}

export function sealing<Result>(
  ring: KeyRing,
  next: { record(deliveries: readonly NewDelivery[], claim?: RecordClaim): Promise<Result> },
): { record(deliveries: readonly NewDelivery[], claim?: RecordClaim): Promise<Result> } {
  return {
    record: (deliveries, claim) =>
      next.record(
        deliveries.map((delivery) => seal(ring, delivery)),
        claim,
      ),
  }
}

/** The inbox seals before it spools: another program may have written a delivery of the spool that is not sealed. */
export function refuseUnsealed(
  ring: KeyRing,
  { source, headers, events }: NewDelivery,
): RecordVerdict[] | null {
  if (!ring.required || sealingKeyId(headers) !== null) return null
  return events.map(({ id }) => {
    const { code, message } = new HookonceError('ENCRYPTION_REQUIRED', { source, eventId: id })
    return { status: 'refused', code, detail: message }
  })
}

/** An event that cannot be decrypted fails its own attempt, not the claim of the other events. */
export function readable(ring: KeyRing, claimed: ClaimedEvent): ClaimedEvent {
  if (claimed.body === null) return claimed
  try {
    return { ...claimed, ...unseal(ring, claimed, { headers: claimed.headers, body: claimed.body }) }
  } catch (error) {
    if (!isHookonceError(error)) throw error
    return { ...claimed, headers: {}, body: null, unreadable: error }
  }
}
