import type { Command } from 'commander'
import { conflicting, tampered } from '../../check/change.js'
import type { Delivery, SignOptions, Source } from '../../provider.js'
import { commonParts } from '../../verification/define/samples.js'
import { addCommand } from '../command.js'
import { existingCredentials, noCredentials } from '../dev/folder.js'
import { Failure, UsageError } from '../failure.js'
import { count, flag, type OptionsOf, parsed, secretOf, secretOption, text, texts } from '../options.js'
import type { Output } from '../output.js'
import { type Answer, createPoster, whyNoAnswer } from '../post.js'
import { draftOf } from '../send/draft.js'
import { type Report, reportOf, reportText, type Trick } from '../send/report.js'
import { configuredSource, devSource, factoryOf, sourceWith } from '../sources.js'
import { hasConfig } from '../store.js'

const options = {
  to: text(
    '<url>',
    'the URL to send to; /webhooks/<provider> is added to a URL without a path (default http://127.0.0.1:4100)',
  ),
  ...secretOption(
    'the secret to sign with (default: the one of hookonce dev in this folder)',
    'HOOKONCE_SEND_SECRET',
  ),
  count: { ...parsed('<n>', 'how many different events to send', count), initial: 1 },
  times: { ...parsed('<n>', 'how many times to deliver each of them', count), initial: 1 },
  concurrency: { ...parsed('<n>', 'how many deliveries at once', count), initial: 1 },
  id: text('<id>', 'the event id (default: a new one)'),
  set: texts('<path=value>', 'change a field of the body; may be repeated'),
  body: text('<file>', 'a file with the body to send instead of the sample; - reads standard input'),
  tamper: flag('change the body after signing; the endpoint should refuse it'),
  stale: flag('sign with a time that is too old; the endpoint should refuse it'),
  conflict: flag('at the end, also send the same id with other bytes'),
}
type SendOptions = OptionsOf<typeof options>

export function add(program: Command): void {
  addCommand(program, 'send <provider> [type]', {
    description:
      'Sends a test delivery in the form of this provider, signed by its rules. The real sender is not contacted.',
    examples: [
      'hookonce send stripe invoice.paid --times 5 --concurrency 5',
      'hookonce send stripe customer.created --count 100 --concurrency 10',
      'hookonce send github push --set repository.full_name=me/shop',
      'hookonce send shopify --to https://shop.example/hooks --secret-file shopify.secret',
      'hookonce send stripe --tamper',
    ],
    options,
    run: ({ output, options }, provider: string, type?: string) => send(output, provider, type, options),
  })
}

async function send(
  output: Output,
  provider: string,
  type: string | undefined,
  options: SendOptions,
): Promise<number> {
  const trick = trickOf(options)
  const source = await sourceOf(provider, options)
  if (trick === 'stale' && source.scheme.timestamp?.toleranceMs == null)
    throw new UsageError(`--stale is not possible for ${source.name}: no signed time is checked.`)
  if (options.count > 1 && (options.id ?? options.body) !== undefined)
    throw new UsageError('--count sends events with different ids: leave out --id and --body.')
  const drafts = Array.from({ length: options.count }, () => draftOf(source, type, options))
  const name = hasConfig() ? provider : source.key
  const url = targetUrl(options.to, name, drafts[0]!.url)
  const events = drafts.map((draft) => ({ ...draft, url }))
  const [first] = events as [SignOptions]
  await checkType(output, source, first, type, options)
  const repeated = Array.from({ length: options.times }, () => events).flat()
  const answers = await postAll(source, repeated, trick, options.concurrency)
  // Only an event that is recorded already can be in conflict.
  if (trick === 'conflict')
    answers.push(...(await postAll(source, [await otherContent(source, first)], trick, 1)))
  const report = reportOf(source, await source.sign(first), answers, {
    trick,
    sent: options.count,
    hasDashboard: await hasDashboard(url),
  })
  output.result(report, (paint) => reportText(report, paint))
  return asExpected(report) ? 0 : 1
}

/** Some senders have no text of the type that could be set: it follows from the rest of the body. */
async function checkType(
  output: Output,
  source: Source,
  draft: SignOptions,
  type: string | undefined,
  { body }: SendOptions,
) {
  if (type === undefined || body !== undefined) return
  const sent = source.identify(await source.sign(draft))[0]?.type ?? ''
  const isFamily = sent.startsWith(type) && /^[^A-Za-z0-9]/.test(sent.slice(type.length))
  if (sent === type || isFamily) {
    if (!source.sampleTypes.some((sample) => commonParts(sample, type) > 0))
      output.say(
        `No sample is like "${type}": this is the body of "${source.sampleTypes[0]}" under that type. Send a body of your own with --body.`,
      )
    return
  }
  throw new UsageError(
    `There is no sample of ${source.name} for "${type}". Samples: ${source.sampleTypes.join(', ')}. Send a body of your own with --body, or change one with --set.`,
  )
}

/** An application that embeds hookonce has none. */
async function hasDashboard(url: string): Promise<boolean> {
  try {
    const answer = await fetch(new URL('/', url), { signal: AbortSignal.timeout(2_000), redirect: 'manual' })
    return (await answer.text()).includes('<title>hookonce</title>')
  } catch {
    return false
  }
}

function trickOf({ tamper, stale, conflict }: SendOptions): Trick {
  const asked = (['tamper', 'stale', 'conflict'] as const).filter((_, i) => [tamper, stale, conflict][i])
  if (asked.length > 1)
    throw new UsageError(`--${asked.join(' and --')} cannot be used together. Give one of them.`)
  return asked[0] ?? null
}

async function otherContent(source: Source, draft: SignOptions): Promise<SignOptions> {
  for await (const { changed, isCompared } of conflicting(source, draft)) if (isCompared) return changed
  throw new Failure(
    `--conflict is not possible for ${source.name}: its event id is derived from the content, or its content is not compared.`,
  )
}

/** A source of the configuration signs with its own secrets, not with the development secret. */
async function sourceOf(provider: string, { secretFile }: SendOptions): Promise<Source> {
  const secret = secretOf(secretFile, 'HOOKONCE_SEND_SECRET')
  if (secret === undefined && hasConfig()) return configuredSource(provider)
  const factory = factoryOf(provider)
  const dev = existingCredentials()
  if (dev !== null && (secret === undefined || secret === dev.secret)) return devSource(factory, dev)
  if (secret === undefined) throw noCredentials()
  return sourceWith(factory, secret)
}

/** A URL without a path is that of a hookonce server. Some senders need the query of the sample. */
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
  const queue = [...drafts]
  const sender = async () => {
    for (let draft = queue.shift(); draft; draft = queue.shift()) {
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
  const tooOldMs = 2 * (source.scheme.timestamp?.toleranceMs ?? 0) + 60_000
  const delivery = await source.sign({ ...draft, now: Date.now() - (trick === 'stale' ? tooOldMs : 0) })
  if (trick !== 'tamper') return delivery
  const changed = await tampered(source, delivery)
  if (changed !== null) return changed
  throw new UsageError(
    `--tamper is not possible for ${source.name}: it does not sign the body, so a changed body cannot be detected.`,
  )
}

function asExpected({ trick, httpStatuses, deliveries }: Report): boolean {
  const accepted = Object.entries(httpStatuses).reduce(
    (sum, [status, times]) => sum + (/^2/.test(status) ? times : 0),
    0,
  )
  if (trick === 'tamper' || trick === 'stale') return accepted === 0
  if (trick === 'conflict') return accepted + (httpStatuses['409'] ?? 0) === deliveries
  return accepted === deliveries
}
