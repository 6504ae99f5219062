import type { Command } from 'commander'
import { durationText } from '../../duration.js'
import type { Inbox } from '../../inbox.js'
import { parseInstant } from '../../reconcile/options.js'
import { type ReportView, reportView } from '../../server/admin/reconcile-view.js'
import { addCommand, interruptible } from '../command.js'
import { Failure, UsageError } from '../failure.js'
import { serverApi } from '../log/open-log.js'
import { flag, instant, type OptionsOf, parsed, text } from '../options.js'
import type { Output } from '../output.js'
import { reportText } from '../reconcile/report-text.js'
import { hasConfig } from '../store.js'

const options = {
  since: parsed('<time>', 'the window begins here: 3d, 12h, 2026-11-15 (default 1d)', time),
  until: parsed('<time>', 'the window ends here (default: five minutes ago)', time),
  dryRun: flag('compare, record nothing'),
  last: flag('print the last report of each source, ask no sender'),
  demo: flag('show it with a Stripe that runs here and loses deliveries'),
  server: text('<url>', 'a running server does it (HOOKONCE_SERVER, HOOKONCE_TOKEN)'),
}

/** A server reads the text itself. */
function time(given: string): string {
  instant(given)
  return given
}

export function add(program: Command): void {
  addCommand(program, 'reconcile [source]', {
    description:
      'Asks the sender what it has sent, compares the log with that, and records what is missing. The source needs an apiKey in hookonce.config. Exit code 1: something is still missing.',
    examples: [
      'hookonce reconcile --demo',
      'hookonce reconcile stripe --since 3d --dry-run',
      'hookonce reconcile stripe --since 3d',
      'hookonce reconcile --last',
    ],
    options,
    async run({ output, options: given }, source?: string) {
      if (given.demo) return (await import('../reconcile/demo.js')).demo(output)
      await using reconciler = given.server ? onServer(given.server, given) : await here(given)
      const sources = source === undefined ? await reconciler.sources() : [source]
      if (sources.length === 0)
        throw new Failure(
          'No source can be compared: none has an apiKey. Give one in hookonce.config, such as stripe({ secret, apiKey: env("STRIPE_API_KEY") }).',
        )
      const reports: ReportView[] = []
      for (const name of sources)
        reports.push(...(await (given.last ? reconciler.last(name) : reconciler.run(name, output))))
      output.progress(null)
      const value = source === undefined ? { reports } : (reports[0] ?? null)
      output.result(
        value,
        (paint) => reports.map((report) => reportText(report, paint)).join('\n\n') || 'No report yet.',
      )
      return reports.some(({ missing, recovered, dryRun }) => !dryRun && missing > recovered) ? 1 : 0
    },
  })
}

type Given = OptionsOf<typeof options>

interface Reconciler extends AsyncDisposable {
  sources(): Promise<string[]>
  last(source: string): Promise<ReportView[]>
  run(source: string, output: Output): Promise<ReportView[]>
}

/** The configuration has the keys, so no server has to run. Events are handled by the processes that do. */
async function here(given: Given): Promise<Reconciler> {
  if (!hasConfig())
    throw new UsageError(
      'There is no hookonce.config in this folder, and it has the keys of the senders. Run the command in its folder, or name a server with --server; --demo needs neither.',
    )
  const [{ loadConfig }, { inboxFromConfig }] = await Promise.all([
    import('../../config/load.js'),
    import('../../config/build.js'),
  ])
  const { config, warnings } = await loadConfig()
  // The spool and the alerts belong to the processes that receive.
  const { spool: _spool, alerts: _alerts, ...own } = config
  const inbox: Inbox = await inboxFromConfig(
    { config: own, warnings },
    { processing: false, retention: false, tracing: false },
  )
  const { sources } = await import('../../inbox/internals.js').then(({ wholeInbox }) => wholeInbox(inbox))
  const { signal } = interruptible()
  const window = windowOf(given)
  return {
    sources: async () => [...sources].filter(([, { list }]) => list?.problem === null).map(([name]) => name),
    last: async (source) =>
      (await inbox.reports({ source, limit: 1 })).map((report) => reportView(report, true)),
    async run(source, output) {
      const report = await inbox.reconcile(source, {
        ...window,
        signal,
        onProgress: ({ listed, missing, comparedUntil }) => {
          const behind = durationText(Math.max(0, Date.now() - comparedUntil))
          output.progress(`${source}: ${listed} listed, ${missing} missing; ${behind} to go`)
        },
      })
      return [reportView(report, true)]
    },
    [Symbol.asyncDispose]: () => inbox.stop(),
  }
}

function windowOf({ since, until, dryRun = false }: Given) {
  return {
    ...(since !== undefined && { since: parseInstant('--since', since) }),
    ...(until !== undefined && { until: parseInstant('--until', until) }),
    dryRun,
  }
}

function onServer(server: string, { since, until, dryRun = false }: Given): Reconciler {
  const api = serverApi(server)
  return {
    async sources() {
      const { sources } = await api.json<{ sources: { name: string; canReconcile: boolean }[] }>(
        'GET',
        '/api/sources',
      )
      return sources.filter(({ canReconcile }) => canReconcile).map(({ name }) => name)
    },
    async last(source) {
      const path = `/api/sources/${encodeURIComponent(source)}/reconciles?limit=1`
      return (await api.json<{ reports: ReportView[] }>('GET', path)).reports
    },
    async run(source, output) {
      output.progress(`${source}: the server compares the log with the sender`)
      const path = `/api/sources/${encodeURIComponent(source)}/reconcile`
      return [await api.json<ReportView>('POST', path, { since, until, dryRun })]
    },
    async [Symbol.asyncDispose]() {},
  }
}
