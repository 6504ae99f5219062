/** Import it for its effect: fast-check gives the same inputs in every `npm test`, and others in each long run. */
import fc from 'fast-check'
import { seed } from '../property/seed.js'

if (process.env.HOOKONCE_FUZZ_RUNS === undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })
