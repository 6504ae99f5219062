import type { EventKey, Reply } from '../../model.js'
import type { Database } from './connection/database.js'
import { type Run, statement } from './connection/statement.js'
import { type HeadersAsText, withHeaders } from './read.js'

/** $1 seq of the event   $2 status   $3 headers   $4 body. Both values of the key are known before it looks for a partition. */
const put = statement('reply_put')`
update hookonce.payloads set reply_status = $2, reply_headers = $3, reply_body = $4
where seq = (select coalesce(payload_seq, seq) from hookonce.events where seq = $1::bigint)
  and received_at = (select received_at from hookonce.events where seq = $1::bigint)`

/** In the transaction that settles the event. */
export async function putReply(run: Run, seq: number, { httpStatus, headers, body }: Reply): Promise<void> {
  await run(put, [seq, httpStatus, JSON.stringify(headers), body])
}

const byKey = statement('reply')`
select p.reply_status as "httpStatus", p.reply_headers as headers, p.reply_body as body
from hookonce.events e
join hookonce.payloads p on p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at
where e.source = $1 and e.event_id = $2 and p.reply_status is not null`

export async function replyOf(db: Database, { source, id }: EventKey): Promise<Reply | null> {
  const [row] = await db.query<HeadersAsText<Reply>>(byKey, [source, id])
  return row ? withHeaders<Reply>(row) : null
}
