/** Keys while a person watches: r sends the last event again, d shows it, c copies it as curl, q quits. */
import { emitKeypressEvents } from 'node:readline'
import { eventDetail, payloadText } from '../events/words.js'
import type { EventLog, EventView, PayloadView } from '../log/event-log.js'
import { keyOf } from '../log/find.js'
import { type Output, painter } from '../output.js'
import { type Poster, whyNoAnswer } from '../post.js'
import { curlOf, shown } from './curl.js'
import type { Signer } from './signer.js'

export interface Keys {
  remember(event: EventView, payload: PayloadView): void
  close(): void
}

interface KeyParts {
  readonly output: Output
  readonly log: EventLog
  readonly signer: Signer
  readonly poster: Poster
  readonly urlOf: (source: string) => string
}

export function readKeys(parts: KeyParts, quit: () => void): Keys {
  const { output } = parts
  let last: { event: EventView; payload: PayloadView } | null = null
  const remember = (event: EventView, payload: PayloadView) => {
    last = { event, payload }
  }
  // No terminal, no keys: lines only.
  if (!output.terminal || !process.stdin.isTTY) return { remember, close: () => {} }

  const onKey = (_: string, key: { name?: string; ctrl?: boolean }) => {
    if (key.name === 'q' || (key.ctrl && key.name === 'c')) quit()
    else if (last === null) output.say('no event has been forwarded yet')
    else if (key.name === 'r') void again(parts, last)
    else if (key.name === 'd') void details(parts, last)
    else if (key.name === 'c') void copy(parts, last)
  }
  emitKeypressEvents(process.stdin)
  process.stdin.setRawMode(true).on('keypress', onKey).resume()
  output.say('keys: r send the last event again, d details, c copy as curl, q quit')
  return {
    remember,
    close() {
      process.stdin.off('keypress', onKey).setRawMode(false).pause()
    },
  }
}

type Last = { readonly event: EventView; readonly payload: PayloadView }

async function again({ output, signer, poster, urlOf }: KeyParts, { event, payload }: Last): Promise<void> {
  try {
    const answer = await poster.post(await signer.sign(event, payload, urlOf(event.source)))
    output.say(`sent again: ${answer.httpStatus}, ${Math.round(answer.ms)} ms`)
  } catch (error) {
    output.say(`sent again, without an answer: ${whyNoAnswer(error)}`)
  }
}

async function details({ output, log }: KeyParts, { event, payload }: Last): Promise<void> {
  const paint = painter(process.stdout)
  const [now, attempts] = await Promise.all([log.get(keyOf(event)), log.attempts(keyOf(event))])
  output.result(null, () => `${eventDetail(now ?? event, attempts, paint)}\n${payloadText(payload, paint)}`)
}

/** Through the terminal (OSC 52), which works over SSH too; shown as well, because not every terminal takes it. */
async function copy({ output, signer, urlOf }: KeyParts, { event, payload }: Last): Promise<void> {
  const command = curlOf(await signer.sign(event, payload, urlOf(event.source)))
  process.stdout.write(`\u001b]52;c;${Buffer.from(command).toString('base64')}\u0007`)
  output.say(shown(command))
}
