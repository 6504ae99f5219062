/**
 * What every provider, ours or a stranger's, must hold. An array of `{ name, run }`: put it through any test runner.
 * Which cases apply is read from the provider's own facts; one that does not apply says which fact left it out.
 */
import type { Kinds } from '../providers/kind.js'
import { coverageCases } from './provider-contract/coverage-cases.js'
import { identityCases } from './provider-contract/identity-cases.js'
import { kindCases } from './provider-contract/kind-cases.js'
import { optionCases } from './provider-contract/option-cases.js'
import { signatureCases } from './provider-contract/signature-cases.js'
import { type AnyFactory, type ContractCase, trialOf } from './provider-contract/trial.js'

export type { ContractCase }

/** For a provider with several schemes, all of it for each. `kinds`: the deliveries its sender documents. */
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
    return cases.map((one) => ({ ...one, name: `with ${credential}: ${one.name}` }))
  })
}
