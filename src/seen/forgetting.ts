import type { Store } from '../store.js'
import type { SeenCache } from './cache.js'

/** An action changes the state of its events, so the cache forgets them. */
export function forgetting<Tx>(store: Store<Tx>, cache: SeenCache): Store<Tx> {
  return {
    ...store,
    async operate(action) {
      const results = await store.operate(action)
      await cache.forget(action.events)
      return results
    },
  }
}
