import { z } from 'zod'
import { HookonceError } from '../../../errors.js'
import type { WholeInbox } from '../../../inbox/internals.js'
import { rowWriter } from '../../../store/why.js'
import { audit, noteAbout } from '../capabilities.js'
import { type Route, route } from '../route.js'
import { attemptShape, json, noteFields } from '../shapes.js'
import { withInstants } from '../views.js'

const text = z.string()

const writerShape = z.strictObject({
  table: text.describe('With its schema'),
  key: z.record(text, text),
  transactionId: text.describe('`xmin` of the row'),
  found: z
    .enum(['attempt', 'near', 'none'])
    .describe(
      '`attempt`: the transaction of `attempts` wrote the row. `near`: no attempt has recorded that transaction; those of `attempts` came before it, and one of them may have written the row inside a savepoint',
    ),
  attempts: z.array(attemptShape.extend({ source: text, id: text, type: text, reference: text.nullable() })),
})

export function whyRoutes(inbox: WholeInbox): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/why',
      id: 'getRowWriter',
      summary: 'The attempt that last wrote a row of your tables (PostgreSQL)',
      can: 'payload',
      query: {
        table: text.min(1).max(255).describe('Such as `orders` or `shop.orders`'),
        key: text
          .min(1)
          .max(1_000)
          .describe('A value of the primary key, or pairs such as `order_id=7 line=1`'),
        ...noteFields,
      },
      answers: { 200: json('Who wrote it.', writerShape) },
      async run({ access, query: { table, key, note = '' } }) {
        await audit(inbox, { actor: access!.actor, verb: 'why', note: noteAbout(`${table} ${key}`, note) })
        const found = await rowWriter(await inbox.store(), { table, key })
        if (!found) throw new HookonceError('ROW_NOT_FOUND', { table, key })
        return withInstants(found)
      },
    }),
  ]
}
