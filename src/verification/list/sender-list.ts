/** Makes a `SenderList` of the rules of a list and the options of a source. */
import { HookonceError, isHookonceError } from '../../errors.js'
import type {
  Delivery,
  ListedEvent,
  ListRange,
  ListReader,
  ListScope,
  ReconcileTimes,
  SenderList,
  StoredSlice,
} from '../../provider.js'
import { concealer } from '../schemes/secret.js'
import { HttpSenderApi } from './api.js'
import type { Listed, ListRule } from './rule.js'

/** A text, or a function that returns one: `env('STRIPE_API_KEY')`, or a token that is made anew for each run. */
export type ApiKey = string | (() => string | Promise<string>)

export interface ListOptions {
  /** The key of the sender's API, for `reconcile`. */
  readonly apiKey?: ApiKey
  /** The address of the sender's API, for another region or a test. */
  readonly baseUrl?: string
  /** Compares the log with the sender's list on a schedule: `{ every: '1h' }`. Needs `apiKey`. */
  readonly reconcile?: ReconcileTimes
}

export interface ListContext {
  readonly provider: string
  readonly name: string
  readonly rule: ListRule
  readonly options: Readonly<Record<string, unknown>>
  /** The value of `apiKey` when the source is made; a promise when it is made for each run. */
  readonly keyNow: unknown
  /** The events of a delivery without its signature. */
  slices(delivery: Delivery): readonly StoredSlice[]
}

export function createList(context: ListContext): SenderList {
  const { provider, rule, options } = context
  const { docs, confidence, of, reachMs, lacks, byTime } = rule
  const problem = missingOption(context)
  if (options.reconcile !== undefined && problem !== null)
    throw new HookonceError('OPTION_INVALID', {
      provider,
      option: 'reconcile',
      problem: `needs more: ${problem}`,
    })
  checkKey(context)
  const baseUrl = checkedUrl(provider, (options.baseUrl as string | undefined) ?? rule.baseUrl)
  return {
    ...{ docs, confidence, of, reachMs, lacks, byTime, problem },
    hasBodies: rule.complete !== undefined || rule.redeliver === undefined,
    knowsIds: rule.has !== undefined,
    open: ({ signal }) => new Reader(context, baseUrl, signal),
  }
}

/** One run of reconcile. */
class Reader implements ListReader {
  readonly #context: ListContext
  readonly #api: HttpSenderApi
  readonly #listed = new WeakMap<ListedEvent, Listed>()

  constructor(context: ListContext, baseUrl: string, signal: AbortSignal) {
    this.#context = context
    const { name, rule, options } = context
    const common = { name, baseUrl, options, signal, headers: rule.headers ?? {}, keyNeeded: rule.apiKey }
    let key = ''
    const conceal = (text: string) => concealer([key])(text)
    const bare = new HttpSenderApi({ ...common, conceal, authorize: async () => ({}) })
    let proof: Promise<Readonly<Record<string, string>>> | undefined
    const authorize = (renew: boolean) => {
      if (renew) proof = undefined
      proof ??= (async () => {
        key = checkedText(context, await readKey(options.apiKey as ApiKey))
        return rule.authorize ? rule.authorize(key, bare) : { authorization: `Bearer ${key}` }
      })()
      return proof
    }
    this.#api = new HttpSenderApi({ ...common, conceal, authorize })
  }

  get requests(): number {
    return this.#api.requests
  }

  /** A key that may only read events is enough: the scope is then not known. */
  async scope(): Promise<ListScope | null> {
    try {
      return (await this.#context.rule.scope?.(this.#api)) ?? null
    } catch (error) {
      if (isHookonceError(error, 'SENDER_REFUSED') && error.details.status === 403) return null
      throw error
    }
  }

  async *pages(range: ListRange): AsyncGenerator<readonly ListedEvent[]> {
    for await (const page of this.#context.rule.pages(this.#api, range)) {
      yield page
        .map((listed) => this.#named(listed))
        .filter(({ occurredAt }) => occurredAt >= range.since && occurredAt < range.until)
    }
  }

  async complete(event: ListedEvent): Promise<ListedEvent | null> {
    if (event.delivery !== null) return event
    const whole = await this.#context.rule.complete?.(this.#api, this.#listed.get(event)!)
    if (!whole) return null
    const named = this.#named(whole)
    if (named.id !== event.id)
      throw this.#unnamed(`the event "${event.id}" has another id when it is asked for`)
    return named
  }

  async redeliver(event: ListedEvent): Promise<boolean> {
    return (await this.#context.rule.redeliver?.(this.#api, this.#listed.get(event)!)) ?? false
  }

  async has(id: string): Promise<boolean> {
    return (await this.#context.rule.has?.(this.#api, id)) ?? false
  }

  /** The rules that name a delivery name it. */
  #named(listed: Listed): ListedEvent {
    const { occurredAt, body, headers, isPartial } = listed
    const delivery: Delivery = {
      method: 'POST',
      url: '/',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? Buffer.from(body) : body,
    }
    const [slice, ...others] = this.#context.slices(delivery)
    if (others.length > 0 || !slice?.id)
      throw this.#unnamed('an entry of the list is not one event with an id')
    if (occurredAt === undefined) throw this.#unnamed(`the event "${slice.id}" has no time`)
    const { id, type, reference } = slice
    const event: ListedEvent = { id, type, reference, occurredAt, delivery: isPartial ? null : delivery }
    this.#listed.set(event, listed)
    return event
  }

  #unnamed(problem: string): HookonceError {
    const { name } = this.#context
    return new HookonceError('SENDER_FAILED', { name, what: 'the list of events', problem })
  }
}

/** Null when the list can be read. */
function missingOption({ provider, rule, options }: ListContext): string | null {
  if (options.apiKey === undefined) return `give ${provider}({ apiKey }): ${rule.apiKey}`
  for (const [option, { what, required }] of Object.entries(rule.options ?? {}))
    if (required && options[option] === undefined) return `give ${provider}({ ${option} }): ${what}`
  return null
}

/** A key that can be read at once is checked at start. */
function checkKey(context: ListContext): void {
  const { keyNow } = context
  if (keyNow instanceof Promise) keyNow.catch(() => {})
  else if (keyNow !== undefined) checkedText(context, keyNow)
}

async function readKey(key: ApiKey): Promise<unknown> {
  return typeof key === 'function' ? key() : key
}

function checkedText({ provider, rule }: ListContext, value: unknown): string {
  const text = typeof value === 'string' ? value.replace(/^[\r\n]+|[\r\n]+$/g, '') : ''
  // It becomes a header.
  if (!/^[\x21-\x7e]+$/.test(text)) {
    const form = `${rule.apiKey}, as text without white space`
    throw new HookonceError('SECRET_FORM', { provider, option: 'apiKey', form })
  }
  if (rule.keyForm && !rule.keyForm.pattern.test(text))
    throw new HookonceError('SECRET_FORM', { provider, option: 'apiKey', form: rule.keyForm.form })
  return text
}

/** Without TLS only to this machine, or to a name without dots in a private network: the key must not travel in clear. */
function checkedUrl(provider: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const isNear = url !== null && /^(localhost|127(\.\d+){3}|\[::1\]|[^.:]+)$/.test(url.hostname)
  if (
    url &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && isNear)) &&
    !url.username &&
    !url.search
  )
    return text
  const problem =
    'must be a URL such as https://api.example.com, without a password or a query (http only for this machine)'
  throw new HookonceError('OPTION_INVALID', { provider, option: 'baseUrl', problem })
}
