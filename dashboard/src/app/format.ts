const whole = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export function number(value: number): string {
  return whole.format(value)
}

/** 12,345 stays exact; a million becomes 1M. */
export function short(value: number): string {
  return value < 100_000 ? whole.format(value) : compact.format(value)
}

export function count(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`
}

export function bytes(value: number): string {
  if (value < 1_024) return count(value, 'byte')
  if (value < 1_048_576) return `${(value / 1_024).toFixed(1)} KiB`
  if (value < 1_073_741_824) return `${(value / 1_048_576).toFixed(1)} MiB`
  return `${(value / 1_073_741_824).toFixed(1)} GiB`
}

export function duration(ms: number): string {
  if (ms < 1) return '<1 ms'
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`
  if (ms < 3_600_000) return two(ms, 60_000, 'min', 1_000, 's')
  if (ms < 86_400_000) return two(ms, 3_600_000, 'h', 60_000, 'min')
  return two(ms, 86_400_000, 'd', 3_600_000, 'h')
}

export function ms(value: number | null): string {
  return value === null ? '–' : duration(value)
}

function two(ms: number, unit: number, name: string, part: number, partName: string): string {
  const large = Math.floor(ms / unit)
  const small = Math.floor((ms % unit) / part)
  return small === 0 ? `${large} ${name}` : `${large} ${name} ${small} ${partName}`
}

export function percent(share: number): string {
  if (share === 1) return '100%'
  // 99.96% must not look like 100%.
  return `${(Math.floor(share * 1_000) / 10).toFixed(1)}%`
}

/** "3 min ago", "in 20 s". */
export function relative(at: number, now: number): string {
  const ms = Math.abs(now - at)
  if (ms < 1_500) return 'now'
  const text =
    ms < 60_000
      ? `${Math.round(ms / 1_000)} s`
      : ms < 3_600_000
        ? `${Math.floor(ms / 60_000)} min`
        : ms < 86_400_000
          ? `${Math.floor(ms / 3_600_000)} h`
          : `${Math.floor(ms / 86_400_000)} d`
  return at > now ? `in ${text}` : `${text} ago`
}

/** "2026-11-16 10:28:16.123", in the time zone of the browser or in UTC. */
export function absolute(at: number, utc: boolean, fraction = true): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return 'unknown'
  if (utc)
    return `${date
      .toISOString()
      .slice(0, fraction ? 23 : 19)
      .replace('T', ' ')} UTC`
  const pad = (value: number, size = 2) => String(value).padStart(size, '0')
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
  return `${day} ${time}${fraction ? `.${pad(date.getMilliseconds(), 3)}` : ''}`
}

/** "10:28:16.123": the day is known from elsewhere on the page. */
export function clock(at: number, utc: boolean): string {
  return absolute(at, utc).slice(11, 23)
}

/**
 * Control characters and marks that change the direction of text, as escapes: a sender could otherwise make one id look
 * like another.
 */
export function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, (char) =>
    char === '\n' ? '\\n' : char === '\t' ? '\\t' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
