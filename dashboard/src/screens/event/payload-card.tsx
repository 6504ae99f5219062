/** The payload of an event. Reading it is written to the audit, so it is read when somebody asks. */
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { EventView } from '../../api/client'
import { type Payload, payloadQuery, sourcesQuery } from '../../api/queries'
import { useMay } from '../../api/session'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { CopyButton } from '../../ui/copy'
import { Notice, Problem, Skeleton } from '../../ui/feedback'
import { Segments } from '../../ui/segments'
import { type Content, contentOf } from '../payload/bytes'
import { asCurl, asFixture } from '../payload/copy-as'
import { Bytes, Headers, Raw, Summary } from '../payload/parts'
import { Tree } from '../payload/tree'
import { EditDialog } from './edit-dialog'
import { ReplyCard } from './reply-card'

export function PayloadCard({ event }: { readonly event: EventView }) {
  const may = useMay()
  const [wanted, setWanted] = useState(false)
  const mode = useQuery(sourcesQuery).data?.sources.find(({ name }) => name === event.source)?.mode
  const { data, error } = useQuery({
    ...payloadQuery(event),
    enabled: may.payload && event.payload === 'kept' && wanted,
  })
  if (!may.payload) {
    return (
      <Card title="Payload">
        <p className="muted">
          Your role does not include payloads. An admin can read it; each reading is audited.
        </p>
      </Card>
    )
  }
  if (event.payload !== 'kept') {
    return (
      <Card title="Payload">
        <p className="muted">
          {event.payload === 'erased' ? 'The payload was erased.' : 'Retention has removed the payload.'} The
          event itself is still in the log.
        </p>
      </Card>
    )
  }
  if (data) {
    return (
      <>
        <Opened key={data.body.length} event={event} payload={data} />
        {data.reply ? <ReplyCard reply={data.reply} /> : null}
      </>
    )
  }
  return (
    <Card title="Payload">
      {error ? <Problem error={error} /> : null}
      {wanted && !error ? <Skeleton lines={6} /> : null}
      {wanted ? null : (
        <div className="line">
          <Button icon="review" onClick={() => setWanted(true)}>
            {mode === 'inline' ? 'Show the payload and the reply' : 'Show the payload'}
          </Button>
          <span className="faint">This is written to the audit.</span>
        </div>
      )}
    </Card>
  )
}

type View = 'tree' | 'text' | 'hex' | 'headers'

function Opened({ event, payload }: { readonly event: EventView; readonly payload: Payload }) {
  const content = useMemo(() => contentOf(payload.body), [payload.body])
  const [view, setView] = useState<View>(
    content.json !== undefined ? 'tree' : content.isUtf8 ? 'text' : 'hex',
  )
  const [editing, setEditing] = useState(false)
  const may = useMay()
  const views: readonly (readonly [View, string])[] = [
    ...(content.json === undefined ? [] : ([['tree', 'Tree']] as const)),
    ['text', 'Raw'],
    ['hex', 'Bytes'],
    ['headers', 'Headers'],
  ]
  return (
    <Card title="Payload" aside={<Segments label="View" value={view} options={views} onChange={setView} />}>
      <div className="stack">
        {content.isUtf8 ? null : (
          <Notice tone="retrying">
            This is not valid UTF-8. The text shows � where it cannot; the bytes are exact.
          </Notice>
        )}
        {view === 'tree' && content.json !== undefined ? <Tree root={content.json} /> : null}
        {view === 'text' ? <Raw text={content.text} /> : null}
        {view === 'hex' ? <Bytes bytes={content.bytes} /> : null}
        {view === 'headers' ? <Headers headers={payload.headers} /> : null}
        <Summary content={content} />
        <div className="line">
          <CopyButton text={content.text} what="the body">
            Copy body
          </CopyButton>
          <CopyButton text={() => asCurl(event, payload, content)} what="it as curl, without a signature">
            Copy as curl
          </CopyButton>
          <CopyButton text={() => asFixture(event, payload, content)} what="it as a fixture">
            Copy as fixture
          </CopyButton>
          <Button small icon="download" onClick={() => download(content)}>
            Download
          </Button>
          {may.edit && content.isUtf8 ? (
            <Button small icon="edit" onClick={() => setEditing(true)}>
              Replay with an edited body
            </Button>
          ) : null}
        </div>
        <CurlNote source={event.source} />
        {editing ? <EditDialog event={event} content={content} onClose={() => setEditing(false)} /> : null}
      </div>
    </Card>
  )
}

function CurlNote({ source }: { readonly source: string }) {
  const { data } = useQuery(sourcesQuery)
  const verified = data?.sources.find(({ name }) => name === source)?.verified
  if (!verified) return null
  return (
    <p className="faint">
      The log keeps no signature, so a delivery by curl is refused.{' '}
      <code>npx hookonce send {source} --body payload.bin</code> signs the downloaded body.
    </p>
  )
}

/** As bytes, so that a browser does not show what a stranger wrote. */
function download({ bytes }: Content): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  link.download = 'payload.bin'
  link.click()
  URL.revokeObjectURL(link.href)
}
