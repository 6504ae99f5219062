/** `hookonce/types`: for `declare module 'hookonce/types' { interface ProviderEvents { ... } }`. */
export * from '../inbox/event-types.js'
