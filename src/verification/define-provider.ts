/**
 * A provider's file has only rules; the code in this folder makes a source of them. `docs/internals/verification.md` explains how,
 * `docs/adding-a-provider.md` lists the rules.
 */
import type { Source } from '../provider.js'
import type {
  Aliases,
  FactoryOptions,
  ProviderDefinition,
  ProviderFactory,
  ProviderRules,
  VerifyRule,
} from './define/definition.js'
import type { OptionRules } from './define/options.js'
import type { Samples } from './define/samples.js'
import { createSource } from './define/source.js'
import type { ListRule } from './list/rule.js'
import type { SchemeDefinition } from './scheme.js'

export function defineProvider<
  const V extends VerifyRule,
  const O extends OptionRules = Record<never, never>,
  const A extends Aliases = Record<never, never>,
  const K extends string = string,
  const L extends ListRule | undefined = undefined,
>(rules: ProviderRules<V, O, A, K, L>): ProviderFactory<FactoryOptions<V, O, A, L>, K> {
  const definition = withSamples(rules as unknown as ProviderRules)
  const schemes = schemesByOption(definition.verify)
  const factory = (options: FactoryOptions<V, O, A, L>) =>
    createSource(definition, schemes, options) as Source<K>
  return Object.assign(factory, {
    key: rules.key,
    definition,
    credentials: [...schemes.keys()],
    example(credential?: string) {
      const [name, scheme] = [...schemes].find(([option]) => option === credential) ?? [...schemes][0]!
      const made = scheme.example()
      const options: Record<string, unknown> = { ...made.extra }
      if (made.credential !== undefined) options[name] = made.credential
      for (const [option, rule] of Object.entries(definition.options ?? {})) {
        if (rule.required) options[option] = rule.example
      }
      return options
    },
  })
}

/** Production never reads `samples`: they are loaded on the first read. */
function withSamples(rules: ProviderRules): ProviderDefinition {
  const { samples, ...others } = rules
  let loaded = typeof samples === 'function' ? undefined : samples
  return {
    ...others,
    get samples() {
      loaded ??= (samples as () => Samples)()
      return loaded
    },
  }
}

function schemesByOption(verify: VerifyRule): ReadonlyMap<string, SchemeDefinition> {
  if (isScheme(verify)) return new Map([[verify.credential, verify]])
  return new Map(Object.entries(verify))
}

function isScheme(verify: VerifyRule): verify is SchemeDefinition {
  return typeof verify.create === 'function'
}

export const seconds = (count: number): number => count * 1_000
export const minutes = (count: number): number => seconds(count * 60)
export const hours = (count: number): number => minutes(count * 60)
export const days = (count: number): number => hours(count * 24)

export type { ProviderDefinition, ProviderFactory } from './define/definition.js'
export type { HandshakeRule } from './define/handshake.js'
export type { EventRule } from './define/identity.js'
export type { OptionRule } from './define/options.js'
export type { Samples } from './define/samples.js'
export {
  choose,
  composite,
  type Field,
  type FieldText,
  hash,
  join,
  mapped,
  optional,
  part,
} from './delivery/field.js'
export { type ContentFunction, sortedForm } from './delivery/template.js'
export type { ApiAnswer, SenderApi } from './list/api.js'
export { ApiJson } from './list/api-json.js'
export type { Listed, ListRule } from './list/rule.js'
export { type HmacRule, hmacScheme } from './schemes/hmac.js'
export { jwtScheme } from './schemes/jwt.js'
export { ecdsaScheme, ed25519Scheme, rsaScheme } from './schemes/public-key.js'
export { basicScheme, tokenScheme } from './schemes/token.js'
