import { processingMutants } from './processing.mjs'
import { recordMutants } from './record.mjs'
import { securityMutants } from './security.mjs'

export const mutants = [...recordMutants, ...processingMutants, ...securityMutants]
