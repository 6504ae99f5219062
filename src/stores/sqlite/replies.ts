import type { EventKey, Reply } from '../../model.js'
import type { Connection } from './connection.js'
import { withHeaders } from './rows.js'

const put = `
  update hookonce_payloads set reply_status = ?2, reply_headers = ?3, reply_body = ?4
  where seq = (select coalesce(payload_seq, seq) from hookonce_events where seq = ?1)`

/** Call it inside the transaction that settles the event. */
export function putReplyWithin(log: Connection, seq: number, { httpStatus, headers, body }: Reply): void {
  log.run(put, seq, httpStatus, JSON.stringify(headers), body)
}

const replyByKey = `
  select p.reply_status as httpStatus, p.reply_headers as headers, p.reply_body as body
  from hookonce_events e join hookonce_payloads p on p.seq = coalesce(e.payload_seq, e.seq)
  where e.source = ? and e.event_id = ? and p.reply_status is not null`

export function reply(log: Connection, { source, id }: EventKey): Reply | null {
  const row = log.get(replyByKey, source, id)
  return row === undefined ? null : withHeaders<Reply>(row)
}
