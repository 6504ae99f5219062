/**
 * Logging. The logger is passed in and has the shape of pino, so a pino logger can be used as it is. Fields are facts
 * (source, step, reason, event id), never a body, a header value or a secret.
 */
import { fstatSync, writeSync } from 'node:fs'

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

export interface Logger {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent']

/** Writes a line of JSON per entry, by default to standard error. */
export function jsonLog(level: LogLevel = 'info', write = toStandardError): Logger {
  const at = (entry: LogLevel) => (fields: LogFields, message: string) => {
    if (levels.indexOf(entry) < levels.indexOf(level)) return
    write(lineOf(entry, fields, message))
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function lineOf(level: LogLevel, fields: LogFields, message: string): string {
  return `${jsonText({ time: new Date().toISOString(), level, ...fields, msg: message })}\n`
}

/**
 * Also escapes characters that a terminal could execute or that change the direction of writing: JSON escapes only some of
 * them. The value stays the same.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value)
  if (!/[\u007f-\uffff]/.test(text)) return text
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) =>
    Array.from(
      { length: char.length },
      (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}

let standardError: ((line: string) => void) | undefined

/** Standard error is opened with the first line: a process with another logger does not touch it. */
function toStandardError(line: string): void {
  standardError ??= lineWriter(process.stderr, (dropped) =>
    lineOf('warn', { dropped }, 'log lines that could not be written'),
  )
  standardError(line)
}

export const silentLog: Logger = jsonLog('silent')

/** Adds fields to every line. A field of the line itself wins. */
export function boundLog(log: Logger, bound: LogFields): Logger {
  const at = (level: Exclude<LogLevel, 'silent'>) => (fields: LogFields | string, message: string) => {
    if (typeof fields === 'string') log[level](bound, fields)
    else log[level]({ ...bound, ...fields }, message)
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/**
 * Limits log lines that any sender can cause: the first line of a kind is written at once, further ones are counted, and the
 * count is written every few seconds.
 */
export interface RepeatedLines {
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  /** Writes the remaining counts. */
  flush(): void
}

export interface RepeatOptions {
  /** Default 5,000. */
  readonly everyMs?: number
  /** Kinds that are counted separately; further ones share a count. Default 200. */
  readonly maxKinds?: number
}

type Level = 'warn' | 'error'

interface Kind {
  readonly level: Level
  readonly fields: LogFields
  readonly message: string
  repeated: number
}

export function repeatedLines(log: Logger, options: RepeatOptions = {}): RepeatedLines {
  const { everyMs = 5_000, maxKinds = 200 } = options
  const kinds = new Map<string, Kind>()
  let others = 0
  let timer: NodeJS.Timeout | undefined

  function write(level: Level, fields: LogFields, message: string): void {
    const key = `${level} ${message} ${Object.values(fields).join(' ')}`
    const known = kinds.get(key)
    if (known) known.repeated++
    else if (kinds.size >= maxKinds) others++
    else {
      kinds.set(key, { level, fields, message, repeated: 0 })
      log[level](fields, message)
    }
    timer ??= setInterval(flush, everyMs).unref()
  }

  /** Forgets a kind that was not repeated, so that its next line is written at once. */
  function flush(): void {
    for (const [key, kind] of kinds) {
      if (kind.repeated === 0) kinds.delete(key)
      else log[kind.level]({ ...kind.fields, repeated: kind.repeated }, kind.message)
      kind.repeated = 0
    }
    if (others > 0) log.warn({ repeated: others }, 'further lines of other kinds, not written one by one')
    others = 0
    if (kinds.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    warn: (fields, message) => write('warn', fields, message),
    error: (fields, message) => write('error', fields, message),
    flush,
  }
}

/** Lines that a slow reader has not read yet. */
const MAX_WAITING_BYTES = 1024 * 1024

export type LineStream = NodeJS.WriteStream & { readonly fd: number }

const tolerant = new WeakSet<NodeJS.WriteStream>()

/** Ignores errors of this stream. Without a listener, an error of a stream ends the process. */
export function tolerateErrors(stream: NodeJS.WriteStream): void {
  if (tolerant.has(stream)) return
  tolerant.add(stream)
  stream.on('error', () => {})
}

/**
 * Writes lines to standard error or standard output without ever ending the process. The reader may be gone (EPIPE), the
 * disk may be full (ENOSPC), or the reader may be too slow: then the line is dropped. `dropped` makes the line with the
 * number of dropped lines, which is written as soon as lines can be written again.
 */
export function lineWriter(stream: LineStream, dropped: (count: number) => string): (line: string) => void {
  const put = isPiped(stream) ? pipePut(stream) : filePut(stream)
  let lost = 0
  return (line) => {
    if (lost > 0 && put(dropped(lost))) lost = 0
    if (lost > 0 || !put(line)) lost++
  }
}

function pipePut(stream: LineStream): (text: string) => boolean {
  tolerateErrors(stream)
  return (text) => {
    if (stream.destroyed || stream.errored || stream.writableLength > MAX_WAITING_BYTES) return false
    stream.write(text)
    return true
  }
}

/** Writes to the file directly: Node destroys a stream at the first full disk, and the disk may have space again. */
function filePut({ fd }: LineStream): (text: string) => boolean {
  return (text) => {
    try {
      writeSync(fd, text)
      return true
    } catch {
      return false
    }
  }
}

/** True for a pipe, a socket or a terminal, and when the kind of the stream is unknown. */
function isPiped(stream: LineStream): boolean {
  if (stream.isTTY) return true
  try {
    const kind = fstatSync(stream.fd)
    return kind.isFIFO() || kind.isSocket()
  } catch {
    return true
  }
}
