/** `hookonce/testing`: what others need to test what they build on hookonce. */

export { providerContract } from './provider-contract.js'
export { type StoreCase, type StoreHarness, storeContract } from './store-contract.js'
