/** Makes a source. All rules are compiled here, once. */
import { msOf } from '../../duration.js'
import { HookonceError } from '../../errors.js'
import type { Delivery, SignOptions, Source, SourceOptions, Verification } from '../../provider.js'
import { labelProblem, orderProblem } from '../../references.js'
import { Compiler } from '../delivery/compile.js'
import { type Field, isList, splitField } from '../delivery/field.js'
import { noSignedData, Reading, type SignedData } from '../delivery/reading.js'
import { createList, type ListOptions } from '../list/sender-list.js'
import { type Draft, reject, type Scheme, type SchemeDefinition } from '../scheme.js'
import { concealer, secretDigests } from '../schemes/secret.js'
import type { ProviderDefinition } from './definition.js'
import { compileHandshakes, isToken, signsTokens } from './handshake.js'
import { compileIdentity, type EventRule, idIsCovered, type References } from './identity.js'
import { checkOptions, namedOptions, type OptionRules } from './options.js'
import { compileReceiver } from './receiver.js'
import { makeSample, sampleUrl } from './samples.js'

export function createSource(
  definition: ProviderDefinition,
  schemes: ReadonlyMap<string, SchemeDefinition>,
  input: unknown,
): Source {
  const { key: provider, document = {}, typeSeparator } = definition
  const { named, options, credential, chosen } = readOptions(definition, schemes, input)
  const settings: SourceOptions & Pick<ListOptions, 'reconcile'> & { readonly publicUrl?: string } = options
  const { publicUrl, tolerance } = settings
  const compiler = new Compiler(options)
  const receiver = compileReceiver(definition, options, compiler)
  const scheme: Scheme = chosen.create({
    provider,
    credential,
    options,
    compiler,
    document,
    publicUrl,
    toleranceMs: tolerance === undefined ? undefined : msOf(tolerance, 0),
  })
  const added = addedReferences(provider, settings, options)
  const eventRules = ([definition.events].flat() as EventRule[]).map((rule) => ({
    ...rule,
    references: { ...rule.references, ...added },
    id: fillField(rule.id, compiler),
  }))
  const labels = [...new Set(eventRules.flatMap(({ references }) => Object.keys(references)))]
  const wrongOrder = settings.order === undefined ? null : orderProblem(settings.order, labels)
  if (wrongOrder)
    throw new HookonceError('OPTION_INVALID', { provider, option: 'order', problem: wrongOrder })
  const identity = compileIdentity(eventRules, options, document)
  const handshakes = definition.handshakes ?? []
  const handshake = compileHandshakes(handshakes, options, scheme)
  const tokensAreSigned = signsTokens(handshakes)
  const secretHits: number[] = new Array(scheme.keyCount).fill(0)
  const secret = chosen.credential === 'secret' ? options[credential] : undefined
  const unverified = scheme.facts.kind === 'none'
  const keyNow = definition.list && typeof options.apiKey === 'function' ? options.apiKey() : options.apiKey

  const idIsSigned = idIsCovered(eventRules, scheme.facts)
  const contentGuard = settings.contentGuard ?? definition.contentGuard ?? 'accept'
  const equalIsUsual = settings.contentGuard === undefined && definition.contentGuard === 'accept'
  const isGuarded = !idIsSigned && !equalIsUsual && !(unverified && contentGuard === 'accept')

  /** Signatures are checked once: `verify` notes here what `identify` needs. */
  const verified = new WeakMap<Delivery, SignedData>()
  const read = (delivery: Delivery) => Reading.of(delivery, document, publicUrl)
  const signedData = (delivery: Delivery) =>
    verified.get(delivery) ?? scheme.readSigned?.(read(delivery)) ?? noSignedData
  const count = (verdict: Verification, reading: Reading): Verification => {
    if (!verdict.ok) return verdict
    if (tokensAreSigned && isToken(reading.verifiedData?.signed ?? [])) return reject('bad_signature')
    if (verdict.secretIndex < secretHits.length) secretHits[verdict.secretIndex]! += 1
    if (reading.verifiedData !== undefined) verified.set(reading.delivery, reading.verifiedData)
    return verdict
  }

  return {
    key: provider,
    name: definition.name,
    docs: definition.docs,
    confidence: definition.confidence,
    idIsSigned,
    sharedKey: definition.sharedKey || null,
    retryWindowMs: definition.retryWindowMs,
    disables: definition.disables ?? null,
    mayBeSilent: settings.mayBeSilent === true,
    answer: definition.answer ?? { timeLimitMs: null },
    contentGuard,
    keepHeaders: definition.keepHeaders ?? [],
    ...(typeSeparator === undefined ? {} : { typeSeparator }),
    get sampleTypes() {
      return Object.keys(definition.samples)
    },
    secretHits,
    unverified,
    scheme: scheme.facts,
    ...(definition.list && {
      list: createList({
        provider,
        name: definition.name,
        rule: definition.list,
        options,
        keyNow,
        slices: (delivery) => identity.slices(read(delivery)),
      }),
    }),
    ...(settings.reconcile && { reconcile: settings.reconcile }),
    conceal: concealer([secret, options.privateKey, keyNow]),
    secretDigests: secretDigests(secret),
    mode: settings.mode ?? 'background',
    conflict: settings.conflict ?? 'ack',
    rearm: settings.rearm === true,
    order: settings.order ?? null,
    labels,
    retention: settings.retention ?? {},
    verify(delivery, { now }) {
      const reading = read(delivery)
      // First, so that the deliveries of others cause no request for a certificate.
      if (!receiver.isNamed(reading)) return reject('wrong_claims')
      const verdict = scheme.verify(reading, now)
      return verdict instanceof Promise
        ? verdict.then((result) => count(result, reading))
        : count(verdict, reading)
    },
    identify: (delivery) =>
      identity.identify(Reading.of(delivery, document, publicUrl, () => signedData(delivery))),
    impostor() {
      const made = chosen.example()
      const own = made.credential === undefined ? {} : { [credential]: made.credential }
      return createSource(definition, schemes, { ...named, ...made.extra, ...own })
    },
    slices: (delivery) => identity.slices(read(delivery)),
    guarded: (delivery) => (isGuarded ? (signedData(delivery).signed ?? [delivery.body]) : null),
    handshake: (delivery, { now }) => (handshake === null ? null : handshake(read(delivery), now)),
    sample: (wanted) => makeSample(definition, compiler, receiver, wanted),
    sign(wanted) {
      const draft = draftOf(wanted, publicUrl ?? sampleUrl(definition), eventRules[0]!, typeSeparator)
      const signed = scheme.sign(draft, wanted.now)
      return signed instanceof Promise ? signed.then(() => draft) : draft
    },
  }
}

function readOptions(
  { key, options: ownRules = {}, aliases, list }: ProviderDefinition,
  schemes: ReadonlyMap<string, SchemeDefinition>,
  input: unknown,
) {
  const credentials = [...schemes.keys()]
  const listNames = list ? ['apiKey', 'baseUrl', 'reconcile'] : []
  const extra = [...[...schemes.values()].flatMap((scheme) => scheme.extraOptions), 'publicUrl', ...listNames]
  const rules = { ...ownRules, ...optional(list?.options) }
  const named = namedOptions(key, input, credentials, [...extra, ...Object.keys(rules)], aliases)
  // A missing secret is reported before other options.
  const [credential, chosen] = chooseScheme(key, schemes, named)
  const options = checkOptions(key, named, rules, [...credentials, ...extra])
  return { named, options, credential, chosen }
}

/** The references that the user has named, with fields that can be read. */
function addedReferences(
  provider: string,
  { references = {} }: SourceOptions,
  options: Readonly<Record<string, unknown>>,
): References {
  for (const [label, field] of Object.entries(references)) {
    const option = `references.${label}`
    const wrong = labelProblem(label)
    if (wrong) throw new HookonceError('OPTION_INVALID', { provider, option, problem: wrong })
    try {
      new Compiler(options).values(field as Field)
    } catch {
      const problem = `must be a field such as "json:data.order_id" (docs/unknown-senders.md lists them), not "${field}"`
      throw new HookonceError('OPTION_INVALID', { provider, option, problem })
    }
  }
  return references as References
}

/** Only reconcile needs them. */
function optional(rules: OptionRules = {}): OptionRules {
  return Object.fromEntries(Object.entries(rules).map(([option, { required: _, ...rule }]) => [option, rule]))
}

function chooseScheme(
  provider: string,
  schemes: ReadonlyMap<string, SchemeDefinition>,
  options: Readonly<Record<string, unknown>>,
): readonly [string, SchemeDefinition] {
  const all = [...schemes]
  const asked = all.filter(([option]) => options[option] !== undefined)
  if (asked.length > 1) {
    const option = asked.map(([name]) => name).join(' and ')
    throw new HookonceError('OPTION_INVALID', {
      provider,
      option,
      problem: 'cannot be used together; give only one of them',
    })
  }
  const chosen = asked[0] ?? all.find(([, scheme]) => !scheme.credentialNeeded)
  if (chosen !== undefined) return chosen
  const option = all.map(([name]) => name).join(' or ')
  throw new HookonceError('SECRET_MISSING', { provider, option })
}

/** Id and type are written if the first choice of the rule is a header. */
function draftOf(
  { method = 'POST', url, headers = {}, body, id, type }: SignOptions,
  ownUrl: string,
  rule: EventRule,
  typeSeparator: string | undefined,
): Draft {
  const draft: Draft = {
    method,
    url: url ?? ownUrl,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    body: typeof body === 'string' ? Buffer.from(body, 'utf8') : body,
  }
  putHeader(draft, rule.id, id)
  if (typeSeparator === undefined) putHeader(draft, rule.type, type)
  else putHeader(draft, familyOf(rule.type), type?.split(typeSeparator, 1)[0])
  return draft
}

function putHeader(draft: Draft, field: Field | undefined, value: string | undefined): void {
  const first = field !== undefined && typeof field !== 'string' && isList(field) ? field[0] : field
  if (value === undefined || typeof first !== 'string') return
  const [kind, name] = splitField(first)
  if (kind === 'header') draft.headers[name.toLowerCase()] ??= value
}

/** The header of a type with an action has its first part; the action is in the body. */
function familyOf(type: Field | undefined): Field | undefined {
  return typeof type === 'object' && 'fields' in type ? type.fields[0] : undefined
}

function fillField(field: Field, compiler: Compiler): Field {
  if (typeof field === 'string') return compiler.fill(field) as Field
  return isList(field) ? field.map((choice) => fillField(choice, compiler)) : field
}
