import { limits } from '../../model.js'
import type { NewAudit } from '../../store/audit.js'
import type { NewPause } from '../../store/pauses.js'

/** In the key of a pause, no type stands for all events of the source. */
export const ALL_TYPES = ''

export function pauseAudit(verb: 'pause' | 'resume', { source, type, actor, note }: NewPause): NewAudit {
  const about = [type === null ? '' : `type ${type}`, note].filter((text) => text !== '').join(': ')
  return { actor, verb, source, eventId: null, note: withinBytes(about, limits.reasonBytes) }
}

function withinBytes(text: string, most: number): string {
  const bytes = Buffer.from(text)
  // A character that was cut in the middle is left out.
  return bytes.length <= most
    ? text
    : bytes
        .subarray(0, most)
        .toString('utf8')
        .replace(/\ufffd+$/, '')
}
