/** `hookonce/testing`: what others need to test what they build on hookonce. */

export type { Changes, Kind, KindBody, Kinds } from '../providers/kind.js'
export { providerContract } from './provider-contract.js'
export { type StoreCase, type StoreHarness, storeContract } from './store-contract.js'
