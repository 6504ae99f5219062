import type { Kinds } from '../kind.js'
import { hubspot } from './hubspot.js'

/** The same deliveries; this signature has no time. */
export const hubspotV1: Kinds = hubspot.map(({ redelivery, ...kind }) => {
  const { timestamp: _, ...changes } = redelivery ?? {}
  return { ...kind, redelivery: changes }
})
