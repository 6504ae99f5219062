import { effectMutants } from './effects.mjs'
import { findingMutants } from './finding.mjs'
import { listMutants } from './lists.mjs'
import { operatingMutants } from './operating.mjs'
import { processingMutants } from './processing.mjs'
import { reconcileMutants } from './reconcile.mjs'
import { recordMutants } from './record.mjs'
import { referenceMutants } from './references.mjs'
import { replyMutants } from './replies.mjs'
import { securityMutants } from './security.mjs'
import { silenceMutants } from './silence.mjs'
import { withheldMutants } from './withheld.mjs'

export const mutants = [
  ...recordMutants,
  ...processingMutants,
  ...referenceMutants,
  ...reconcileMutants,
  ...listMutants,
  ...securityMutants,
  ...withheldMutants,
  ...replyMutants,
  ...effectMutants,
  ...silenceMutants,
  ...operatingMutants,
  ...findingMutants,
]
