import type { Command } from 'commander'
import { durationText } from '../../duration.js'
import type { ProviderFactory } from '../../providers/index.js'
import { addCommand } from '../command.js'
import { type Output, table } from '../output.js'
import { exampleSource, factories, factoryOf, idFields } from '../sources.js'

export function add(program: Command): void {
  addCommand(program, 'providers [provider]', {
    description:
      'Lists the supported senders. With a name, shows how that sender signs, identifies and retries its events.',
    examples: ['hookonce providers', 'hookonce providers github'],
    async run({ output }, provider?: string) {
      if (provider === undefined) listProviders(output)
      else showProvider(output, factoryOf(provider))
    },
  })
}

function listProviders(output: Output): void {
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

function showProvider(output: Output, factory: ProviderFactory): void {
  const source = exampleSource(factory)
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
    id: idFields(factory),
    idIsSigned: source.idIsSigned,
    contentGuard: source.contentGuard,
    retryWindowMs: source.retryWindowMs,
    disables: source.disables ?? null,
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
      ...(source.disables ? [['on failures', `${source.disables.when}. ${source.disables.again}`]] : []),
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

function tolerance(ms: number | null): string {
  return ms === null ? 'not checked against the clock' : `within ${durationText(ms)}`
}

function documented(ms: number | null): string {
  return ms === null ? 'not documented' : durationText(ms)
}
