/**
 * Which listed events this endpoint gets. A list of deliveries has only those. A list of events has all of the account: then
 * the sender is asked what the endpoint subscribes to. When it does not tell, an event is expected when a handler names its
 * type, or when the log has events of that type; a handler for `*` alone says nothing about what the sender sends.
 */
import { handlesType } from '../glob.js'
import type { ListedEvent, ListReader, ListScope, Source } from '../provider.js'
import { type HandledTypes, need, type Store } from '../store.js'

const MAX_KNOWN_TYPES = 10_000

export interface Expected {
  readonly scope: ListScope | null
  has(event: ListedEvent): boolean
}

export async function expectedOf(
  store: Store,
  name: string,
  source: Source,
  reader: ListReader,
  handled: readonly HandledTypes[],
): Promise<Expected> {
  if (source.list!.of === 'deliveries') return { scope: null, has: () => true }
  const scope = await reader.scope()
  const separator = source.typeSeparator
  if (scope) {
    const { types, since = 0 } = scope
    return {
      scope,
      has: ({ type, occurredAt }) =>
        occurredAt >= since && types.some((pattern) => handlesType(pattern, type, separator)),
    }
  }
  const seen = await need(store, 'inspect', 'reconcile').types(MAX_KNOWN_TYPES)
  const known = seen.find((types) => types.source === name)?.types ?? []
  const named = handled.filter(({ pattern }) => pattern !== '*').map(({ pattern }) => pattern)
  const patterns = [...named, ...known]
  // Nothing was delivered yet and nothing is named: there is no better guess than all.
  if (patterns.length === 0) return { scope, has: () => true }
  const exact = new Set(patterns)
  return {
    scope,
    has: ({ type }) => exact.has(type) || named.some((pattern) => handlesType(pattern, type, separator)),
  }
}
