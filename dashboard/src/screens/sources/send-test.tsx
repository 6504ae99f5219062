/** A test event, signed by the server with the secret of the source. */
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, take } from '../../api/client'
import { queryClient } from '../../api/query-client'
import { useMay } from '../../api/session'
import { visible } from '../../app/format'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { Problem } from '../../ui/feedback'
import { Select } from '../../ui/select'
import type { SourceDetail } from './source'

export function SendTest({ source }: { readonly source: SourceDetail }) {
  const may = useMay()
  const [type, setType] = useState(source.samples[0] ?? '')
  const send = useMutation({
    mutationFn: () =>
      take(
        api.POST('/api/sources/{source}/test', {
          params: { path: { source: source.name } },
          body: type === '' ? {} : { type },
        }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['source', source.name] }),
  })
  if (!may.act || source.samples.length === 0) return null
  const result = send.data
  return (
    <Card title="Send a test event">
      <div className="stack">
        <p className="muted">
          It is signed like a delivery of {source.provider.name}, goes through intake, and its handlers run.
        </p>
        <div className="line">
          {source.samples.length > 0 ? (
            <Select
              plain
              label="Type of the test event"
              value={type}
              options={source.samples.map((sample) => [sample, sample] as const)}
              onChange={setType}
            />
          ) : null}
          <Button icon="play" disabled={send.isPending} onClick={() => send.mutate()}>
            Send a test event
          </Button>
        </div>
        {send.error ? <Problem error={send.error} /> : null}
        {result ? (
          <p role="status">
            Answered {result.httpStatus}, {result.status}.{' '}
            {result.id === null ? null : (
              <Link to="/events/$source/$id" params={{ source: source.name, id: result.id }}>
                {visible(result.id)}
              </Link>
            )}
          </p>
        ) : null}
      </div>
    </Card>
  )
}
