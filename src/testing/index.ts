/** `hookonce/testing`: what others need to test what they build on hookonce. */
export { type StoreCase, type StoreHarness, storeContract } from './store-contract.js'
