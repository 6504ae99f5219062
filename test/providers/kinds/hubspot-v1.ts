import type { Kinds } from 'hookonce/testing/contracts'
import { hubspot } from './hubspot.js'

/** The deliveries of version 3, without the signed time. */
export const hubspotV1: Kinds = hubspot.map(({ redelivery, ...kind }) => {
  const { timestamp: _, ...changes } = redelivery ?? {}
  return { ...kind, redelivery: changes }
})
