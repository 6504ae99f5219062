/**
 * The option `share`: an ordinary handler is called for several events, one after the other, in the transaction of a batch.
 * Each call has its own context and time limit. The transaction takes no further event after 250 ms: its locks must not be
 * held much longer.
 */
import type { AttemptDeps } from './attempt.js'
import type { Called } from './batch.js'
import { call } from './call.js'
import type { PreparedEvent } from './prepare.js'
import type { Registered } from './registry.js'
import { NeedsOwnTransaction } from './result.js'
import type { Session } from './session.js'

const SHARED_MS = 250

/**
 * Time limit of each event on a store with one writer. All other writes of the process wait for the shared transaction,
 * perhaps even a write of the handler itself, such as `inbox.once`.
 */
const SINGLE_WRITER_MS = 1_000

export async function callEach<Tx>(
  deps: AttemptDeps<Tx>,
  session: Session<Tx>,
  handler: Registered<Tx>,
  prepared: readonly PreparedEvent[],
): Promise<Called> {
  const startedAt = performance.now()
  const isShorter = deps.store.singleWriter && handler.timeoutMs > SINGLE_WRITER_MS
  const limitMs = isShorter ? SINGLE_WRITER_MS : undefined
  for (const [i, one] of prepared.entries()) {
    if (i > 0 && performance.now() - startedAt > SHARED_MS) return { begun: i, failed: null }
    const failed = await call(deps, session, handler, [one], limitMs)
    if (session.reason instanceof NeedsOwnTransaction) isolate(deps, handler, session.reason)
    if (failed) return { begun: i + 1, failed }
  }
  return { begun: prepared.length, failed: null }
}

function isolate<Tx>({ log }: AttemptDeps<Tx>, handler: Registered<Tx>, { message }: Error): void {
  const { source, pattern } = handler
  handler.isolated = true
  log.warn(
    { source, handler: pattern, step: 'handle', problem: message },
    'handler cannot share transactions on this store: its events run one by one from now on; remove `share`',
  )
}
