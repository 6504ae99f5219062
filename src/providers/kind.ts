/**
 * The contract of a kind: one sort of delivery that a sender's documentation describes. `kinds/` holds a file for each
 * provider, under the provider's file name, that exports its list under the catalogue key. Kinds are data for tests and
 * for docs/providers.md: no production code loads them, and the npm package does not have them. The bodies that `send`
 * and `check` make are in `samples/`.
 */

/** `redelivery` and `another` say which fields differ, in the words of the rules; the rest of the delivery is the same. */
export interface Changes {
  /**
   * `json:a.b.0.c`, `form:Name`, `query:name`, `header:name`, or `text:old` (replaced wherever it stands in the body).
   * `undefined` removes the field.
   */
  readonly [field: `${'json' | 'form' | 'query' | 'header' | 'text'}:${string}`]: unknown
  /** Signed this many milliseconds later. Left out: a changed delivery is signed at the time of the first. */
  readonly timestamp?: number
  /** Another body altogether, such as a batch with other neighbours. */
  readonly body?: KindBody
}

/** An object is written in the kind's format; text is sent as it stands. `{ $base64: text | object }` is encoded. */
export type KindBody = string | readonly unknown[] | { readonly [name: string]: unknown }

export interface Kind {
  /** A sentence part that says what was sent: `a recording of a call`. */
  readonly name: string
  /** Where it is described, if not on the provider's own page. */
  readonly docs?: string
  /** The option whose scheme signs it, for a provider with several; left out: each of them. */
  readonly credential?: string
  /** Options the source must have beside its secret, such as a handshake's `verifyToken`. */
  readonly options?: Readonly<Record<string, unknown>>
  /** Default POST. */
  readonly method?: string
  /** Added to the sample URL. */
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** Default: the provider's. `lines` is one JSON document in each line. */
  readonly format?: 'json' | 'form' | 'xml' | 'text' | 'lines' | 'multipart'
  readonly body?: KindBody

  /** How many events it carries, or their types in order. Default 1. */
  readonly events?: number | readonly string[]
  /** It asks about the endpoint and carries no event. `unsigned`: the sender does not sign it. */
  readonly handshake?: true | 'unsigned'
  /**
   * What the sender changes when it sends the same event again. Left out: nothing, except that it signs again a minute
   * later where the provider holds the signed time against the clock.
   */
  readonly redelivery?: Changes
  /** What differs in another event of this kind; a list for several. Each must get a name of its own. */
  readonly another?: Changes | readonly Changes[]
  /** Two events of this kind can be equal in everything that was sent; the second is then taken for a redelivery. A
   * sentence for docs/providers.md that says when. */
  readonly merged?: string
  /** A redelivery cannot be told from another event, so it is handled again. A sentence for docs/providers.md. */
  readonly repeated?: string
}

export type Kinds = readonly Kind[]
