/** An empty log: how to send the first delivery. The page comes alive with it, without a reload. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useLive } from '../api/live'
import { sourcesQuery, statsQuery } from '../api/queries'
import { queryClient } from '../api/query-client'
import { sourceQuery } from '../api/screen-queries'
import { serverUrl } from '../app/base'
import { Card } from '../ui/card'
import { CodeBlock } from '../ui/copy'
import { Loading } from '../ui/feedback'
import { Select } from '../ui/select'
import css from './first-run.module.css'
import { TestEvent } from './sources/send-test'

export function FirstRun() {
  const navigate = useNavigate()
  const { data } = useQuery(sourcesQuery)
  const [chosen, setChosen] = useState<string | null>(null)
  useLive((event) => {
    // The counts may come first, and this page is gone then.
    const isCounted = queryClient
      .getQueryData(statsQuery.queryKey)
      ?.sources.some(({ recorded }) => recorded > 0)
    if (event === null && !isCounted) return
    void queryClient.invalidateQueries({ queryKey: ['events'] })
    void navigate({ to: '/events' })
  })
  const sources = data?.sources ?? []
  const source =
    sources.find(({ name }) => name === chosen) ??
    sources.find(({ verified }) => !verified) ??
    sources.find(({ name }) => name === 'stripe') ??
    sources[0]
  const { data: detail } = useQuery({ ...sourceQuery(source?.name ?? ''), enabled: source !== undefined })
  if (data === undefined) return <Loading what="the sources" />
  if (source === undefined) {
    return (
      <Card title="No source is configured">
        <p>
          Name a source in <code>hookonce.config.ts</code>, or start <code>hookonce dev</code>, which has one
          for every provider.
        </p>
      </Card>
    )
  }
  const url = `${serverUrl}${source.path}`
  const local = serverUrl === 'http://127.0.0.1:4100' || serverUrl === 'http://localhost:4100'
  const curl = detail?.name === source.name ? detail.commands.curl : null
  return (
    <div className={`stack ${css.page}`}>
      <title>hookonce</title>
      <h1>Nothing has been received yet</h1>
      <p className="muted">
        This page shows the first delivery as soon as it arrives.{' '}
        <span className={`live processing ${css.waiting}`}>Waiting</span>
      </p>
      <Card
        title="Send a delivery"
        aside={
          <Select
            plain
            label="Source"
            value={source.name}
            options={sources.map(({ name, provider }) => [name, `${name} (${provider.name})`] as const)}
            onChange={setChosen}
          />
        }
      >
        <ol className={`stack ${css.steps}`}>
          {detail?.name === source.name ? <TestEvent key={source.name} source={detail} as="li" /> : null}
          <li>
            <CodeBlock
              title="Signed as the sender would, from this machine"
              text={`npx hookonce send ${source.name}${local ? '' : ` --to ${serverUrl}`}`}
              what="the command"
            />
          </li>
          {curl === null ? null : (
            <li>
              <CodeBlock title="With curl" text={curl} what="the command" />
            </li>
          )}
          <li className="stack tight">
            <CodeBlock
              title={`From ${source.verified ? source.provider.name : 'the sender'}: paste this URL into its settings`}
              text={url}
              what="the URL"
            />
            {/^https?:\/\/(localhost|127\.|\[::1\])/.test(serverUrl) ? (
              <p className="faint">
                This address works on this machine only. A tunnel or a public address is needed for real
                deliveries.
              </p>
            ) : null}
          </li>
        </ol>
      </Card>
    </div>
  )
}
