/**
 * The `pauses` capability: what operators have paused. A pause is a row of the log, so it holds for all processes and survives
 * a restart. Needed by `inbox.pause`, `inbox.resume`, their routes and commands, and destinations.
 */
import { handlesType } from '../glob.js'
import type { EventTypeKey } from '../model.js'

export interface Pauses {
  /** False = it is paused already, and that pause stays. A store with `audit` writes an entry for each change. */
  pause(pause: NewPause): Promise<boolean>
  /** False = there is no such pause. Another pause of the same source stays. */
  resume(pause: NewPause): Promise<boolean>
  /** By source and type. */
  list(): Promise<Pause[]>
}

export interface PauseKey {
  /** A source, or a consumer or destination of one: `stripe/mail`. */
  readonly source: string
  /** A type, or a glob as in `inbox.on`; null = all events of the source. */
  readonly type: string | null
}

export interface NewPause extends PauseKey {
  readonly actor: string
  readonly note: string
}

export interface Pause extends NewPause {
  readonly at: number
}

/** `*` stands for all events of the source, like null. */
export function pauseKey({ source, type }: PauseKey): PauseKey {
  return { source, type: type === '*' ? null : type }
}

/** `stripe invoice.*`, for messages. */
export function pauseName({ source, type }: PauseKey): string {
  return type === null ? source : `${source} ${type}`
}

/** `separator`: as types of the source are divided into a family and an action. */
export function coversType(pause: PauseKey, { source, type }: EventTypeKey, separator?: string): boolean {
  return pause.source === source && (pause.type === null || handlesType(pause.type, type, separator))
}
