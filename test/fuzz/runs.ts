import '../support/fixed-seed.js'

/**
 * The number of inputs of one property. HOOKONCE_FUZZ_RUNS (2 million by `npm run chaos -- fuzz`)
 * is divided by the cost of one input; without it each property gets a small number for `npm test`.
 */
export function fuzzRuns(small: number, cost = 1): number {
  const given = process.env.HOOKONCE_FUZZ_RUNS
  return given === undefined ? small : Math.max(1, Math.ceil(Number(given) / 10 / cost))
}
