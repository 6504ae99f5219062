/**
 * What every provider, ours or a stranger's, must hold. An array of `{ name, run }`: put it through any test runner.
 * Which cases apply is read from the provider's own facts; one that does not apply says which fact left it out.
 */
import { coverageCases } from './provider-contract/coverage-cases.js'
import { identityCases } from './provider-contract/identity-cases.js'
import { optionCases } from './provider-contract/option-cases.js'
import { signatureCases } from './provider-contract/signature-cases.js'
import { type AnyFactory, type ContractCase, trialOf } from './provider-contract/trial.js'

export type { ContractCase }

/** For a provider with several schemes, all of it for each. */
export function providerContract(factory: AnyFactory): readonly ContractCase[] {
  return factory.credentials.flatMap((credential) => {
    const trial = trialOf(factory, credential)
    const cases = [
      ...identityCases(trial),
      ...signatureCases(trial),
      ...coverageCases(trial),
      ...optionCases(trial),
    ]
    if (factory.credentials.length === 1) return cases
    return cases.map((one) => ({ ...one, name: `with ${credential}: ${one.name}` }))
  })
}
