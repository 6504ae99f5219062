/** `hookonce providers`: what is known of each sender, for people who set one up. */
import { durationText } from '../duration.js'
import { nearest } from '../options.js'
import type { Source } from '../provider.js'
import type { ProviderFactory } from '../providers/index.js'
import { catalogue } from '../providers/index.js'
import { type Field, isList, leaves } from '../verification/delivery/field.js'
import { UsageError } from './failure.js'
import { type Output, table } from './output.js'

export function providers(output: Output, name?: string): void {
  if (name === undefined) all(output)
  else one(output, factoryOf(name))
}

function all(output: Output): void {
  const rows = factories().map((factory) => ({
    provider: factory.key,
    name: factory.definition.name,
    types: Object.keys(factory.definition.samples),
    retryWindowMs: factory.definition.retryWindowMs,
    confidence: factory.definition.confidence,
  }))
  output.result(rows, (paint) =>
    table([
      ['PROVIDER', 'SENDER', 'RETRIES FOR', 'SAMPLE TYPES'].map((title) => paint('dim', title)),
      ...rows.map((row) => [row.provider, row.name, documented(row.retryWindowMs), row.types.join(', ')]),
    ]),
  )
}

export function factories(): readonly ProviderFactory[] {
  return Object.values(catalogue) as unknown as readonly ProviderFactory[]
}

/** The factory of that key, whatever its case and hyphens: `amazon-sns` is `amazonSns`. */
export function factoryOf(name: string): ProviderFactory {
  const all = factories()
  const found = all.find((factory) => folded(factory.key) === folded(name))
  if (found) return found
  const near = nearest(
    name,
    all.map((factory) => factory.key),
  )
  throw new UsageError(
    `There is no provider "${name}".${near ? ` Did you mean ${near}?` : ''} See hookonce providers.`,
  )
}

function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '')
}

function one(output: Output, factory: ProviderFactory): void {
  const make = factory as unknown as (options: Record<string, unknown>) => Source
  const source = make(factory.example())
  const { scheme } = source
  const facts = {
    provider: source.key,
    name: source.name,
    docs: source.docs,
    path: `/webhooks/${source.key}`,
    scheme: scheme.kind,
    credentials: factory.credentials,
    options: Object.fromEntries(
      Object.entries(factory.definition.options ?? {}).map(([option, rule]) => [option, rule.what]),
    ),
    signatureIn: scheme.signatureIn,
    timestamp: scheme.timestamp,
    covers: scheme.covers,
    id: [factory.definition.events].flat().map((rule) => fieldText(rule.id)),
    idIsSigned: source.idIsSigned,
    contentGuard: source.contentGuard,
    retryWindowMs: source.retryWindowMs,
    timeLimitMs: source.answer.timeLimitMs,
    types: source.sampleTypes,
    confidence: source.confidence,
  }
  output.result(facts, (paint) => {
    const rows: string[][] = [
      ['URL', `https://<your host>${facts.path}`],
      ['signature', `${scheme.kind}, in ${scheme.signatureIn.join(', ') || 'nothing'}`],
      ['options', [...factory.credentials, ...Object.keys(facts.options)].join(', ')],
      [
        'timestamp',
        scheme.timestamp ? `${scheme.timestamp.in}, ${tolerance(scheme.timestamp.toleranceMs)}` : 'none',
      ],
      [
        'event id',
        `${facts.id.join(' or ')}${source.idIsSigned ? '' : ` (not signed; guard: ${source.contentGuard})`}`,
      ],
      ['retries for', documented(source.retryWindowMs)],
      ['waits for', documented(source.answer.timeLimitMs)],
      ['sample types', source.sampleTypes.join(', ')],
      ['documentation', source.docs],
      [
        'rules',
        source.confidence === 'verified'
          ? "verified: taken from the sender's documentation"
          : 'likely: some rules are taken from third parties; test with a real delivery first',
      ],
      ['try', `hookonce send ${source.key} ${source.sampleTypes[0] ?? ''}`.trimEnd()],
    ]
    return `${paint('bold', source.name)}\n${table(rows.map(([title, text]) => [paint('dim', `  ${title}`), text!]))}`
  })
}

/** A rule for the id as text: alternatives, or the fields it is made of. */
function fieldText(field: Field): string {
  if (typeof field === 'string') return field
  if (isList(field)) return field.map(fieldText).join(' or ')
  return `${'hash' in field ? 'hash of ' : ''}${leaves(field).join(' + ')}`
}

function tolerance(ms: number | null): string {
  return ms === null ? 'not checked against the clock' : `within ${durationText(ms)}`
}

function documented(ms: number | null): string {
  return ms === null ? 'not documented' : durationText(ms)
}
