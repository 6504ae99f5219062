/**
 * The steps of every signature over content: find the signatures, check the timestamp, build the signed content, and let
 * the algorithm check whether one of the keys made one of the signatures. HMAC and the public-key schemes differ only
 * in the last step.
 */
import { sha256 } from '../../digest.js'
import type { RejectReason, SchemeFacts, Verification } from '../../provider.js'
import { isForm } from '../delivery/body-formats.js'
import type { Compiler, Evaluate } from '../delivery/compile.js'
import { type FieldText, splitField } from '../delivery/field.js'
import { putField, putJson, stepsOf, walk } from '../delivery/put.js'
import { noSignedData, Reading, type SignedData } from '../delivery/reading.js'
import { compileSlices, type ReadSlices } from '../delivery/slices.js'
import {
  type Chunk,
  type ContentFunction,
  compileTemplate,
  holes,
  type SignedContent,
} from '../delivery/template.js'
import { type Draft, reject, type Scheme, type SchemeContext, signsBody } from '../scheme.js'
import { type Encoding, isHashOf, readSignatures, type SignatureRule, writeSignature } from './signature.js'
import { effectiveTolerance, formatTimestamp, judgeTimestamp, type TimestampRule } from './timestamp.js'

export interface SignedRule {
  readonly encoding: Encoding
  /** Only the place, when the text there is the bare signature. */
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

export interface Signer {
  readonly keyCount: number
  /** Returns the index of the key that made one of the signatures. */
  match(
    content: readonly Chunk[],
    signatures: readonly string[],
    reading: Reading,
  ): number | RejectReason | Promise<number | RejectReason>
  write(content: readonly Chunk[], reading: Reading): string
  readonly mac?: Scheme['mac']
}

export class SignedScheme implements Scheme {
  readonly facts: SchemeFacts
  readonly keyCount: number
  readonly mac: Scheme['mac']
  readonly #rule: SignedRule
  readonly #context: SchemeContext
  readonly #signer: Signer
  readonly #format: SignatureRule
  readonly #places: readonly FieldText[]
  readonly #readPlaces: readonly Evaluate[]
  readonly #contents: readonly SignedContent[]
  readonly #slicesOf: ReadSlices | null
  /** Null: there is no signed time, or it is in the text of the signature. */
  readonly #readStamp: Evaluate | null
  readonly #readHash: Evaluate | null
  readonly #coversBody: boolean

  constructor(kind: SchemeFacts['kind'], rule: SignedRule, context: SchemeContext, signer: Signer) {
    const { compiler } = context
    const format: SignatureRule = typeof rule.signature === 'string' ? { in: rule.signature } : rule.signature
    const templates = [rule.signed ?? '{body}'].flat() as (string | ContentFunction)[]
    const stamp = rule.timestamp
    this.keyCount = signer.keyCount
    this.mac = signer.mac
    this.#rule = rule
    this.#context = context
    this.#signer = signer
    this.#format = format.prefix === undefined ? format : { ...format, prefix: compiler.fill(format.prefix) }
    this.#places = [format.in].flat().map((field) => compiler.fill(field) as FieldText)
    this.#readPlaces = this.#places.map((field) => compiler.field(field))
    this.#contents = templates.map((template) => compileTemplate(template, compiler))
    this.#slicesOf = rule.each === undefined ? null : compileSlices(rule.each)
    this.#readStamp = stamp === undefined || stamp.in === 'signature' ? null : compiler.field(stamp.in)
    this.#readHash = rule.bodyHashIn === undefined ? null : compiler.field(rule.bodyHashIn)
    this.facts = {
      kind,
      credential: context.credential,
      signatureIn: this.#places,
      each: rule.each ?? null,
      encoding: rule.encoding,
      separator: format.separator ?? (format.pairs === undefined ? null : ','),
      covers: coverOf(templates, rule, compiler),
      timestamp:
        stamp === undefined
          ? null
          : {
              in: compiler.fill(stamp.in),
              unit: stamp.unit,
              toleranceMs: effectiveTolerance(stamp, context.toleranceMs),
            },
    }
    this.#coversBody = signsBody(this.facts.covers)
  }

  verify(reading: Reading, now: number): Verification | Promise<Verification> {
    if (this.#slicesOf === null) return this.#verifySlice(reading, now)
    const slices = this.#slicesOf(reading)
    if (typeof slices === 'string' || slices.length === 0) return reject('malformed_body')
    // One slice without a valid signature rejects the whole delivery.
    let secretIndex = 0
    const signed: Chunk[] = []
    for (const slice of slices) {
      const verdict = this.#verifySlice(slice, now)
      if (verdict instanceof Promise) return reject('key_unavailable')
      if (!verdict.ok) return verdict
      secretIndex = Math.max(secretIndex, verdict.secretIndex)
      signed.push(...(slice.verifiedData?.signed ?? []))
    }
    reading.verifiedData = this.#signedData(reading, signed)
    return { ok: true, secretIndex }
  }

  /** Builds the content as `verify` does, with the first template that applies. */
  readSigned(reading: Reading): SignedData {
    const slices = this.#slicesOf === null ? [reading] : this.#slicesOf(reading)
    if (typeof slices === 'string') return noSignedData
    const signed = slices.map((slice) => this.#signedContent(slice))
    if (signed.length === 0 || signed.includes(null)) return noSignedData
    return this.#signedData(reading, signed.flat() as Chunk[])
  }

  sign(draft: Draft, now: number): void {
    const { timestamp: stamp, bodyHashIn, each } = this.#rule
    const { compiler, document, publicUrl } = this.#context
    const timestamp = stamp === undefined ? undefined : formatTimestamp(now, stamp.unit)
    if (stamp !== undefined && stamp.in !== 'signature') {
      putField(draft, compiler.fill(stamp.in) as FieldText, timestamp!)
    }
    if (bodyHashIn !== undefined && draft.body.length > 0 && !isForm(draft.headers['content-type'])) {
      putField(draft, bodyHashIn, sha256(draft.body).toString('hex'))
    }
    const reading = Reading.of(draft, document, publicUrl)
    reading.timestamp = timestamp
    if (each !== undefined) this.#signSlices(draft, reading, each)
    else putField(draft, this.#places[0]!, this.#signature(reading, timestamp))
  }

  #verifySlice(reading: Reading, now: number): Verification | Promise<Verification> {
    const signatures = this.#readSignatures(reading)
    if (typeof signatures === 'string') return reject(signatures)
    const stamp = this.facts.timestamp
    if (stamp !== null) {
      const problem = judgeTimestamp(reading.timestamp, stamp.unit, stamp.toleranceMs, now)
      if (problem !== null) return reject(problem)
    }
    if (this.#readHash !== null && !bodyHashMatches(reading, this.#readHash(reading))) {
      return reject('bad_signature')
    }
    return this.#matchAny(reading, signatures, 0)
  }

  #matchAny(
    reading: Reading,
    signatures: readonly string[],
    from: number,
  ): Verification | Promise<Verification> {
    const isLast = from + 1 >= this.#contents.length
    const content = this.#contents[from]!(reading)
    if (typeof content === 'string') {
      // A template that does not apply is treated like one that does not match.
      if (!isLast) return this.#matchAny(reading, signatures, from + 1)
      return reject(from === 0 ? content : 'bad_signature')
    }
    const judge = (result: number | RejectReason): Verification | Promise<Verification> => {
      if (typeof result === 'number') {
        reading.verifiedData = this.#signedData(reading, content)
        return { ok: true, secretIndex: result }
      }
      if (result !== 'bad_signature' || isLast) return reject(result)
      return this.#matchAny(reading, signatures, from + 1)
    }
    const result = this.#signer.match(content, signatures, reading)
    return result instanceof Promise ? result.then(judge) : judge(result)
  }

  /** Notes the signed time in the reading. */
  #readSignatures(reading: Reading): readonly string[] | RejectReason {
    const signatures: string[] = []
    let timestamp: string | undefined
    let present = false
    for (const read of this.#readPlaces) {
      const text = read(reading)
      if (text === undefined || text === '') continue
      present = true
      const found = readSignatures(text, this.#format)
      if (found === null) continue
      if (signatures.length === 0) timestamp = found.timestamp
      signatures.push(...found.signatures)
    }
    if (signatures.length === 0) {
      if (reading.unreadable) return 'malformed_body'
      return present ? 'malformed_signature' : 'missing_signature'
    }
    if (this.facts.timestamp !== null) {
      reading.timestamp = this.#readStamp === null ? timestamp : this.#readStamp(reading)
    }
    return signatures
  }

  #signedData(reading: Reading, signed: readonly Chunk[]): SignedData {
    const naming = this.#coversBody ? signed : [...signed, reading.delivery.body]
    return { signed, naming, timestamp: reading.timestamp, claims: undefined }
  }

  #signedContent(reading: Reading): readonly Chunk[] | null {
    if (typeof this.#readSignatures(reading) === 'string') return null
    for (const content of this.#contents) {
      const chunks = content(reading)
      if (typeof chunks !== 'string') return chunks
    }
    return null
  }

  #signature(reading: Reading, timestamp: string | undefined): string {
    const content = this.#contents[0]!(reading)
    if (typeof content === 'string')
      throw new TypeError(`The delivery for ${this.#context.provider} cannot be signed: ${content}.`)
    return writeSignature(this.#signer.write(content, reading), timestamp, this.#format)
  }

  #signSlices(draft: Draft, reading: Reading, each: string): void {
    const document: unknown = JSON.parse(Buffer.from(draft.body).toString('utf8'))
    const [, path] = splitField(this.#places[0]!)
    for (const element of walk(document, stepsOf(each))) {
      const slice = reading.at([Buffer.from(JSON.stringify(element)), draft.body], 0)
      putJson(element, path, this.#signature(slice, undefined))
    }
    draft.body = Buffer.from(JSON.stringify(document))
  }
}

function coverOf(
  templates: readonly (string | ContentFunction)[],
  rule: SignedRule,
  compiler: Compiler,
): SchemeFacts['covers'] {
  const named = templates.flatMap((template) =>
    typeof template === 'string' ? holes(compiler.fill(template)) : [],
  )
  return {
    body: bodyCover(named, rule),
    url: named.includes('url') || named.includes('path'),
    fields: named.filter((name) => name.includes(':')),
    ...rule.covers,
  }
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
  return isHashOf(body, claimed)
}
