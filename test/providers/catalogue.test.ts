import { catalogue } from 'hookonce/providers'
import { describe, expect, it } from 'vitest'
import { providerContract } from '#dist/testing/provider-contract.js'

/** `HOOKONCE_PROVIDER=stripe,github` runs only these. */
const only = process.env.HOOKONCE_PROVIDER?.split(',')

for (const [key, factory] of Object.entries(catalogue)) {
  if (only !== undefined && !only.includes(key)) continue
  describe(key, () => {
    it('is in the catalogue under its own key', () => expect(factory.key).toBe(key))
    for (const { name, leftOut, run } of providerContract(factory as never)) {
      if (leftOut === null) it(name, run)
      else it.skip(`${name} (left out: ${leftOut})`)
    }
  })
}
