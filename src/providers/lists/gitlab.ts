import { days, type ListRule } from '../../verification/define-provider.js'
import { paged, pageNumber } from '../../verification/list/paged.js'

const PAGE = 100

// Rules from its documentation and lib/api/entities/web_hook_log.rb.
export const gitlabList = {
  docs: 'https://docs.gitlab.com/api/project_webhooks/',
  confidence: 'verified',
  of: 'deliveries',
  reachMs: days(7),
  lacks: 'events from when the webhook was disabled, and bodies that were too large for GitLab to keep',
  byTime: false,
  apiKey: 'an access token (glpat-...) of a maintainer of the project, with the scope api',
  baseUrl: 'https://gitlab.com',
  options: {
    project: { what: 'Id or path of the project', required: true, example: 'mike/diaspora' },
    hook: { what: 'Id of the webhook, from its settings page', required: true, example: '42' },
  },
  pages: paged({
    path: '/api/v4/projects/{project}/hooks/{hook}/events',
    query: () => ({ per_page: PAGE }),
    items: '[]',
    // One entry for each attempt. E-mail addresses in the body are replaced by [REDACTED].
    entry(attempt) {
      const header = (name: string) => attempt.text(`request_headers.${name}`)
      const key = header('Idempotency-Key')
      const isKept = !attempt.isTrue('request_data.oversize')
      return {
        // An attempt without an id (GitLab before 17.4) cannot be named; such a release gives no time either.
        occurredAt: key === undefined ? undefined : attempt.time('created_at', 'iso'),
        headers: { 'idempotency-key': key ?? '', 'x-gitlab-event': header('X-Gitlab-Event') ?? '' },
        body: attempt.part('request_data')?.bytes ?? '',
        ...(!isKept && { isPartial: true }),
      }
    },
    next: pageNumber('page', PAGE),
    sorted: 'newest first',
  }),
} as const satisfies ListRule
