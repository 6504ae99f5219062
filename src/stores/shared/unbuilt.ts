/** Verbs of the contract on their way: each fails by name until its file is there. */
import { HookonceError } from '../../errors.js'
import type { Store } from '../../store.js'

function unbuilt(verb: string) {
  return () => Promise.reject(new HookonceError('STORE_FAILED', { problem: `${verb} is not built yet` }))
}

export const reading: Pick<Store, 'inspect'> = {
  inspect: unbuilt('inspect'),
}
