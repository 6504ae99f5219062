/**
 * Sends one notice when a number passes its threshold, and one when it is back below; the same for each alarm of a source. A
 * timer of this process checks them. An alert fires again only after it was resolved and its cooldown is over. What all
 * processes of a log find is told by one of them: `keys` has what was told.
 */
import { hostname } from 'node:os'
import { msOf } from '../duration.js'
import { wholeInbox } from '../inbox/internals.js'
import type { Inbox } from '../inbox.js'
import { onceInLog } from '../once.js'
import { checkOptions } from '../options.js'
import type { Alarm } from '../silence/alarm.js'
import { SAID_FOR_MS, tellChanges } from '../silence/watch.js'
import { type AlertRule, type Alerts, alertRules, alertsRule, type Measured } from './alert-rules.js'
import { type Notice, notifier } from './notify.js'

export interface RunningAlerts {
  /** Checks now. Resolves when all notices were sent or have failed. */
  check(): Promise<void>
  states(): readonly AlertState[]
  stop(): void
}

export interface AlertState {
  readonly alert: string
  readonly firing: boolean
  readonly value: number | null
  readonly threshold: number
  /** Null when it has not changed. */
  readonly since: number | null
}

export interface AlertOptions {
  /** Milliseconds. Default `Date.now`. */
  readonly now?: () => number
}

interface Watch {
  readonly rule: AlertRule
  firing: boolean
  value: number | null
  since: number | null
  quietUntil: number
}

export function startAlerts(of: Inbox, alerts: Alerts, options: AlertOptions = {}): RunningAlerts {
  const inbox = wholeInbox(of)
  const { now = Date.now } = options
  checkOptions('alerts', alerts, alertsRule)
  const everyMs = msOf(alerts.every, '15s')
  const cooldownMs = msOf(alerts.cooldown, '15m')
  const notify = notifier(alerts.notify)
  const watches = alertRules(inbox, alerts, now()).map(
    (rule): Watch => ({ rule, firing: false, value: null, since: null, quietUntil: 0 }),
  )
  const alarms = new Map<string, Alarm>()
  let looking: Promise<void> | null = null

  async function look(): Promise<void> {
    for (const watch of watches) {
      const measured = await watch.rule.measure(now())
      // Without an answer of the store, the state stays.
      if (measured) await judge(watch, measured)
    }
    await judgeSources()
  }

  async function judgeSources(): Promise<void> {
    const health = await inbox.health().catch(() => null)
    if (health === null) return
    await tellChanges(health, alarms, (id, alarm, begins) =>
      tell(id, SAID_FOR_MS, noticeOfAlarm(alarm, begins, now())),
    )
  }

  /** `id`: null when only this process can tell it. False when it must be tried again. */
  async function tell(id: string | null, forMs: number, notice: Notice): Promise<boolean> {
    try {
      const { keys } = id === null ? {} : await inbox.store()
      if (keys === undefined) await notify(notice)
      else if ((await onceInLog(keys, `hookonce:told:${id}`, forMs, () => notify(notice))) === 'busy')
        return false
      return true
    } catch (error) {
      // The state stays, so the next check sends the notice again.
      inbox.log.error(
        { alert: notice.alert, problem: problemOf(error) },
        'the notice of an alert could not be sent',
      )
      return false
    }
  }

  async function judge(watch: Watch, measured: Measured): Promise<void> {
    const { rule } = watch
    watch.value = measured.value
    const over = measured.value > rule.threshold
    if (over === watch.firing || (over && now() < watch.quietUntil)) return
    const id = rule.ofLog ? `${rule.name}:${rule.threshold}` : null
    const notice = noticeOf(rule, measured, over, now())
    // The others notice the end within one check, and a new firing comes after the cooldown.
    if (!(await tell(over ? id : id && `${id}:over`, over ? cooldownMs : 2 * everyMs, notice))) return
    watch.firing = over
    watch.since = now()
    if (over) watch.quietUntil = now() + cooldownMs
    inbox.log.warn({ alert: rule.name, value: measured.value }, over ? 'alert fires' : 'alert is over')
  }

  function check(): Promise<void> {
    looking ??= look().finally(() => {
      looking = null
    })
    return looking
  }

  const timer = setInterval(() => void check().catch(() => {}), everyMs)
  timer.unref()
  return {
    check,
    states: () => [
      ...watches.map(({ rule, firing, value, since }) => ({
        alert: rule.name,
        firing,
        value,
        since,
        threshold: rule.threshold,
      })),
      ...[...alarms.values()].map(({ kind, since }) => ({
        alert: kind,
        firing: true,
        value: 1,
        since,
        threshold: 0,
      })),
    ],
    stop: () => clearInterval(timer),
  }
}

/** Adds alerts to an inbox, from its start to its stop. Throws at once for wrong options. */
export function withAlerts(inbox: Inbox, alerts: Alerts): Inbox {
  startAlerts(inbox, alerts).stop()
  let running: RunningAlerts | null = null
  const { start, stop } = inbox
  const stopBoth: Inbox['stop'] = async (options) => {
    running?.stop()
    await stop(options)
  }
  return Object.assign(inbox, {
    async start() {
      await start()
      running ??= startAlerts(inbox, alerts)
    },
    stop: stopBoth,
    [Symbol.asyncDispose]: () => stopBoth(),
  })
}

function noticeOf(rule: AlertRule, measured: Measured, firing: boolean, at: number): Notice {
  const value = Math.round(measured.value * 1_000) / 1_000
  return {
    type: firing ? 'alert.firing' : 'alert.resolved',
    alert: rule.name,
    value,
    threshold: rule.threshold,
    unit: rule.unit,
    sources: measured.sources,
    at: new Date(at).toISOString(),
    host: hostname(),
    text: firing
      ? `hookonce: ${rule.what}: ${value} ${rule.unit}, above ${rule.threshold}`
      : `hookonce: ${rule.what} is back at ${value} ${rule.unit}`,
  }
}

function noticeOfAlarm({ kind, source, text, todo }: Alarm, firing: boolean, at: number): Notice {
  return {
    type: firing ? 'alert.firing' : 'alert.resolved',
    alert: kind,
    value: Number(firing),
    threshold: 0,
    unit: 'sources',
    sources: firing ? { [source]: 1 } : {},
    at: new Date(at).toISOString(),
    host: hostname(),
    text: firing ? `hookonce: ${text} ${todo}` : `hookonce: ${source} is well again (${kind})`,
  }
}

/** Only our own errors show their message: the error of a function may contain secrets. */
function problemOf(error: unknown): string {
  const { name, code, message } = (error ?? {}) as { name?: unknown; code?: unknown; message?: unknown }
  if (name === 'HookonceError') return String(message)
  return code === undefined ? 'it failed' : `it failed (${String(code).slice(0, 40)})`
}
