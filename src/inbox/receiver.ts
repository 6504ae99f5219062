/** `inbox.receive`: makes sure that there is a store or a spool to record in, then hands the delivery to intake. */
import { timeLimited } from '../clock.js'
import { HookonceError } from '../errors.js'
import { type Receipt, rejected } from '../intake/answer.js'
import { type IntakeDeps, intake } from '../intake/intake.js'
import type { Delivery } from '../provider.js'
import type { OpenSpool } from '../spool/spool.js'
import type { LazyStore } from './lazy-store.js'

export interface Targets {
  readonly store: LazyStore
  readonly spool: OpenSpool | null
}

export function receiver(
  deps: IntakeDeps,
  { store, spool }: Targets,
): (source: string, delivery: Delivery) => Promise<Receipt> {
  const { observer, limits } = deps
  const notOpen = () =>
    new HookonceError('STORE_UNAVAILABLE', { problem: `not open within ${limits.recordMs} ms` })

  return async (source, delivery) => {
    if (spool) spool.start()
    else if (!store.opened) {
      try {
        await timeLimited(store.open(), limits.recordMs, notOpen)
      } catch (error) {
        observer.storeNotOpen(source, error)
        return rejected(503, 'STORE_UNAVAILABLE', 'unavailable')
      }
    }
    if (store.refuses) {
      observer.stopped(source)
      return rejected(503, 'STORE_CLOSED', 'unavailable')
    }
    return intake(deps, source, delivery)
  }
}
