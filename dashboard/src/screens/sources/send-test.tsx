/** A test event, signed by the server with the secret of the source. It needs the role operator, and is audited. */
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, take } from '../../api/client'
import { queryClient } from '../../api/query-client'
import { useMay } from '../../api/session'
import { duration, visible } from '../../app/format'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { CodeBlock } from '../../ui/copy'
import { Problem } from '../../ui/feedback'
import { Select } from '../../ui/select'
import type { SourceDetail } from './source'

export function SendTest({ source }: { readonly source: SourceDetail }) {
  const may = useMay()
  if (!may.act || source.samples.length === 0) return null
  return (
    <Card title="Send a test event">
      <TestEvent source={source} as="div" />
    </Card>
  )
}

/** The server does not show a token, because it fits every body. */
const signsBodies = new Set(['hmac', 'ed25519', 'ecdsa', 'rsa'])

interface TestEventProps {
  readonly source: SourceDetail
  readonly as: 'div' | 'li'
}

export function TestEvent({ source, as: Box }: TestEventProps) {
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
  const sign = useMutation({
    mutationFn: () =>
      take(
        api.POST('/api/sources/{source}/sample', {
          params: { path: { source: source.name } },
          body: type === '' ? {} : { type },
        }),
      ),
  })
  if (!may.act || source.samples.length === 0) return null
  const result = send.data
  return (
    <Box className="stack tight">
      {Box === 'li' ? <h3>Here, with one click</h3> : null}
      <p className="muted">
        {source.verified ? `Signed by this server like a delivery of ${source.provider.name}; it` : 'It'} goes
        through intake, its handlers run, and it is written to the audit.
      </p>
      <div className="line">
        <Button
          icon="play"
          look={Box === 'li' ? 'primary' : undefined}
          disabled={send.isPending}
          onClick={() => send.mutate()}
        >
          Send a test event
        </Button>
        <Select
          plain
          label="Type of the test event"
          value={type}
          options={source.samples.map((sample) => [sample, sample] as const)}
          onChange={setType}
        />
        {source.verified && signsBodies.has(source.scheme) ? (
          <Button look="quiet" icon="copy" disabled={sign.isPending} onClick={() => sign.mutate()}>
            As signed curl
          </Button>
        ) : null}
      </div>
      {(send.error ?? sign.error) ? <Problem error={send.error ?? sign.error} /> : null}
      {sign.data?.curl ? (
        <CodeBlock
          title={
            source.toleranceMs === null
              ? 'Signed, from any machine'
              : `Signed, from any machine, for ${duration(source.toleranceMs)}`
          }
          text={sign.data.curl}
          what="the command"
        />
      ) : null}
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
    </Box>
  )
}
