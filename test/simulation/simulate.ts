/**
 * One simulated run: two processes with the real intake and processing code on one log in memory, in virtual time. The
 * seed decides the deliveries, how long each call to the store takes, which calls fail before or after they were carried
 * out, and when a process freezes or dies. Then everything is repaired, and the run must end with every acknowledged
 * event handled, each effect once.
 */
import {
  createInbox,
  HookonceError,
  type Inbox,
  postpone,
  type Receipt,
  type Store,
  silentLog,
} from 'hookonce'
import { unverified } from 'hookonce/providers'
import type { Change } from '../model/history.js'
import { MemoryLog, type MemoryTx } from './memory-log.js'
import { seeded, type VirtualTime, virtualTime } from './virtual-time.js'

export interface SimulationResult {
  readonly seed: number
  /** Empty when all went well. */
  readonly problems: readonly string[]
  readonly acknowledged: number
  readonly faults: number
  /** Everything that happened, in order: equal for two runs of one seed. */
  readonly trace: string
  readonly history: readonly Change[]
}

const types = [
  ...[
    'plain',
    'tx',
    'tx',
    'batch',
    'share',
    'ordered',
    'fails',
    'later',
    'once',
    'limited',
    'limited',
    'inline',
  ],
] as const
/** After this the network and the processes have no more faults. */
const TROUBLE_MS = 20_000
const LIMIT_MS = 30 * 60_000
export const LEASE_MS = 3_000
/** Before the times between which a handler with a limit of one ran. */
const SPAN = 'span '

export async function simulate(seed: number): Promise<SimulationResult> {
  const random = seeded(seed)
  const time = virtualTime(random)
  try {
    return await time.inside(() => simulateIn(time, random, seed))
  } finally {
    time.end()
  }
}

async function simulateIn(time: VirtualTime, random: () => number, seed: number): Promise<SimulationResult> {
  const log = new MemoryLog({ now: () => Date.now(), random })
  const acknowledged = new Map<string, { type: string; source: string }>()
  const order: string[] = []
  const trace: string[] = []
  let faults = 0
  const chance = (p: number) => random() < p
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
  const faultRate = chance(0.3) ? 0 : random() * 0.15

  /** A process: its store answers late, fails, or not at all while the process is frozen or dead. */
  class Process {
    readonly name: string
    inbox!: Inbox<MemoryTx>
    #frozenUntil = 0
    #dead = false

    constructor(name: string) {
      this.name = name
    }

    async start(): Promise<void> {
      this.inbox = makeInbox(this.#store(log.open()))
      for (;;) {
        try {
          return await this.inbox.start()
        } catch {
          await sleep(50)
        }
      }
    }

    /** As kill -9 and a restart by a supervisor. The calls under way are carried out or not; nobody hears of them. */
    crash(): Process {
      this.#dead = true
      note(`${this.name} dies`)
      const next = new Process(`${this.name}'`)
      void sleep(random() * 2_000).then(() => next.start())
      return next
    }

    freeze(ms: number): void {
      this.#frozenUntil = time.now + ms
      note(`${this.name} freezes`)
    }

    async #gate(): Promise<void> {
      while (this.#frozenUntil > time.now) await sleep(this.#frozenUntil - time.now)
      if (this.#dead) await new Promise(() => {})
    }

    #store(real: Store<MemoryTx>): Store<MemoryTx> {
      const call =
        <Args extends unknown[], T>(name: string, work: (...args: Args) => Promise<T>) =>
        async (...args: Args): Promise<T> => {
          await this.#gate()
          await sleep(random() * 8)
          const hurt = time.now < TROUBLE_MS && chance(faultRate)
          const late = hurt && chance(0.5)
          if (hurt) faults++
          if (hurt && chance(0.2)) await sleep(random() * 2 * LEASE_MS)
          if (hurt && !late) throw problem(name)
          const value = await work(...args)
          note(`${this.name} ${name}`)
          await sleep(random() * 8)
          await this.#gate()
          if (late) throw problem(name)
          return value
        }
      return {
        ...real,
        migrate: call('migrate', real.migrate),
        record: call('record', real.record),
        claim: call('claim', real.claim),
        extend: call('extend', real.extend),
        settle: call('settle', real.settle),
        release: call('release', real.release),
        operate: call('operate', real.operate),
        get: call('get', real.get),
        keys: {
          ...real.keys!,
          effect: call('effect', real.keys!.effect),
          watermark: call('watermark', real.keys!.watermark),
        },
        grants: { ...real.grants!, take: call('grants', real.grants!.take) },
        transaction: call('transaction', async (options) => {
          const begun = await real.transaction(options)
          return {
            ...begun,
            tx: { insert: call('insert', begun.tx.insert) },
            finish: call('finish', begun.finish),
            commit: call('commit', begun.commit),
            rollback: call('rollback', begun.rollback),
          }
        }),
      }
    }
  }

  function problem(name: string): HookonceError {
    const code = name === 'finish' || name === 'commit' ? 'COMMIT_UNKNOWN' : 'STORE_UNAVAILABLE'
    return new HookonceError(code, { problem: 'simulated' })
  }

  function note(what: string): void {
    trace.push(`${time.now.toFixed(3)} ${what}`)
  }

  function makeInbox(store: Store<MemoryTx>): Inbox<MemoryTx> {
    const source = unverified({ id: 'json:id', type: 'json:type', reference: 'json:ref' })
    const inbox = createInbox<MemoryTx>({
      store,
      sources: { shop: source, inline: { ...source, mode: 'inline' } },
      limits: { recordTimeout: 500 },
      retention: false,
      tracing: false,
      log: silentLog,
      processing: {
        lease: LEASE_MS,
        poll: 500,
        concurrency: 1 + Math.floor(random() * 4),
        retry: { maxAttempts: 1_000, firstDelay: 10, maxDelay: 200 },
      },
    })
    const failing = () => time.now < TROUBLE_MS && chance(0.4)
    const work = async (event: { id: string }, ctx: { tx: MemoryTx; attempt: number }) => {
      if (chance(0.3)) await sleep(random() * LEASE_MS)
      await ctx.tx.insert(event.id, ctx.attempt)
    }
    for (const name of ['shop', 'inline']) {
      inbox.on(name, 'plain', async () => sleep(random() * 20))
      inbox.on(name, 'tx', work)
      inbox.onBatch(name, 'batch', async (events, ctx) => {
        for (const event of events) await ctx.tx.insert(event.id)
        if (failing()) throw new Error('the batch fails')
      })
      inbox.on(name, 'share', work, { share: 5 })
      inbox.on(
        name,
        'ordered',
        async (event, ctx) => {
          await ctx.tx.insert(event.id, ctx.attempt)
          if (failing()) throw new Error('it fails')
        },
        { order: 'reference' },
      )
      inbox.on(name, 'fails', async (event, ctx) => {
        await ctx.tx.insert(event.id, ctx.attempt)
        if (failing()) throw new Error('it fails')
      })
      inbox.on(name, 'later', async (event, ctx) => {
        if (failing()) throw postpone(random() * 100)
        await ctx.tx.insert(event.id, ctx.attempt)
      })
      inbox.on(name, 'once', async (event, ctx) => {
        await ctx.once('mail', () => sleep(random() * 50))
        await ctx.tx.insert(event.id, ctx.attempt)
      })
      inbox.on(name, 'inline', work)
      if (name === 'shop')
        inbox.on(
          name,
          'limited',
          async (event, ctx) => {
            const begunAt = time.now
            await work(event, ctx)
            await ctx.tx.insert(`${SPAN}${begunAt} ${time.now}`)
          },
          { limit: { concurrency: 1, perSecond: 20, by: 'reference' } },
        )
    }
    return inbox
  }

  const processes = [new Process('a'), new Process('b')]

  /** A sender: it repeats its delivery until it is acknowledged, and sometimes after that too. */
  async function send(id: string, type: string, source: string): Promise<void> {
    await sleep(random() * 5_000)
    const body = Buffer.from(JSON.stringify({ id, type, ref: type === 'ordered' ? 'lane' : null }))
    for (let repeats = chance(0.3) ? 2 : 1; repeats > 0; ) {
      const target = processes[Math.floor(random() * processes.length)]!
      const answer = target.inbox?.receive(source, { method: 'POST', url: '/', headers: {}, body })
      const receipt: Receipt | null = await Promise.race([
        answer ?? Promise.resolve(null),
        sleep(3_000).then(() => null),
      ])
      if (receipt && receipt.httpStatus < 300) {
        if (type === 'ordered' && !acknowledged.has(id)) order.push(id)
        acknowledged.set(id, { type, source })
        note(`${id} acknowledged`)
        repeats--
      }
      await sleep(random() * 500)
    }
  }

  async function trouble(): Promise<void> {
    while (time.now < TROUBLE_MS) {
      await sleep(random() * 6_000)
      const i = Math.floor(random() * processes.length)
      if (chance(faultRate * 4)) processes[i]!.freeze(random() * 2.5 * LEASE_MS)
      if (chance(faultRate * 2)) processes[i] = processes[i]!.crash()
      faults++
    }
  }

  const problems: string[] = []
  const count = 4 + Math.floor(random() * 12)
  const wanted = Array.from({ length: count }, (_, i) => {
    const type = types[Math.floor(random() * types.length)]!
    return { id: `e${i}`, type, source: type === 'inline' ? 'inline' : 'shop' }
  })
  for (const process of processes) void process.start()
  void trouble()
  for (const { id, type, source } of wanted) void send(id, type, source)
  const isDone = () =>
    time.now > TROUBLE_MS &&
    acknowledged.size === count &&
    [...log.model.events.values()].every((event) => event.work === null)
  if (!(await time.run(isDone, LIMIT_MS))) problems.push('stuck: not every event was handled')
  const effectIds = log.effects.map(({ event }) => event)
  for (const [id, { type, source }] of acknowledged) {
    const event = log.model.events.get(JSON.stringify([source, id]))
    const effects = effectIds.filter((value) => value === id).length
    if (!event) problems.push(`lost: ${id}`)
    else if (event.work !== null || event.parked !== null) problems.push(`not handled: ${id} (${type})`)
    if (type !== 'plain' && effects !== 1) problems.push(`${effects} effects of ${id} (${type})`)
  }
  const unexpected = effectIds.filter((id) => !acknowledged.has(id) && !id.startsWith(SPAN))
  const spans = effectIds.flatMap((value) =>
    value.startsWith(SPAN) ? [value.slice(SPAN.length).split(' ').map(Number) as [number, number]] : [],
  )
  for (const [i, [from, to]] of spans.sort(([a], [b]) => a - b).entries())
    if (i > 0 && from < spans[i - 1]![1])
      problems.push(`two at once under a limit of one, at ${from} until ${to}`)
  for (const id of unexpected) problems.push(`unexpected: ${id}`)
  const seqs = [...log.model.events.values()].filter((event) => event.event.lane != null)
  const recorded = seqs.sort((a, b) => a.seq - b.seq).map(({ id }) => id)
  const handled = effectIds.filter((id) => recorded.includes(id))
  if (handled.join() !== recorded.join())
    problems.push(`out of order: ${handled.join()} for ${recorded.join()}`)
  const { changes: history } = log.history
  return { seed, problems, acknowledged: acknowledged.size, faults, trace: trace.join('\n'), history }
}
