/**
 * npm run chaos -- blackbox: 2 intake and 4 worker processes with Redis, on SQLite and on PostgreSQL, examined from
 * outside by a driver with its own flushed ledger. Each round has one fault, later two at once; then every acknowledged
 * event must have exactly one effect.
 *
 * HOOKONCE_BLACKBOX_ROUNDS (40 for each store), HOOKONCE_BLACKBOX_EVENTS (200 deliveries in a round),
 * HOOKONCE_CHAOS_RATE (50 a second), HOOKONCE_BLACKBOX_STORES (SQLite,PostgreSQL), HOOKONCE_BLACKBOX_FAULTS (names,
 * separated by commas; all) and HOOKONCE_BLACKBOX_MINUTES (no limit) change its length; HOOKONCE_BLACKBOX_SEED repeats
 * the choice of the faults.
 */
import { isGood, type RoundResult, runRounds } from './rounds.js'
import type { StoreKind } from './world.js'

const { env } = process
const rounds = Number(env.HOOKONCE_BLACKBOX_ROUNDS ?? 40)
const events = Number(env.HOOKONCE_BLACKBOX_EVENTS ?? 200)
const perSecond = Number(env.HOOKONCE_CHAOS_RATE ?? 50)
const minutes = Number(env.HOOKONCE_BLACKBOX_MINUTES ?? Number.POSITIVE_INFINITY)
const kinds = (env.HOOKONCE_BLACKBOX_STORES ?? 'SQLite,PostgreSQL').split(',') as StoreKind[]
const seed = Number(env.HOOKONCE_BLACKBOX_SEED ?? Math.floor(Math.random() * 2 ** 31))
const only = env.HOOKONCE_BLACKBOX_FAULTS?.split(',')
console.log(`HOOKONCE_BLACKBOX_SEED=${seed}`)

for (const kind of kinds) {
  const onRound = (result: RoundResult) => {
    const { round, faults, acknowledged, refused, lost, doubled, unexpected, stuck, unordered, problems } =
      result
    const verdicts = Object.entries({ lost, doubled, unexpected, stuck, unordered })
    const counts = verdicts.map(([name, count]) => `${count} ${name}`).join(', ')
    console.log(
      `${isGood(result) ? 'ok    ' : 'FAILED'} ${kind} round ${round + 1}: ${faults}: ${acknowledged} acknowledged, ${refused} sent again, ${counts}, recovered in ${result.recoveredSeconds} s`,
    )
    for (const problem of problems) console.log(`         ${problem}`)
  }
  const results = await runRounds({
    kind,
    rounds,
    events,
    perSecond,
    seed,
    until: Date.now() + minutes * 60_000,
    onRound,
    onLeftOut: (fault, why) => console.log(`left out: ${fault}: ${why}`),
    ...(only && { only }),
  })
  const failed = results.filter((one) => !isGood(one)).length
  const bound = failed === 0 ? `: rate below ${(3 / results.length).toPrecision(2)} at 95 %` : ''
  const total = results.reduce((sum, one) => sum + one.acknowledged, 0)
  console.log(`${kind}: ${results.length} rounds, ${total} events, ${failed} failures${bound}`)
  if (failed > 0) process.exitCode = 1
}
process.exit()
