/** `hookonce/testing/contracts`: the contracts of a provider and of a store, as tests for your own. */

export type * from '../model.js'
export type * from '../provider.js'
export type { Changes, Kind, KindBody, Kinds } from '../providers/kind.js'
export type * from '../store.js'
export { providerContract } from './provider-contract.js'
export { type StoreCase, type StoreHarness, storeContract, storeContractFor } from './store-contract.js'
