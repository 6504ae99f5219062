/**
 * The steps of every signature over content: find the signatures, check the timestamp, build the signed content, and let
 * the algorithm check whether one of the keys made one of the signatures. HMAC and the public-key schemes differ only
 * in the last step.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { RejectReason, SchemeFacts, Verification } from '../../provider.js'
import { isForm } from '../delivery/body-formats.js'
import { type FieldText, splitField } from '../delivery/field.js'
import { putField, putJson, walk } from '../delivery/put.js'
import { noSignedData, Reading, type SignedData } from '../delivery/reading.js'
import { compileSlices } from '../delivery/slices.js'
import { type Chunk, type ContentFunction, compileTemplate, holes } from '../delivery/template.js'
import { type Draft, reject, type Scheme, type SchemeContext, signsBody } from '../scheme.js'
import {
  type Candidates,
  decodeExact,
  type Encoding,
  readSignatures,
  type SignatureRule,
  writeSignature,
} from './signature.js'
import { effectiveTolerance, formatTimestamp, judgeTimestamp, type TimestampRule } from './timestamp.js'

export interface SignedRule {
  readonly encoding: Encoding
  /** The place and the form of the signature; only the place when the text is the bare signature. */
  readonly signature: SignatureRule | FieldText
  /** The signed content. Default `{body}`. A list: any of these. */
  readonly signed?: string | ContentFunction | readonly (string | ContentFunction)[]
  readonly timestamp?: TimestampRule
  /** Each element of this list has its own signature (Adyen); fields are then relative to the element. */
  readonly each?: string
  /** This covered field holds the SHA-256 of the body in hex, unless the body is a covered form (Twilio). */
  readonly bodyHashIn?: FieldText
  /** The covered values, when `signed` is a function and they cannot be derived. */
  readonly covers?: Partial<SchemeFacts['covers']>
}

/** The algorithm with its keys. */
export interface Signer {
  readonly keyCount: number
  /** The index of the key that made one of the signatures, or the reason of the rejection. */
  match(
    content: readonly Chunk[],
    signatures: readonly string[],
    reading: Reading,
  ): number | RejectReason | Promise<number | RejectReason>
  write(content: readonly Chunk[], draft: Draft): string
}

export function signedScheme(
  kind: SchemeFacts['kind'],
  rule: SignedRule,
  context: SchemeContext,
  signer: Signer,
): Scheme {
  const { compiler } = context
  const format: SignatureRule = typeof rule.signature === 'string' ? { in: rule.signature } : rule.signature
  const signature: SignatureRule =
    format.prefix === undefined ? format : { ...format, prefix: compiler.fill(format.prefix) }
  const places = (typeof signature.in === 'string' ? [signature.in] : signature.in).map(
    (field) => compiler.fill(field) as FieldText,
  )
  const readPlaces = places.map((field) => compiler.field(field))
  const templates = [rule.signed ?? '{body}'].flat() as (string | ContentFunction)[]
  const contents = templates.map((template) => compileTemplate(template, compiler))
  const slicesOf = rule.each === undefined ? null : compileSlices(rule.each)
  const stamp = rule.timestamp
  const readStamp = stamp === undefined || stamp.in === 'signature' ? null : compiler.field(stamp.in)
  const toleranceMs = stamp === undefined ? null : effectiveTolerance(stamp, context.toleranceMs)
  const readHash = rule.bodyHashIn === undefined ? null : compiler.field(rule.bodyHashIn)

  function verifySlice(reading: Reading, now: number): Verification | Promise<Verification> {
    const found = candidates(reading)
    if (typeof found === 'string') return reject(found)
    if (stamp !== undefined) {
      reading.timestamp = readStamp === null ? found.timestamp : readStamp(reading)
      const problem = judgeTimestamp(reading.timestamp, stamp.unit, toleranceMs, now)
      if (problem !== null) return reject(problem)
    }
    if (readHash !== null && !bodyHashMatches(reading, readHash(reading))) return reject('bad_signature')
    return matchAny(reading, found.signatures, 0)
  }

  function matchAny(
    reading: Reading,
    signatures: readonly string[],
    from: number,
  ): Verification | Promise<Verification> {
    const content = contents[from]!(reading)
    if (typeof content === 'string') {
      // A template that does not apply is treated like one that does not match.
      if (from + 1 < contents.length) return matchAny(reading, signatures, from + 1)
      return reject(contents.length === 1 ? content : 'bad_signature')
    }
    const judge = (result: number | RejectReason): Verification | Promise<Verification> => {
      if (typeof result === 'number') {
        reading.verifiedData = signedData(reading, content)
        return { ok: true, secretIndex: result }
      }
      if (result !== 'bad_signature' || from + 1 >= contents.length) return reject(result)
      return matchAny(reading, signatures, from + 1)
    }
    const result = signer.match(content, signatures, reading)
    return result instanceof Promise ? result.then(judge) : judge(result)
  }

  function candidates(reading: Reading): Candidates | RejectReason {
    let found: Candidates | null = null
    let present = false
    for (const read of readPlaces) {
      const text = read(reading)
      if (text === undefined || text === '') continue
      present = true
      const here = readSignatures(text, signature)
      if (here === null) continue
      found =
        found === null
          ? here
          : { signatures: [...found.signatures, ...here.signatures], timestamp: found.timestamp }
    }
    if (found !== null) return found
    if (reading.unreadable) return 'malformed_body'
    return present ? 'malformed_signature' : 'missing_signature'
  }

  function verify(reading: Reading, now: number): Verification | Promise<Verification> {
    if (slicesOf === null) return verifySlice(reading, now)
    const slices = slicesOf(reading)
    if (typeof slices === 'string' || slices.length === 0) return reject('malformed_body')
    // One slice without a valid signature rejects the whole delivery.
    let secretIndex = 0
    const signed: Chunk[] = []
    for (const slice of slices) {
      const verdict = verifySlice(slice, now)
      if (verdict instanceof Promise) return reject('key_unavailable')
      if (!verdict.ok) return verdict
      secretIndex = Math.max(secretIndex, verdict.secretIndex)
      signed.push(...(slice.verifiedData?.signed ?? []))
    }
    reading.verifiedData = signedData(reading, signed)
    return { ok: true, secretIndex }
  }

  /** Builds the content as `verify` does. Of several templates it uses the first that applies. */
  function readSigned(reading: Reading): SignedData {
    const slices = slicesOf === null ? [reading] : slicesOf(reading)
    if (typeof slices === 'string') return noSignedData
    const signed = slices.map(signedContent)
    if (signed.length === 0 || signed.includes(null)) return noSignedData
    return signedData(reading, signed.flat() as Chunk[])
  }

  function signedData(reading: Reading, signed: readonly Chunk[]): SignedData {
    const naming = coversBody ? signed : [...signed, reading.delivery.body]
    return { signed, naming, timestamp: reading.timestamp, claims: undefined }
  }

  function signedContent(reading: Reading): readonly Chunk[] | null {
    const found = candidates(reading)
    if (typeof found === 'string') return null
    if (stamp !== undefined) reading.timestamp = readStamp === null ? found.timestamp : readStamp(reading)
    for (const content of contents) {
      const chunks = content(reading)
      if (typeof chunks !== 'string') return chunks
    }
    return null
  }

  function sign(draft: Draft, now: number): void {
    const timestamp = stamp === undefined ? undefined : formatTimestamp(now, stamp.unit)
    if (stamp !== undefined && stamp.in !== 'signature') {
      putField(draft, compiler.fill(stamp.in) as FieldText, timestamp!)
    }
    if (rule.bodyHashIn !== undefined && draft.body.length > 0 && !isForm(draft.headers['content-type'])) {
      putField(draft, rule.bodyHashIn, createHash('sha256').update(draft.body).digest('hex'))
    }
    if (rule.each !== undefined) {
      signSlices(draft, rule.each)
      return
    }
    const reading = Reading.of(draft, context.document, context.publicUrl)
    reading.timestamp = timestamp
    putField(draft, places[0]!, writeSignature(signReading(reading, draft), timestamp, signature))
  }

  function signReading(reading: Reading, draft: Draft): string {
    const content = contents[0]!(reading)
    if (typeof content === 'string')
      throw new TypeError(`The delivery for ${context.provider} cannot be signed: ${content}.`)
    return signer.write(content, draft)
  }

  function signSlices(draft: Draft, each: string): void {
    const document: unknown = JSON.parse(Buffer.from(draft.body).toString('utf8'))
    const [, path] = splitField(places[0]!)
    const steps = each
      .replaceAll('[]', '.[]')
      .split('.')
      .filter((step) => step !== '')
    for (const element of walk(document, steps)) {
      const bytes = Buffer.from(JSON.stringify(element))
      const reading = Reading.of(draft, context.document, context.publicUrl).at([bytes, draft.body], 0)
      putJson(element, path, writeSignature(signReading(reading, draft), undefined, signature))
    }
    draft.body = Buffer.from(JSON.stringify(document))
  }

  const named = templates.flatMap((template) =>
    typeof template === 'string' ? holes(compiler.fill(template)) : [],
  )
  const covers: SchemeFacts['covers'] = {
    body: bodyCover(named, rule),
    url: named.includes('url') || named.includes('path'),
    fields: named.filter((name) => name.includes(':')),
    ...rule.covers,
  }
  const coversBody = signsBody(covers)
  const facts: SchemeFacts = {
    kind,
    credential: context.credential,
    signatureIn: places,
    each: rule.each ?? null,
    encoding: rule.encoding,
    separator: signature.separator ?? (signature.pairs === undefined ? null : ','),
    covers,
    timestamp: stamp === undefined ? null : { in: compiler.fill(stamp.in), unit: stamp.unit, toleranceMs },
  }
  return { facts, keyCount: signer.keyCount, verify, readSigned, sign }
}

function bodyCover(named: readonly string[], rule: SignedRule): SchemeFacts['covers']['body'] {
  if (named.includes('body')) return 'bytes'
  if (named.includes('sorted-form') || named.includes('document')) return 'values'
  if (rule.bodyHashIn !== undefined) return 'bytes'
  return named.includes('crc32') ? 'checksum' : 'none'
}

function bodyHashMatches(reading: Reading, claimed: string | undefined): boolean {
  const { body } = reading.delivery
  if (claimed === undefined && (body.length === 0 || isForm(reading.header('content-type')))) return true
  const expected = claimed === undefined ? null : decodeExact(claimed, 'hex', 32)
  return expected !== null && timingSafeEqual(expected, createHash('sha256').update(body).digest())
}
