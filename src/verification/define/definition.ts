import type { ContentGuard } from '../../model.js'
import type { Disabling, ExpectedAnswer, SharedKey, Source, SourceOptions } from '../../provider.js'
import type { Field } from '../delivery/field.js'
import type { DocumentRule } from '../delivery/reading.js'
import type { ListRule } from '../list/rule.js'
import type { ListOptions } from '../list/sender-list.js'
import type { SchemeDefinition } from '../scheme.js'
import type { HandshakeRule } from './handshake.js'
import type { EventRule } from './identity.js'
import type { OptionRules } from './options.js'
import type { SampleFormat, Samples } from './samples.js'

/** One scheme, or several: the user chooses one by its option, and the sender cannot choose. */
export type VerifyRule = SchemeDefinition | Readonly<Record<string, SchemeDefinition>>

/** The sender's names of options, with ours: `{ signingSecret: 'secret' }`. */
export type Aliases = Readonly<Record<string, string>>

export interface ProviderRules<
  V extends VerifyRule = VerifyRule,
  O extends OptionRules = OptionRules,
  A extends Aliases = Aliases,
  K extends string = string,
  L extends ListRule | undefined = ListRule | undefined,
> {
  readonly key: K
  readonly name: string
  readonly docs: string
  readonly confidence: 'verified' | 'likely'
  readonly verify: V
  readonly events: EventRule | readonly EventRule[]
  /** For types such as `pull_request.opened`: a handler for the first part gets them. */
  readonly typeSeparator?: string
  /** Default `json`. */
  readonly format?: SampleFormat
  readonly document?: DocumentRule
  /**
   * For a sender with a public key: false if the key signs only the deliveries of one customer. `in` is the signed field
   * that must have a value of the option `namedBy`; without it the scheme compares the value itself.
   */
  readonly sharedKey?: false | (SharedKey & { readonly in?: Field })
  /** Names from the sender's pages and libraries; the factory accepts them too. */
  readonly aliases?: A
  readonly options?: O
  readonly handshakes?: readonly HandshakeRule[]
  readonly retryWindowMs: number | null
  /** Where the sender has an API that lists what it has sent. */
  readonly list?: L
  readonly disables?: Disabling
  readonly answer?: ExpectedAnswer
  /**
   * Default: known signed content under a new id is handled and flagged. `accept`: it is handled and not flagged, because
   * equal content is usual. `review`: it is not handled, because the sender signs each text once (Mailgun's token).
   */
  readonly contentGuard?: ContentGuard
  readonly keepHeaders?: readonly string[]
  readonly samples: Samples | (() => Samples)
  /** A prefix of event ids such as `evt_`, or `number`. Default: a UUID. */
  readonly sampleId?: string
  readonly sampleHeaders?: Readonly<Record<string, string>>
}

export interface ProviderDefinition extends ProviderRules {
  /** Loaded when it is first read. */
  readonly samples: Samples
}

type CredentialOf<S> = S extends SchemeDefinition<infer C, infer _> ? C : never
type ExtraOf<S> = S extends SchemeDefinition<infer _, infer E> ? E : never
type CredentialOptions<V> = V extends SchemeDefinition
  ? [CredentialOf<V>] extends [never]
    ? object
    : V extends { readonly credential: 'secret' }
      ? { readonly secret: CredentialOf<V> }
      : V extends { readonly credentialNeeded: true }
        ? { readonly publicKey: CredentialOf<V> } & ExtraOf<V>
        : { readonly publicKey?: CredentialOf<V> } & ExtraOf<V>
  : { readonly [K in keyof V]?: CredentialOf<V[K]> } & Partial<ExtraOf<V[keyof V]>>
type AddedOption<R> = R extends { list: true } ? string | readonly string[] : string
type AddedOptions<O extends OptionRules> = {
  readonly [K in keyof O as O[K] extends { required: true } ? K : never]: AddedOption<O[K]>
} & { readonly [K in keyof O as O[K] extends { required: true } ? never : K]?: AddedOption<O[K]> }

/** All optional: a source without them verifies and cannot be reconciled. */
type OptionsOfList<L> = L extends ListRule ? ListOptions & OptionsInList<L> : unknown
type OptionsInList<L> = L extends { readonly options: infer O }
  ? { readonly [K in keyof O]?: AddedOption<O[K]> }
  : unknown

/** Allows an alias instead of the option it stands for. */
type Aliased<Base, A extends Aliases> =
  | Base
  | {
      readonly [K in keyof A]: Omit<Base, A[K]> & {
        readonly [N in K]: A[K] extends keyof Base ? Base[A[K]] : never
      }
    }[keyof A]

export type FactoryOptions<
  V extends VerifyRule,
  O extends OptionRules,
  A extends Aliases = Record<never, never>,
  L extends ListRule | undefined = undefined,
> = Aliased<CredentialOptions<V>, A> &
  AddedOptions<O> &
  OptionsOfList<L> &
  SourceOptions & {
    /** The URL that the sender calls: needed if the sender signs it and a proxy changes it. */
    readonly publicUrl?: string
  }

export interface ProviderFactory<Options = never, K extends string = string> {
  (options: Options): Source<K>
  readonly key: K
  readonly definition: ProviderDefinition
  readonly credentials: readonly string[]
  example(credential?: string): Record<string, unknown>
}
