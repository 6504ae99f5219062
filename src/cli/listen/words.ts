/** A line for each event that was passed on. */
import { type Paint, plain } from '../output.js'

export interface PassedOn {
  readonly kind: 'event'
  readonly at: string
  readonly seq: number
  readonly source: string
  readonly type: string
  readonly id: string
  readonly verdict: string
  readonly httpStatus: number | null
  readonly ms: number | null
}

export function passedOnLine(line: PassedOn, paint: Paint): string {
  const { httpStatus, ms } = line
  const good = httpStatus !== null && httpStatus < 300
  const answer = httpStatus === null ? line.verdict : `${httpStatus}`
  return [
    paint('dim', line.at.slice(11, 19)),
    line.source.padEnd(12),
    plain(line.type).padEnd(24),
    plain(line.id).padEnd(28),
    paint(good ? 'green' : 'yellow', answer),
    ...(ms === null ? [] : [paint('dim', `${ms} ms`)]),
  ].join('  ')
}
