import type { Shown } from '../../ui/state'
import type { Verb } from './use-action'

export const verbNames: Readonly<Record<Verb, string>> = {
  retry: 'Retry',
  replay: 'Replay',
  ignore: 'Ignore',
}

export const verbIcons = { retry: 'retry', replay: 'play', ignore: 'ban' } as const

/**
 * What a person can mean. A failed event is retried: a replay, which begins a new run, is for events that have succeeded. The
 * first one is the usual one.
 */
export const verbsFor: Readonly<Record<Shown, readonly Verb[]>> = {
  pending: ['ignore'],
  processing: [],
  succeeded: ['replay'],
  retrying: ['retry', 'ignore'],
  dead: ['retry', 'ignore'],
  ignored: ['retry'],
}

export function verbsForAll(states: Iterable<Shown>): readonly Verb[] {
  const meant = new Set([...states].flatMap((state) => verbsFor[state]))
  return (['retry', 'replay', 'ignore'] as const).filter((verb) => meant.has(verb))
}

export const consequences: Readonly<Record<Verb, string>> = {
  retry:
    'Failed and ignored events become pending again, and their handlers run with a new set of attempts. Effects that ctx.once has finished do not happen again.',
  replay:
    'Events run again from the beginning, as a new run. Effects that ctx.once has finished do not happen again; other effects do.',
  ignore:
    'Pending and failed events are marked as ignored: no handler runs for them. A retry takes this back.',
}

/** Why the server leaves an event as it is. */
export const refusals: Readonly<Record<string, string>> = {
  MOVE_FORBIDDEN: 'their state does not allow it',
  FORCE_NEEDED: 'they have succeeded',
  EVENT_NOT_FOUND: 'they have been removed',
  EVENT_PROCESSING: 'they are being handled now',
  PAYLOAD_REMOVED: 'their payload is not stored (if it was archived, restore it from the archive first)',
  CONFLICT_NOT_FOUND: 'they have no open conflict',
  CONFLICT_CHANGED: 'somebody has decided about this content',
  PAYLOAD_UNREADABLE: 'their payload cannot be decrypted',
}
