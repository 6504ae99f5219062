export type { Destination } from './destination.js'
export {
  addDestinations,
  type DestinationState,
  type Destinations,
  destinationStates,
  type ForwardOptions,
} from './destinations.js'
export type { Lookup } from './guard.js'
export type { PauseReason } from './health.js'
