import type { Reply, Settlement } from '../../model.js'
import type { EffectState, EffectStep, News, Watermark } from '../../store.js'
import type { ConnectionOptions } from './connection.js'
import type { Row, SqliteValue } from './driver.js'
import type { ExitGate } from './exit-gate.js'
import type { ThreadAnswer } from './thread-calls.js'
import type { verbs } from './verbs.js'

export interface ThreadOptions extends ConnectionOptions {
  readonly transactionTimeoutMs: number
}

export interface ThreadStart {
  readonly options: ThreadOptions
  readonly gate: ExitGate
}

type Verbs = typeof verbs

export interface TransactionVerbs {
  begin(args: { transaction: number }): void
  run(args: StatementArgs): RunResult
  get(args: StatementArgs): Row | undefined
  all(args: StatementArgs): Row[]
  settle(args: { transaction: number; settlements: readonly Settlement[] }): boolean[]
  finish(args: { transaction: number; settlements: readonly Settlement[] }): boolean
  advance(args: { transaction: number; watermark: Watermark }): boolean
  effect(args: { transaction: number; step: EffectStep }): EffectState
  putReply(args: { transaction: number; seq: number; reply: Reply }): void
  commit(args: { transaction: number }): void
  rollback(args: { transaction: number }): void
}

export interface StatementArgs {
  readonly transaction: number
  readonly sql: string
  readonly params: readonly SqliteValue[]
}

export interface RunResult {
  readonly changes: number
  readonly lastInsertRowid: number | bigint
}

/**
 * Calls about the thread itself: `watch` starts or stops notifications of commits of other connections; `abandon` rolls
 * back an open transaction and refuses new ones; `close` is the last call.
 */
interface ControlVerbs {
  watch(args: boolean): void
  abandon(args: null): void
  close(args: null): void
}

export type Calls = {
  [V in keyof Verbs]: (args: Parameters<Verbs[V]>[1]) => ReturnType<Verbs[V]>
} & { [V in keyof TransactionVerbs as `tx.${V}`]: TransactionVerbs[V] } & ControlVerbs

export type Verb = keyof Calls
export type ArgsOf<V extends Verb> = Parameters<Calls[V]>[0]
export type ValueOf<V extends Verb> = ReturnType<Calls[V]>

export interface Call {
  readonly id: number
  readonly verb: Verb
  readonly now: number
  readonly args: unknown
}

/** `logTime`: the time of the log, when it was later than the `now` of the call. */
export type Answer = ThreadAnswer & { readonly logTime?: number }

/** A watching thread says one of these when another connection has committed something new. */
export function isNews(message: unknown): message is News {
  return message === 'events' || message === 'pauses'
}
