import { processingMutants } from './processing.mjs'
import { recordMutants } from './record.mjs'
import { securityMutants } from './security.mjs'
import { withheldMutants } from './withheld.mjs'

export const mutants = [...recordMutants, ...processingMutants, ...securityMutants, ...withheldMutants]
