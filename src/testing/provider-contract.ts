/**
 * The contract of a provider as an array of `{ name, run }`, for any test runner. The facts of the provider decide which
 * cases apply; in a case that does not apply, `leftOut` has the fact.
 */
import type { Kinds } from '../providers/kind.js'
import { coverageCases } from './provider-contract/coverage-cases.js'
import { identityCases } from './provider-contract/identity-cases.js'
import { kindCases } from './provider-contract/kind-cases.js'
import { optionCases } from './provider-contract/option-cases.js'
import { signatureCases } from './provider-contract/signature-cases.js'
import { type AnyFactory, type ContractCase, trialOf } from './provider-contract/trial.js'

export type { ContractCase }

/** A provider with several schemes runs all cases for each. `kinds`: the deliveries that the sender documents. */
export function providerContract(factory: AnyFactory, kinds: Kinds = []): readonly ContractCase[] {
  return factory.credentials.flatMap((credential) => {
    const trial = trialOf(factory, credential)
    const cases = [
      ...identityCases(trial),
      ...signatureCases(trial),
      ...coverageCases(trial),
      ...optionCases(trial),
      ...kindCases(trial, kinds),
    ]
    if (factory.credentials.length === 1) return cases
    return cases.map((test) => ({ ...test, name: `with ${credential}: ${test.name}` }))
  })
}
