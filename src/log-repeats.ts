/**
 * Log lines that a stranger can cause as often as they like: the first of a kind is written at once, those behind it
 * are counted, and the count is written every few seconds.
 */
import type { LogFields, Logger } from './log.js'

export interface RepeatedLines {
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  /** Writes the counts that wait. */
  flush(): void
}

export interface RepeatOptions {
  /** Default 5,000. */
  readonly everyMs?: number
  /** Kinds that are told apart at a time; more are counted together. Default 200. */
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

  function note(level: Level, fields: LogFields, message: string): void {
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

  /** A kind that was not repeated is forgotten: its next line is a first one again. */
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
    warn: (fields, message) => note('warn', fields, message),
    error: (fields, message) => note('error', fields, message),
    flush,
  }
}
