/**
 * Logging as a value that is handed in. The shape is pino's, so a pino logger can be given as it is.
 * Fields are facts (source, step, reason, event id); a body, a header value or a secret never is one (I8).
 */
import { lineWriter } from './log-stream.js'

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

export interface Logger {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent']

/** A line of JSON for each entry, on standard error unless told otherwise. */
export function jsonLog(level: LogLevel = 'warn', write = toStandardError): Logger {
  const at = (entry: LogLevel) => (fields: LogFields, message: string) => {
    if (order.indexOf(entry) < order.indexOf(level)) return
    write(lineOf(entry, fields, message))
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function lineOf(level: LogLevel, fields: LogFields, message: string): string {
  return `${JSON.stringify({ time: new Date().toISOString(), level, ...fields, msg: message })}\n`
}

let standardError: ((line: string) => void) | undefined

/** The stream is looked at on the first line: who only receives a logger must not touch it. */
function toStandardError(line: string): void {
  standardError ??= lineWriter(process.stderr, (dropped) =>
    lineOf('warn', { dropped }, 'log lines that could not be written'),
  )
  standardError(line)
}

export const silentLog: Logger = jsonLog('silent')
