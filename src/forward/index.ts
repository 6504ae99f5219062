export type { Destination } from './destination.js'
export {
  addDestinations,
  type DestinationState,
  type Destinations,
  destinationStates,
  type ForwardOptions,
  type PauseReason,
} from './destinations.js'
export type { Lookup } from './guard.js'
