/** Handles events without end: each leaves one row in the user's table, committed with its outcome. Meant to be killed. */
import { childStore, say } from './child-store.mjs'

const [insert, ...where] = process.argv.slice(2)
const store = await childStore(where)

for (;;) {
  const claimed = await store.claim({ worker: `pid ${process.pid}`, limit: 4, leaseMs: 2_000 })
  if (claimed.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  await Promise.all(
    claimed.map(async ({ id, lease }) => {
      const transaction = await store.transaction()
      const { tx } = /** @type {{ tx: any }} */ (transaction)
      await (tx.run ? tx.run(insert, [id]) : tx.query(insert, [id]))
      const [done] = await transaction.settle([{ lease, outcome: { kind: 'succeeded' }, durationMs: 1 }])
      await (done ? transaction.commit() : transaction.rollback())
      say(done ? 'settled' : 'fenced')
    }),
  )
}
