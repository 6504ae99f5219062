/** `hookonce send`: deliveries as a sender makes them, signed by its own rules, without asking anybody. */
import type { Delivery, SignOptions, Source } from '../../provider.js'
import type { DevCredentials } from '../dev/folder.js'
import { readCredentials } from '../dev/folder.js'
import { devSource, sourceWith } from '../dev/sources.js'
import { Failure, UsageError } from '../failure.js'
import type { Output } from '../output.js'
import { type Answer, createPoster, whyNoAnswer } from '../post.js'
import { factoryOf } from '../providers.js'
import { hasConfig } from '../store.js'
import { conflicting, draftOf, tampered } from './draft.js'
import { type Report, reportOf, reportText, type Trick } from './report.js'

export interface SendOptions {
  readonly to?: string
  readonly secret?: string
  readonly config?: string
  readonly times: number
  readonly concurrency: number
  readonly id?: string
  readonly set?: readonly string[]
  readonly body?: string
  readonly tamper?: boolean
  readonly stale?: boolean
  readonly conflict?: boolean
}

export async function send(
  output: Output,
  provider: string,
  type: string | undefined,
  options: SendOptions,
): Promise<number> {
  const trick = trickOf(options)
  const source = await sourceOf(provider, options)
  if (trick === 'stale' && source.scheme.timestamp?.toleranceMs == null)
    throw new UsageError(`--stale is not possible for ${source.name}: no signed time is checked.`)
  const draft = draftOf(source, {
    now: Date.now(),
    ...(type === undefined ? {} : { type }),
    ...(options.id === undefined ? {} : { id: options.id }),
    ...(options.set === undefined ? {} : { set: options.set }),
    ...(options.body === undefined ? {} : { bodyFile: options.body }),
  })
  const name = options.config !== undefined || hasConfig() ? provider : source.key
  const url = targetUrl(options.to, name, draft.url)
  const first = { ...draft, url }
  const same = Array.from({ length: options.times }, () => first)
  const answers = await postAll(source, same, trick, options.concurrency)
  // Afterwards: a conflict is one with an event that is there.
  if (trick === 'conflict')
    answers.push(...(await postAll(source, [{ ...(await conflicting(source, first)), url }], trick, 1)))
  const report = reportOf(source, await source.sign(first), answers, trick)
  output.result(report, (paint) => reportText(report, paint))
  return asExpected(report) ? 0 : 1
}

function trickOf({ tamper, stale, conflict }: SendOptions): Trick {
  const asked = (['tamper', 'stale', 'conflict'] as const).filter((_, i) => [tamper, stale, conflict][i])
  if (asked.length > 1)
    throw new UsageError(`--${asked.join(' and --')} cannot be used together. Give one of them.`)
  return asked[0] ?? null
}

/** With a configuration in this folder, its own source signs: its secrets are not the development secret. */
async function sourceOf(provider: string, { secret, config }: SendOptions): Promise<Source> {
  if (secret === undefined && (config !== undefined || hasConfig())) {
    const { configuredSource } = await import('./configured.js')
    return configuredSource(provider, config)
  }
  const factory = factoryOf(provider)
  const dev = credentialsHere()
  if (secret === undefined || secret === dev?.secret) return devSource(factory, dev ?? readCredentials())
  return sourceWith(factory, secret)
}

function credentialsHere(): DevCredentials | null {
  try {
    return readCredentials()
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}

/** A bare origin is a hookonce server: its path for this provider is added. The sample's own query is kept. */
function targetUrl(to: string | undefined, provider: string, sampleUrl: string | undefined): string {
  const text = to ?? process.env.HOOKONCE_SERVER ?? `http://127.0.0.1:${process.env.HOOKONCE_PORT ?? '4100'}`
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(
      `--to must be a URL such as http://127.0.0.1:4100/webhooks/${provider}, not "${text}".`,
    )
  if (url.pathname === '/') url.pathname = `/webhooks/${provider}`
  if (sampleUrl !== undefined && url.search === '') url.search = new URL(sampleUrl).search
  return url.href
}

async function postAll(
  source: Source,
  drafts: readonly SignOptions[],
  trick: Trick,
  concurrency: number,
): Promise<Answer[]> {
  const poster = createPoster(concurrency)
  const answers: Answer[] = []
  const waiting = [...drafts]
  const sender = async () => {
    for (let draft = waiting.shift(); draft; draft = waiting.shift()) {
      const delivery = await signed(source, draft, trick)
      answers.push(
        await poster.post(delivery).catch((error) => Promise.reject(noAnswer(delivery.url, error))),
      )
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(concurrency, drafts.length) }, sender))
  } finally {
    poster.close()
  }
  return answers
}

function noAnswer(url: string, error: unknown): Failure {
  return new Failure(
    `${url} gave no answer: ${whyNoAnswer(error)}. Start hookonce dev, or set the URL with --to.`,
  )
}

async function signed(source: Source, draft: SignOptions, trick: Trick): Promise<Delivery> {
  const tooLongAgo = 2 * (source.scheme.timestamp?.toleranceMs ?? 0) + 60_000
  const delivery = await source.sign({ ...draft, now: Date.now() - (trick === 'stale' ? tooLongAgo : 0) })
  return trick === 'tamper' ? tampered(source, delivery) : delivery
}

/** A delivery that should not be believed and was, is what `--tamper` and `--stale` look for. */
function asExpected({ trick, httpStatuses, deliveries }: Report): boolean {
  const taken = Object.entries(httpStatuses).reduce(
    (sum, [status, times]) => sum + (/^2/.test(status) ? times : 0),
    0,
  )
  if (trick === 'tamper' || trick === 'stale') return taken === 0
  if (trick === 'conflict') return taken + (httpStatuses['409'] ?? 0) === deliveries
  return taken === deliveries
}
