/** Every provider of the catalogue as a source, with the credentials of this folder in the form each of them takes. */
import { createHash } from 'node:crypto'
import { isHookonceError } from '../../errors.js'
import type { Source } from '../../provider.js'
import type { ProviderFactory } from '../../providers/index.js'
import type { SchemeDefinition } from '../../verification/scheme.js'
import { factories } from '../providers.js'
import type { DevCredentials } from './folder.js'

type Options = Readonly<Record<string, unknown>>
type Schemes = Readonly<Record<string, SchemeDefinition>>

export function devSources(credentials: DevCredentials): Record<string, Source> {
  return Object.fromEntries(factories().map((factory) => [factory.key, devSource(factory, credentials)]))
}

export function devSource(factory: ProviderFactory, { secret, keys }: DevCredentials): Source {
  const credential = factory.credentials[0]!
  const choices: Options[] = takesKeys(factory)
    ? Object.values(keys).map(({ publicKey, privateKey }) => ({ [credential]: publicKey, privateKey }))
    : secretForms(secret).map((text) => ({ [credential]: text }))
  return firstThatFits(factory, choices)
}

/** Where the sender has a private key, a secret would only look like its public one: 64 hexadecimal digits are both. */
function takesKeys({ definition: { verify }, credentials }: ProviderFactory): boolean {
  const scheme = typeof verify.create === 'function' ? verify : (verify as Schemes)[credentials[0]!]
  return (scheme as SchemeDefinition | undefined)?.extraOptions.includes('privateKey') === true
}

/** A source with a secret as a user gives it: nothing is made of it, so that a wrong one is noticed. */
export function sourceWith(factory: ProviderFactory, secret: string): Source {
  return make(factory, { [factory.credentials[0]!]: secret })
}

/**
 * One secret serves all: as it is, as a user with a password, and, for senders whose secrets are base64 or hex, as a
 * digest. A generated secret is hexadecimal, so only a secret of one's own comes to the last.
 */
function secretForms(secret: string): readonly string[] {
  return [secret, `hookonce:${secret}`, createHash('sha256').update(secret).digest('hex')]
}

function firstThatFits(factory: ProviderFactory, choices: readonly Options[]): Source {
  let problem: unknown
  for (const choice of choices) {
    try {
      return make(factory, choice)
    } catch (error) {
      if (!isHookonceError(error)) throw error
      problem ??= error
    }
  }
  throw problem
}

function make(factory: ProviderFactory, options: Options): Source {
  const added = Object.entries(factory.definition.options ?? {}).filter(([, rule]) => rule.required)
  const examples = Object.fromEntries(added.map(([option, rule]) => [option, rule.example]))
  return (factory as unknown as (options: Options) => Source)({ ...examples, ...options })
}
