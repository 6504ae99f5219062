/** The position is on disk before the next event is sent: no event is skipped while the app or the listener is down. */
import type { Command } from 'commander'
import { addCommand, interruptible } from '../command.js'
import { makeFolder } from '../dev/folder.js'
import { openCursor } from '../listen/cursor.js'
import {
  type Forwarded,
  type ForwardOutcome,
  forwardEvent,
  type Listener,
  printForwarded,
} from '../listen/forward-event.js'
import { createSigner, targetOf } from '../listen/signer.js'
import type { EventLog } from '../log/event-log.js'
import { newestPosition, openLog, positionBefore } from '../log/open-log.js'
import { logOptions, matcher } from '../log/options.js'
import { instant, type OptionsOf, parsed, secretOf, secretOption, text } from '../options.js'
import type { Output } from '../output.js'
import { createPoster } from '../post.js'

const options = {
  source: text('<name>', 'only events of this source'),
  type: text('<type>', 'only events of this type; * matches any text'),
  since: parsed(
    '<time>',
    'where to start: 2026-07-01T12:00:00Z, or 2h for two hours ago (default: where it stopped)',
    instant,
  ),
  ...secretOption(
    'the secret the app knows (default: the one of hookonce dev in this folder)',
    'HOOKONCE_LISTEN_SECRET',
  ),
  ...logOptions,
}

export function add(program: Command): void {
  addCommand(program, 'listen <target>', {
    description:
      'Forwards every event of the log to a local app (a port or a URL), in order, signed again with the local secret. Events that arrive while the app or the listener is down are forwarded later.',
    examples: [
      'hookonce listen 3000',
      'hookonce listen http://localhost:3000/api/webhooks --source stripe --type "invoice.*"',
      'hookonce listen 3000 --server https://hooks.example.com --since 2h',
    ],
    options,
    async run({ output, options }, target: string) {
      await using log = await openLog(options)
      return await listen(output, log, target, options)
    },
  })
}

async function listen(
  output: Output,
  log: EventLog,
  target: string,
  { source, type, since, secretFile }: OptionsOf<typeof options>,
): Promise<number> {
  const urlOf = targetOf(target)
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
    signer: await createSigner(log, secretOf(secretFile, 'HOOKONCE_LISTEN_SECRET')),
  }
  const stopped = since === undefined ? cursor.position : await positionBefore(log, since)
  const after = stopped ?? (await newestPosition(log))
  // A listener that is restarted before the first event continues from here.
  cursor.move(after)
  const resumed = since === undefined && stopped !== null ? '; continuing where it stopped' : ''
  output.say(`listening to ${log.name}, forwarding to ${decodeURI(urlOf('<source>'))}${resumed}`)
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
          ? await forwardEvent(listener, event, previous)
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
    listener.poster.close()
  }
  output.say(`stopped; hookonce listen ${target} continues from here`)
  return 0
}

function sayGap(output: Output): void {
  if (output.json) output.result({ kind: 'gap' }, () => '')
  else output.say('GAP: retention has deleted events before they were forwarded')
}
