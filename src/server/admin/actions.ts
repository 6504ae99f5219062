/**
 * Orders on many events, which may take long: they run here, in this process, and can be looked at and stopped. Nothing
 * is lost when the process ends: what is done is done and audited event by event, and the same action can be given again.
 */
import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { atMost } from '../../clock.js'
import { codeOf, HookonceError } from '../../errors.js'
import type { Inbox } from '../../inbox.js'
import type { EventFilter } from '../../model.js'
import type { BulkOptions, BulkResult } from '../../processing/orders.js'
import type { actionShape } from './shapes.js'
import { instant } from './views.js'

const RUNNING_AT_MOST = 4
const KEPT_AT_MOST = 100
const KEPT_MS = 3_600_000

export interface NewAction extends Pick<BulkOptions, 'ratePerSecond'> {
  readonly verb: 'retry' | 'replay' | 'ignore'
  readonly filter: EventFilter
  readonly actor: string
  readonly reason: string
  readonly force: boolean
  readonly dryRun: boolean
}

interface Action {
  readonly id: string
  readonly order: NewAction
  readonly startedAt: number
  readonly stop: AbortController
  ended: Promise<void>
  state: 'running' | 'done' | 'cancelled' | 'failed'
  endedAt: number | null
  progress: BulkResult
  problem: string | null
}

export type ActionView = z.infer<typeof actionShape>

export interface Actions {
  /** Starts it, and answers when it has ended or `waitMs` are over. */
  start(order: NewAction, waitMs: number): Promise<ActionView>
  get(id: string): ActionView
  /** Stops it between two pages; answers when it has stopped. */
  cancel(id: string): Promise<ActionView>
  close(): Promise<void>
}

export function createActions(inbox: Inbox, now: () => number = Date.now): Actions {
  const actions = new Map<string, Action>()
  const running = () => [...actions.values()].filter((action) => action.state === 'running')

  function find(id: string): Action {
    forgetOld()
    const action = actions.get(id)
    if (action === undefined) throw new HookonceError('ACTION_NOT_FOUND', { id })
    return action
  }

  function forgetOld(): void {
    const ended = [...actions.values()].filter((action) => action.endedAt !== null)
    const tooMany = ended.length - KEPT_AT_MOST
    ended.forEach((action, i) => {
      if (i < tooMany || action.endedAt! + KEPT_MS < now()) actions.delete(action.id)
    })
  }

  async function run(action: Action): Promise<void> {
    const { verb, filter, ...by } = action.order
    try {
      action.progress = await inbox[verb](asFilter(filter), {
        ...by,
        signal: action.stop.signal,
        onProgress: ({ matched, done, refused }) => {
          action.progress = { matched, done, refused: { ...refused } }
        },
      })
      action.state = action.stop.signal.aborted ? 'cancelled' : 'done'
    } catch (error) {
      action.state = 'failed'
      action.problem = codeOf(error)
      inbox.log.error(
        { step: 'admin', action: action.id, verb, problem: action.problem },
        'a bulk action failed',
      )
    } finally {
      action.endedAt = now()
    }
  }

  return {
    async start(order, waitMs) {
      forgetOld()
      if (running().length >= RUNNING_AT_MOST)
        throw new HookonceError('ACTIONS_FULL', { most: RUNNING_AT_MOST })
      const action: Action = {
        id: randomUUID(),
        order,
        startedAt: now(),
        stop: new AbortController(),
        ended: Promise.resolve(),
        state: 'running',
        endedAt: null,
        progress: { matched: 0, done: 0, refused: {} },
        problem: null,
      }
      actions.set(action.id, action)
      action.ended = run(action)
      await atMost(waitMs, action.ended)
      return viewOf(action)
    },
    get: (id) => viewOf(find(id)),
    async cancel(id) {
      const action = find(id)
      action.stop.abort()
      await action.ended
      return viewOf(action)
    },
    async close() {
      for (const action of running()) action.stop.abort()
      await Promise.all([...actions.values()].map((action) => action.ended))
    },
  }
}

/** A source and an id alone would be taken for the key of one event, and answered differently. */
function asFilter(filter: EventFilter): EventFilter {
  return filter.eventId !== undefined && filter.from === undefined ? { ...filter, from: 0 } : filter
}

function viewOf({ id, order, state, startedAt, endedAt, progress, problem }: Action): ActionView {
  const { verb, dryRun, actor, reason } = order
  const { matched, done, refused } = progress
  return {
    id,
    verb,
    state,
    dryRun,
    actor,
    reason,
    startedAt: instant(startedAt),
    endedAt: instant(endedAt),
    matched,
    done,
    refused,
    problem,
  }
}
