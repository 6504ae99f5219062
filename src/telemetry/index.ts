/** hookonce/telemetry: metrics and alerts. */
export { metrics } from './catalogue.js'
export { metricsContentType, metricsText } from './metrics.js'
