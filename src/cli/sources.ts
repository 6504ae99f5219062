import { createHash } from 'node:crypto'
import { isHookonceError } from '../errors.js'
import { hintOf, nearest } from '../nearest.js'
import type { Source } from '../provider.js'
import { basic, catalogue, hmac, jwt, type ProviderFactory, token } from '../providers/index.js'
import { type Field, isList, leaves } from '../verification/delivery/field.js'
import type { SchemeDefinition } from '../verification/scheme.js'
import type { DevCredentials } from './dev/folder.js'
import { UsageError } from './failure.js'
import { readConfig } from './store.js'

type Options = Readonly<Record<string, unknown>>
type Schemes = Readonly<Record<string, SchemeDefinition>>

export function factories(): readonly ProviderFactory[] {
  return Object.values(catalogue) as unknown as readonly ProviderFactory[]
}

/** Ignores case and hyphens: `amazon-sns` is `amazonSns`. */
export function factoryOf(name: string): ProviderFactory {
  const found = factories().find((factory) => folded(factory.key) === folded(name))
  if (found) return found
  const near = nearest(
    name,
    factories().map((factory) => factory.key),
  )
  throw new UsageError(
    `There is no provider "${name}".${near ? ` Did you mean ${near}?` : ''} See hookonce providers.`,
  )
}

type SenderFactory = Pick<ProviderFactory, 'credentials'>

/** `hmac`, `token`, `basic` and `jwt` describe senders that are not in the catalogue. */
export function anyFactoryOf(name: string): SenderFactory {
  const make = Object.hasOwn(unknownSenders, name)
    ? unknownSenders[name as keyof typeof unknownSenders]
    : null
  return make === null
    ? factoryOf(name)
    : Object.assign((options: never) => make(options), { credentials: ['secret'] })
}

const unknownSenders = { hmac, token, basic, jwt }

function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '')
}

/** One text for each kind of event. */
export function idFields({ definition }: ProviderFactory): readonly string[] {
  return [definition.events].flat().map((rule) => fieldText(rule.id))
}

function fieldText(field: Field): string {
  if (typeof field === 'string') return field
  if (isList(field)) return field.map(fieldText).join(' or ')
  return `${'fields' in field && field.combination === 'hash' ? 'hash of ' : ''}${leaves(field).join(' + ')}`
}

export function devSources(credentials: DevCredentials): Record<string, Source> {
  return Object.fromEntries(factories().map((factory) => [factory.key, devSource(factory, credentials)]))
}

export function devSource(factory: ProviderFactory, { secret, keys }: DevCredentials): Source {
  const credential = factory.credentials[0]!
  const choices: Options[] = takesKeys(factory)
    ? Object.values(keys).map(({ publicKey, privateKey }) => ({ [credential]: publicKey, privateKey }))
    : secretForms(secret).map((text) => ({ [credential]: text }))
  return firstAccepted(factory, choices)
}

/** Asked first: a secret of 64 hexadecimal digits would be accepted as a public key. */
function takesKeys({ definition: { verify }, credentials }: ProviderFactory): boolean {
  const scheme = typeof verify.create === 'function' ? verify : (verify as Schemes)[credentials[0]!]
  return (scheme as SchemeDefinition | undefined)?.extraOptions.includes('privateKey') === true
}

/** Some providers want a user name with a password, others base64 or hexadecimal digits, which the digest is. */
function secretForms(secret: string): readonly string[] {
  return [secret, `hookonce:${secret}`, createHash('sha256').update(secret).digest('hex')]
}

function firstAccepted(factory: ProviderFactory, choices: readonly Options[]): Source {
  let problem: unknown
  for (const choice of choices) {
    try {
      return makeSource(factory, choice)
    } catch (error) {
      if (!isHookonceError(error)) throw error
      problem ??= error
    }
  }
  throw problem
}

/** Has the example secret of the provider, so only its facts are of use. */
export function exampleSource(factory: ProviderFactory): Source {
  return (factory as unknown as (options: object) => Source)(factory.example())
}

/** Uses a secret of the user exactly as given, so that a wrong one is noticed. */
export function sourceWith(factory: ProviderFactory, secret: string): Source {
  return makeSource(factory, { [factory.credentials[0]!]: secret })
}

function makeSource(factory: ProviderFactory, options: Options): Source {
  const required = Object.entries(factory.definition.options ?? {}).filter(([, rule]) => rule.required)
  const examples = Object.fromEntries(required.map(([option, rule]) => [option, rule.example]))
  return (factory as unknown as (options: Options) => Source)({ ...examples, ...options })
}

export async function configuredSource(name: string): Promise<Source> {
  const { sources } = await readConfig()
  const source = sources[name]
  if (source) return source
  throw new UsageError(
    `The configuration has no source "${name}" (${hintOf(name, Object.keys(sources))}). To sign with a secret of your own, give --secret-file.`,
  )
}
