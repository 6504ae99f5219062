/**
 * `hookonce listen`: forwards recorded events to an app on this machine, in order, each position once. The position is
 * on disk before the next event is sent, so no event is skipped when the app or the listener was down.
 */
import { interruptible } from '../command.js'
import { makeFolder } from '../dev/folder.js'
import { newestPosition, positionBefore } from '../events/events.js'
import type { EventLog } from '../log/event-log.js'
import { matcher } from '../log/options.js'
import type { Output } from '../output.js'
import { createPoster } from '../post.js'
import { openCursor } from './cursor.js'
import {
  type Forwarded,
  type ForwardOutcome,
  forwardEvent,
  type Listener,
  printForwarded,
} from './forward-event.js'
import { readKeyboard } from './keyboard.js'
import { createSigner, targetOf } from './signer.js'

export interface ListenOptions {
  readonly source?: string
  readonly type?: string
  readonly since?: number
  readonly secret?: string
}

export async function listen(
  output: Output,
  log: EventLog,
  target: string,
  options: ListenOptions,
): Promise<number> {
  const urlOf = targetOf(target)
  const { source, type } = options
  const matches = matcher(type === undefined ? {} : { type })
  makeFolder()
  const cursor = openCursor({ log: log.name, target: urlOf('<source>'), source, type })
  const stop = interruptible()
  const { signal } = stop
  const listener: Listener = {
    output,
    log,
    urlOf,
    signal,
    poster: createPoster(1),
    signer: await createSigner(log, options.secret),
  }
  const resumed = options.since === undefined && cursor.position !== null
  const after = resumed ? cursor.position! : await startPosition(log, options.since)
  // Also before the first event, so that a restarted listener continues from here.
  cursor.move(after)
  sayStart(listener, resumed)
  const keyboard = readKeyboard(listener, () => stop.abort())
  let previous: Forwarded | null = null
  try {
    for await (const { events, position, gap } of log.follow({
      after,
      signal,
      ...(source ? { source } : {}),
    })) {
      if (gap) sayGap(output)
      for (const event of events) {
        if (signal.aborted) break
        const outcome: ForwardOutcome | null = matches(event)
          ? await forwardEvent(listener, event, previous, keyboard)
          : null
        if (signal.aborted) break
        // On disk before the line is printed: an event with a line is not forwarded again.
        cursor.move(event.seq)
        if (outcome?.result) printForwarded(output, event, outcome.result)
        previous = outcome?.forwarded ?? previous
      }
      if (!signal.aborted && position > (cursor.position ?? 0)) cursor.move(position)
    }
  } finally {
    keyboard.close()
    listener.poster.close()
  }
  output.say(`stopped; hookonce listen ${target} continues from here`)
  return 0
}

function startPosition(log: EventLog, since: number | undefined): Promise<number> {
  return since === undefined ? newestPosition(log) : positionBefore(log, since)
}

function sayStart({ output, log, urlOf }: Listener, resumed: boolean): void {
  output.say(
    `listening to ${log.name}, forwarding to ${decodeURI(urlOf('<source>'))}${resumed ? '; continuing where it stopped' : ''}`,
  )
}

function sayGap(output: Output): void {
  if (output.json) output.result({ kind: 'gap' }, () => '')
  else output.say('GAP: retention has deleted events before they were forwarded')
}
