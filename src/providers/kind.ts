/**
 * The contract of a kind: a sort of delivery that a sender documents. `test/providers/kinds/` has a file for each
 * provider, under the provider's file name, that exports a list of kinds under the catalogue key, for tests and for
 * docs/providers.md. The bodies that `send` and `check` make are in `samples/`.
 */

/** The fields of a delivery that `redelivery` or `another` changes; the others stay. */
export interface Changes {
  /**
   * `json:a.b.0.c`, `form:Name`, `query:name`, `header:name`, or `text:old` (replaced everywhere in the body).
   * `undefined` removes the field.
   */
  readonly [field: `${'json' | 'form' | 'query' | 'header' | 'text'}:${string}`]: unknown
  /** Signed this many milliseconds later than the first delivery. Default 0. */
  readonly timestamp?: number
  /** Another body, such as a batch with other events beside this one. */
  readonly body?: KindBody
}

/** An object is encoded in the format of the kind; a text is sent unchanged. `{ $base64: text | object }` is encoded. */
export type KindBody = string | readonly unknown[] | { readonly [name: string]: unknown }

export interface Kind {
  /** A noun phrase for the delivery: `a recording of a call`. */
  readonly name: string
  /** The page that documents it, if it is not the page of the provider. */
  readonly docs?: string
  /** The option of the scheme that signs it, for a provider with several schemes. Default: each of them. */
  readonly credential?: string
  /** Options that the source needs besides its secret, such as the `verifyToken` of a handshake. */
  readonly options?: Readonly<Record<string, unknown>>
  /** Default POST. */
  readonly method?: string
  /** Added to the sample URL. */
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** Default: the format of the provider. `lines` is one JSON document per line. */
  readonly format?: 'json' | 'form' | 'xml' | 'text' | 'lines' | 'multipart'
  readonly body?: KindBody

  /** The number of its events, or their types in order. Default 1. */
  readonly events?: number | readonly string[]
  /** It asks about the endpoint and carries no event. `unsigned`: the sender does not sign it. */
  readonly handshake?: true | 'unsigned'
  /**
   * The fields that the sender changes when it sends the same event again. Default: none, except that the delivery is
   * signed again a minute later if the signed time is compared with the clock.
   */
  readonly redelivery?: Changes
  /** The fields that differ in another event of this kind, or a list of such events. Each must have a different id. */
  readonly another?: Changes | readonly Changes[]
  /** Two events of this kind can have the same bytes; the second counts as a redelivery. For docs/providers.md. */
  readonly merged?: string
  /** A redelivery cannot be distinguished from another event and is handled again. For docs/providers.md. */
  readonly repeated?: string
}

export type Kinds = readonly Kind[]
