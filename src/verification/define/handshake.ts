/**
 * Handshakes: deliveries that ask about the endpoint and carry no event. The answer repeats a value of the delivery or is
 * computed from it; nothing is stored.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../digest.js'
import type { HandshakeReply } from '../../provider.js'
import { Compiler, type OptionValues } from '../delivery/compile.js'
import type { FieldText } from '../delivery/field.js'
import type { Reading } from '../delivery/reading.js'
import { type Chunk, compileTemplate } from '../delivery/template.js'
import type { Scheme } from '../scheme.js'
import type { Encoding } from '../schemes/signature.js'

/** A text with holes (`{json:challenge}`), or a digest of one. */
export type ReplyText =
  | string
  | {
      readonly hmac: string
      readonly algorithm?: string
      readonly encoding: Encoding
      readonly prefix?: string
    }
  | { readonly digest: string; readonly algorithm?: string; readonly encoding: Encoding }

export interface HandshakeRule {
  /** All must be true: a field has this text, exists (`true`), or is an empty list (`[]`). */
  readonly when: Readonly<Partial<Record<FieldText, string | true | readonly []>>>
  /** The sender signs it, and it is answered only if the signature is valid. */
  readonly signed: boolean
  /** Answers only if the source has this option: for a handshake that sends a secret (Asana) or needs one (Meta). */
  readonly needsOption?: string
  readonly reply: {
    /** Default 200. */
    readonly httpStatus?: number
    readonly text?: ReplyText
    readonly json?: Readonly<Record<string, ReplyText>>
    /** Sent unchanged; `headers` has the content type. */
    readonly literal?: string
    readonly headers?: Readonly<Record<string, string>>
  }
}

export type Handshake = (reading: Reading, now: number) => HandshakeReply | null

/** A challenge is short; a longer text is not repeated. */
const maxRepeated = 2_048

/** Only these texts get an HMAC. A JSON object or array, such as the body of a delivery, is not one of them. */
const token = /^[\w .~+/=-]{1,256}$/

/**
 * Anyone can ask for an HMAC of a token, made with the secret that signs deliveries, if the handshake is not signed (X).
 * A signature of a token then proves nothing.
 */
export function signsTokens(rules: readonly HandshakeRule[]): boolean {
  return rules.some(({ signed, reply }) => {
    const texts = [reply.text, ...Object.values(reply.json ?? {}), ...Object.values(reply.headers ?? {})]
    return !signed && texts.some((text) => typeof text === 'object' && 'hmac' in text)
  })
}

export function isToken(content: readonly Chunk[]): boolean {
  let text = ''
  for (const chunk of content) {
    if (chunk.length > maxRepeated) return false
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1')
  }
  return token.test(text)
}

export function compileHandshakes(
  rules: readonly HandshakeRule[],
  options: OptionValues,
  scheme: Scheme,
): Handshake | null {
  const compiled = rules
    .filter((rule) => rule.needsOption === undefined || options[rule.needsOption] !== undefined)
    .map((rule) => compileHandshake(rule, options, scheme))
  if (compiled.length === 0) return null
  return (reading, now) => {
    for (const answer of compiled) {
      const reply = answer(reading, now)
      if (reply !== null) return reply
    }
    return null
  }
}

function compileHandshake(rule: HandshakeRule, options: OptionValues, scheme: Scheme): Handshake {
  const compiler = new Compiler(options)
  const conditions = Object.entries(rule.when).map(([field, wanted]) =>
    condition(field as FieldText, wanted as string | true | readonly [], compiler),
  )
  const { reply } = rule
  const fillText = replyText(reply.text ?? '', compiler, scheme)
  const fillJson = replyTexts(reply.json ?? {}, compiler, scheme)
  const fillHeaders = replyTexts(reply.headers ?? {}, compiler, scheme)

  return (reading, now) => {
    if (!conditions.every((holds) => holds(reading)) || reading.unreadable) return null
    if (rule.signed) {
      const verdict = scheme.verify(reading, now)
      // Not supported for asynchronous schemes: no sender with one signs its handshake.
      if (verdict instanceof Promise || !verdict.ok) return null
    }
    const text = fillText(reading)
    const json = fillJson(reading)
    const headers = fillHeaders(reading)
    if (text === null || json === null || headers === null) return null
    const isJson = reply.json !== undefined
    return {
      httpStatus: reply.httpStatus ?? 200,
      headers: {
        'content-type': isJson ? 'application/json' : 'text/plain; charset=utf-8',
        // The body repeats text of the caller: a browser must not treat it as a page.
        'x-content-type-options': 'nosniff',
        ...headers,
      },
      body: isJson ? JSON.stringify(json) : (reply.literal ?? text),
    }
  }
}

function replyTexts(
  rules: Readonly<Record<string, ReplyText>>,
  compiler: Compiler,
  scheme: Scheme,
): (reading: Reading) => Record<string, string> | null {
  const fills = Object.entries(rules).map(
    ([name, rule]) => [name, replyText(rule, compiler, scheme)] as const,
  )
  return (reading) => {
    const filled: Record<string, string> = {}
    for (const [name, fill] of fills) {
      const value = fill(reading)
      if (value === null) return null
      filled[name] = value
    }
    return filled
  }
}

function condition(
  field: FieldText,
  wanted: string | true | readonly [],
  compiler: Compiler,
): (reading: Reading) => boolean {
  if (wanted === true) {
    const read = compiler.field(field)
    return (reading) => (read(reading) ?? '') !== ''
  }
  if (typeof wanted === 'string') {
    const read = compiler.field(field)
    const expected = sha256(compiler.fill(wanted))
    return (reading) => {
      const value = read(reading)
      return value !== undefined && timingSafeEqual(sha256(value), expected)
    }
  }
  const path = field.replace(/^json:/, '')
  const list = compiler.tokens(path)
  const elements = compiler.tokens(`${path}[]`)
  return (reading) => list(reading)[0]?.kind === 'array' && elements(reading).length === 0
}

function replyText(rule: ReplyText, compiler: Compiler, scheme: Scheme): (reading: Reading) => string | null {
  const template = typeof rule === 'string' ? rule : 'hmac' in rule ? rule.hmac : rule.digest
  const content = compileTemplate(template, compiler)
  const fill = (reading: Reading) => {
    const chunks = content(reading)
    if (typeof chunks === 'string') return null
    const text = chunks.map((chunk) => (typeof chunk === 'string' ? chunk : '')).join('')
    return text.length > maxRepeated || /[\r\n\0]/.test(text) ? null : text
  }
  if (typeof rule === 'string') return fill
  const { algorithm = 'sha256', encoding } = rule
  return (reading) => {
    const text = fill(reading)
    if (text === null) return null
    if ('digest' in rule) return createHash(algorithm).update(text).digest(encoding)
    if (scheme.mac === undefined || !token.test(text)) return null
    return compiler.fill(rule.prefix ?? '') + scheme.mac(algorithm, text).toString(encoding)
  }
}
