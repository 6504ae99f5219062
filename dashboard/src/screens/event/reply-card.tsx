/** What the handler has returned for the sender (inline mode). It comes with the payload: one reading, one row of the audit. */
import { useMemo } from 'react'
import type { Payload } from '../../api/queries'
import { Card } from '../../ui/card'
import { contentOf } from '../payload/bytes'
import { Bytes, Headers, Raw, Summary } from '../payload/parts'

export function ReplyCard({ reply }: { readonly reply: NonNullable<Payload['reply']> }) {
  const { httpStatus, headers } = reply
  const content = useMemo(() => contentOf(reply.body), [reply.body])
  return (
    <Card title="Reply to the sender" aside={<span className="mono">HTTP {httpStatus}</span>}>
      <div className="stack">
        {Object.keys(headers).length > 0 ? <Headers headers={headers} /> : null}
        <Body content={content} />
        <p className="faint">Every delivery of this event with the same content gets it.</p>
      </div>
    </Card>
  )
}

function Body({ content }: { readonly content: ReturnType<typeof contentOf> }) {
  const { bytes, text, isUtf8 } = content
  if (bytes.length === 0) return <p className="muted">It has no body.</p>
  return (
    <>
      {isUtf8 ? <Raw label="Body of the reply" text={text} /> : <Bytes bytes={bytes} />}
      <Summary content={content} />
    </>
  )
}
