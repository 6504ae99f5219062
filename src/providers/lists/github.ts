import {
  type ApiJson,
  days,
  type Listed,
  type ListRule,
  type SenderApi,
} from '../../verification/define-provider.js'

const PAGE = 100

export const githubList = {
  docs: 'https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries',
  confidence: 'verified',
  of: 'deliveries',
  reachMs: days(3),
  lacks: 'events from before the webhook existed, or while it was not active',
  // It lists from the newest delivery back.
  byTime: false,
  apiKey:
    'a token that may read and write the webhooks of the repository or organization, or a JWT of the app',
  baseUrl: 'https://api.github.com',
  headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
  options: {
    hook: {
      what: 'the webhook: repos/OWNER/REPO/hooks/ID, orgs/ORG/hooks/ID, or app/hook for that of a GitHub App',
      required: true,
      form: /^(repos\/[\w.-]+\/[\w.-]+\/hooks\/\d+|orgs\/[\w.-]+\/hooks\/\d+|app\/hook)$/,
      example: 'repos/acme/shop/hooks/12345678',
    },
  },
  async *pages(api, { since }) {
    for (let next: string | null = `${deliveries(api)}?per_page=${PAGE}`; next !== null; ) {
      const answer = await api.get(next)
      const page = answer.json.each('[]').map(listed)
      yield page
      next = page.some(({ occurredAt = since }) => occurredAt >= since) ? answer.next : null
    }
  },
  async complete(api, { handle, headers }) {
    const answer = await api.find(`${deliveries(api)}/${handle}`)
    const payload = answer?.json.part('request.payload')
    if (!answer || !payload) return null
    const hookId = answer.json.text('request.headers.X-GitHub-Hook-ID')
    return {
      occurredAt: answer.json.time('delivered_at', 'iso'),
      headers: { ...headers, ...(hookId !== undefined && { 'x-github-hook-id': hookId }) },
      body: payload.bytes,
    }
  },
  async redeliver(api, { handle }) {
    await api.post(`${deliveries(api)}/${handle}/attempts`)
    return true
  },
} as const satisfies ListRule

function deliveries({ options }: SenderApi): string {
  return `/${options.hook}/deliveries`
}

/** The list has no bodies, and the action is the only part of one that names a type. */
function listed(entry: ApiJson): Listed {
  const action = entry.text('action')
  return {
    occurredAt: entry.time('delivered_at', 'iso'),
    headers: {
      'x-github-delivery': entry.text('guid') ?? '',
      'x-github-event': entry.text('event') ?? '',
    },
    body: JSON.stringify(action === undefined ? {} : { action }),
    isPartial: true,
    handle: entry.text('id') ?? '',
  }
}
