/** A signed delivery for a test: the sample of the provider, with the members that the test gives. */
import { invalid } from '../../errors.js'
import type { Delivery, SignOptions, Source } from '../../provider.js'
import type { ProviderFactory } from '../../verification/define-provider.js'

/**
 * Makes a source with a new secret or key pair, for providers whose private key only the sender has:
 * `testSource(paypal, { webhookId: 'W1' })`. The options are those of the factory, without the secret.
 */
export function testSource<Options>(
  factory: ProviderFactory<Options>,
  options: Partial<Options> = {},
): Source {
  return factory({ ...factory.example(), ...options } as Options)
}

export interface DeliverOptions {
  /** Default: a new id. */
  readonly id?: string
  readonly headers?: Readonly<Record<string, string>>
  /** False = only record the event. `drain` or `advance` handles it later. Default true. */
  readonly run?: boolean
}

/**
 * The members of an object replace those of the sample of this type, so a test names only what it is about. Text, bytes
 * and lists are the whole body.
 */
export async function signedDelivery(
  name: string,
  source: Source,
  now: number,
  type: string | undefined,
  body: unknown,
  { id, headers }: DeliverOptions,
): Promise<Delivery> {
  const sample = source.sample({
    now,
    ...(type === undefined ? {} : { type }),
    ...(id === undefined ? {} : { id }),
  })
  const delivery = await source.sign({
    ...sample,
    body: bodyOf(name, sample, body),
    headers: { ...sample.headers, ...headers },
  })
  insistOnType(name, source, delivery, type)
  return delivery
}

function bodyOf(name: string, sample: SignOptions, body: unknown): Uint8Array | string {
  if (body === undefined) return sample.body
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return JSON.stringify(body)
  const contentType = sample.headers?.['content-type'] ?? ''
  const text = Buffer.from(sample.body as never).toString('utf8')
  if (contentType.includes('form')) {
    const pairs = new URLSearchParams(text)
    for (const [key, value] of Object.entries(body)) pairs.set(key, String(value))
    return pairs.toString()
  }
  let whole: unknown
  try {
    whole = JSON.parse(text)
  } catch {
    throw invalid(`deliver("${name}"): the body`, 'must be text or bytes, because this sender sends no JSON')
  }
  if (Array.isArray(whole)) {
    // One delivery of this sender is a list of events: the test gives one of them.
    return JSON.stringify([{ ...(whole[0] as object), ...body }])
  }
  return JSON.stringify({ ...(whole as object), ...body })
}

/** A test that delivers another type than it says would pass or fail for the wrong reason. */
function insistOnType(name: string, source: Source, delivery: Delivery, type: string | undefined): void {
  if (type === undefined) return
  const types = source.identify(delivery).map((event) => event.type)
  const separator = source.typeSeparator
  const fits = types.some(
    (found) => found === type || (separator !== undefined && found.startsWith(`${type}${separator}`)),
  )
  if (types.length > 0 && !fits) {
    throw invalid(
      `deliver("${name}", "${type}")`,
      `has a body of type "${types[0]}"; give the members of the body that make it "${type}" (samples: ${source.sampleTypes.join(', ')})`,
    )
  }
}
