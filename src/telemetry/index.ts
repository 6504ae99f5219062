/** hookonce/telemetry: metrics and alerts. */
export type { Alerts } from './alert-rules.js'
export { type AlertOptions, type AlertState, type RunningAlerts, startAlerts, withAlerts } from './alerts.js'
export { metrics } from './catalogue.js'
export { metricsContentType, metricsText } from './metrics.js'
export type { Notice, Notify } from './notify.js'
