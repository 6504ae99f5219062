/**
 * The rules of a sender's list: how its own API is asked what it has sent. `providers/lists/` has one file for each sender;
 * `sender-list.ts` makes a `SenderList` of it.
 */
import type { ListRange, ListScope } from '../../provider.js'
import type { OptionRules } from '../define/options.js'
import type { SenderApi } from './api.js'

export interface ListRule<O extends OptionRules = OptionRules> {
  /** The page of the sender that describes the list. */
  readonly docs: string
  /** `verified`: every rule comes from the sender's documentation or code. */
  readonly confidence: 'verified' | 'likely'
  /**
   * `deliveries`: what the sender sent to this endpoint. `events`: what happened in the account, whether or not the endpoint
   * subscribes to it.
   */
  readonly of: 'deliveries' | 'events'
  /** The list goes back this far. Null: not documented. */
  readonly reachMs: number | null
  /** Ends the sentence "The list does not have ...": the report says what agreement does not prove. */
  readonly lacks: string
  /** False: the API cannot find a time and lists from the newest back, so one long range costs less than short ones. */
  readonly byTime: boolean
  /** For documentation and errors: which key it is, and the least rights that it needs. */
  readonly apiKey: string
  /** Refuses a wrong kind of key at start, such as the signing secret. `form` follows "must be". */
  readonly keyForm?: { readonly pattern: RegExp; readonly form: string }
  readonly baseUrl: string
  /** Options besides `apiKey` and `baseUrl`. One that is `required` is needed only when `apiKey` is given. */
  readonly options?: O
  /** Headers that prove the caller. Default: `authorization: Bearer <key>`. `api` here sends none. Kept for a run. */
  readonly authorize?: (
    key: string,
    api: SenderApi,
  ) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
  /** Sent with every request: a version, a media type. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Pages in any order. It may list more than the range, and one event more than once; it must not leave one out when an
   * event is added while it reads, so a page is found by a cursor and not by a number.
   */
  pages(api: SenderApi, range: ListRange): AsyncIterable<readonly Listed[]>
  /** The whole event of a partial one. Null: the sender does not have it. */
  readonly complete?: (api: SenderApi, listed: Listed) => Promise<Listed | null>
  /** Asks the sender to deliver it again, for events whose body it does not give. False: it cannot. */
  readonly redeliver?: (api: SenderApi, listed: Listed) => Promise<boolean>
  /** Whether the sender knows an event id, of any time. Without it, an event that came late may not be judged. */
  readonly has?: (api: SenderApi, id: string) => Promise<boolean>
  /** With `of: 'events'`: what the endpoint subscribes to. Null: it cannot be told. */
  readonly scope?: (api: SenderApi) => Promise<ListScope | null>
}

/** One event, in the form of a delivery: the same rules name it, so that a delivery of it is a duplicate. */
export interface Listed {
  /** By the clock of the sender. Undefined is an error: the answer does not have the documented form. */
  readonly occurredAt: number | undefined
  /** With lower-case names; only those that the rules of the provider read. */
  readonly headers?: Readonly<Record<string, string>>
  /** What a delivery of this event alone has as its body. For exact digits: the bytes of the answer (`ApiJson.bytes`). */
  readonly body: Uint8Array | string
  /** The headers and the body are only enough to name it. */
  readonly isPartial?: true
  /** The sender's own name for it, for `complete` and `redeliver`. */
  readonly handle?: string
}
