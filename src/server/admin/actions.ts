/**
 * Actions on many events, which may take long. They run in this process, with progress, and can be cancelled. Each
 * event is changed and audited separately, so an action that ended with its process can be started again.
 */
import { randomUUID } from 'node:crypto'
import { atMost } from '../../clock.js'
import { codeOf, HookonceError } from '../../errors.js'
import type { WholeInbox } from '../../inbox/internals.js'
import type { EventFilter, EventKey } from '../../model.js'
import type { BulkOptions, BulkResult } from '../../processing/actions.js'
import { withInstants } from './views.js'

const MAX_RUNNING = 4
const MAX_KEPT = 100
const KEPT_MS = 3_600_000

export interface NewAction extends Pick<BulkOptions, 'ratePerSecond'> {
  readonly verb: 'retry' | 'replay' | 'ignore'
  readonly filter: EventFilter | readonly EventKey[]
  readonly actor: string
  readonly note: string
  readonly force: boolean
  readonly dryRun: boolean
}

interface Action {
  readonly id: string
  readonly request: NewAction
  readonly startedAt: number
  readonly stop: AbortController
  ended: Promise<void>
  state: 'running' | 'done' | 'cancelled' | 'failed'
  endedAt: number | null
  progress: BulkResult
  problem: string | null
}

export type ActionView = ReturnType<typeof viewOf>

export interface Actions {
  /** Resolves when the action has ended, or after `waitMs`. */
  start(request: NewAction, waitMs: number): Promise<ActionView>
  get(id: string): ActionView
  /** Running actions, and those that ended within the last hour, the latest first. */
  list(): ActionView[]
  /** Stops the action between two pages. Resolves when it has stopped. */
  cancel(id: string): Promise<ActionView>
  close(): Promise<void>
}

export function createActions(inbox: WholeInbox): Actions {
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
    const tooMany = ended.length - MAX_KEPT
    ended.forEach((action, i) => {
      if (i < tooMany || action.endedAt! + KEPT_MS < Date.now()) actions.delete(action.id)
    })
  }

  async function run(action: Action): Promise<void> {
    const { verb, filter, ...by } = action.request
    const { signal } = action.stop
    const onProgress = ({ matched, done, refused }: BulkResult) => {
      action.progress = { matched, done, refused: { ...refused } }
    }
    try {
      action.progress = await inbox[verb](asMany(filter), { ...by, signal, onProgress })
      action.state = action.stop.signal.aborted ? 'cancelled' : 'done'
    } catch (error) {
      action.state = 'failed'
      action.problem = codeOf(error)
      inbox.log.error(
        { step: 'admin', action: action.id, verb, problem: action.problem },
        'a bulk action failed',
      )
    } finally {
      action.endedAt = Date.now()
    }
  }

  return {
    async start(request, waitMs) {
      forgetOld()
      if (running().length >= MAX_RUNNING) throw new HookonceError('ACTIONS_FULL', { most: MAX_RUNNING })
      const action: Action = {
        id: randomUUID(),
        request,
        startedAt: Date.now(),
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
    list() {
      forgetOld()
      return [...actions.values()].reverse().map(viewOf)
    },
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

/** `inbox.retry` reads a filter of only a source and an id as the key of one event, and returns another result. */
function asMany(wanted: NewAction['filter']): NewAction['filter'] {
  return 'id' in wanted && wanted.from === undefined ? { ...wanted, from: 0 } : wanted
}

function viewOf({ id, request, state, startedAt, endedAt, progress, problem }: Action) {
  const { verb, dryRun, actor, note } = request
  return withInstants({ id, verb, state, dryRun, actor, note, startedAt, endedAt, ...progress, problem })
}
