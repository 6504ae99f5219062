/** Resend mail events in Fastify, written with Prisma inside the transaction of the event. */
import Fastify from 'fastify'
import { createInbox, env } from 'hookonce'
import { fastifyPlugin } from 'hookonce/fastify'
import { postgres } from 'hookonce/postgres'
import { resend } from 'hookonce/providers'
import pg from 'pg'
import { prismaOn } from '../orm/prisma.js'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
await pool.query('create table if not exists effects (value text primary key)')

const inbox = createInbox({
  store: postgres({ pool }),
  sources: { resend: resend({ secret: env('RESEND_WEBHOOK_SECRET') }) },
})

inbox.on('resend', 'email.*', async (event, ctx) => {
  const prisma = prismaOn(ctx)
  await prisma.effects.create({ data: { value: `${event.type} ${event.reference}` } })
})

const app = Fastify()
app.register(fastifyPlugin(inbox))
app.get('/effects', async () => (await pool.query('select value from effects order by value')).rows)
app.addHook('onClose', async () => {
  await inbox.stop()
  await pool.end()
})

await inbox.start()
await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log('listening')
process.once('SIGTERM', () => app.close())
