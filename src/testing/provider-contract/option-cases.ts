/** A wrong configuration throws when the source is made. */
import assert from 'node:assert/strict'
import { type HookonceError, isHookonceError } from '../../errors.js'
import { applies, type ContractCase, type Trial } from './trial.js'

export function optionCases(trial: Trial): readonly ContractCase[] {
  const { factory, credential, options } = trial
  const secret = options[credential]
  return [
    applies('a missing, empty, blank or short secret throws', async () => {
      const bad = ['', '   ', 'short', [], [secret, ''], [secret, 'short'], null, 42, () => '']
      for (const value of isNeeded(trial) ? [...bad, undefined] : bad) {
        const error = thrown(() => trial.make({ ...options, [credential]: value }))
        assert.match(error.code, /^SECRET_/, `${JSON.stringify(value)}: ${error.code}`)
        assert.ok(!error.message.includes(String(secret)), 'the message does not have the secret')
        assert.ok(error.message.includes(factory.key), 'the message names the provider')
      }
    }),

    applies('a secret may come from a function', async () => {
      assert.doesNotThrow(() => trial.make({ ...options, [credential]: () => [secret] }))
    }),

    applies('a misspelt option is an error with a suggestion', async () => {
      const error = thrown(() => trial.make({ ...options, tolerence: 1 }))
      assert.equal(error.code, 'OPTION_UNKNOWN')
      assert.match(error.message, /Did you mean "tolerance"/)
    }),

    applies('the time tolerance cannot be disabled', async () => {
      for (const tolerance of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '300000', '0s']) {
        assert.equal(thrown(() => trial.make({ ...options, tolerance })).code, 'OPTION_INVALID')
      }
    }),
  ]
}

function isNeeded({ factory, credential }: Trial): boolean {
  const { verify } = factory.definition
  const scheme = typeof verify.create === 'function' ? verify : verify[credential as never]
  return (scheme as { credentialNeeded: boolean }).credentialNeeded
}

function thrown(action: () => unknown): HookonceError {
  try {
    action()
  } catch (error) {
    assert.ok(isHookonceError(error), `not one of our errors: ${error}`)
    return error
  }
  return assert.fail('nothing was thrown')
}
