/**
 * npm run chaos -- blackbox: 2 intake and 4 worker processes with Redis, on SQLite and on PostgreSQL, examined from
 * outside by a driver with its own flushed ledger. Each round has faults; then every acknowledged event must have exactly
 * one effect.
 *
 * HOOKONCE_BLACKBOX_ROUNDS (20 for each store), HOOKONCE_BLACKBOX_EVENTS (200 in a round), HOOKONCE_CHAOS_RATE (50 a
 * second) and HOOKONCE_BLACKBOX_STORES (SQLite,PostgreSQL) change its length.
 */
import { type RoundResult, runRounds } from './rounds.js'
import type { StoreKind } from './world.js'

const { env } = process
const rounds = Number(env.HOOKONCE_BLACKBOX_ROUNDS ?? 20)
const events = Number(env.HOOKONCE_BLACKBOX_EVENTS ?? 200)
const perSecond = Number(env.HOOKONCE_CHAOS_RATE ?? 50)
const kinds = (env.HOOKONCE_BLACKBOX_STORES ?? 'SQLite,PostgreSQL').split(',') as StoreKind[]

for (const kind of kinds) {
  const onRound = ({ round, faults, acknowledged, recoveredSeconds, ...counts }: RoundResult) => {
    const bad = Object.entries(counts).filter(([, count]) => count > 0)
    const verdict = bad.length === 0 ? 'ok    ' : 'FAILED'
    const detail = bad.map(([name, count]) => `, ${count} ${name}`).join('')
    console.log(
      `${verdict} ${kind} round ${round + 1}: ${faults}: ${acknowledged} acknowledged${detail}, recovered in ${recoveredSeconds} s`,
    )
  }
  const results = await runRounds({ kind, rounds, events, perSecond, onRound })
  const failed = results.filter((one) => one.lost + one.doubled + one.unexpected + one.stuck > 0).length
  const bound = failed === 0 ? `: rate below ${(3 / rounds).toPrecision(2)} at 95 %` : ''
  const total = results.reduce((sum, one) => sum + one.acknowledged, 0)
  console.log(`${kind}: ${rounds} rounds, ${total} events, ${failed} failures${bound}`)
  if (failed > 0) process.exitCode = 1
}
process.exit()
