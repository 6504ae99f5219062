/** A GitHub app: labels a pull request when it is opened, and counts pushes. SQLite, and nothing else to run. */
import { createServer } from 'node:http'
import { createInbox, env, retryAfter } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { github } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'

const api = process.env.GITHUB_API ?? 'https://api.github.com'

const inbox = createInbox({
  store: sqlite(process.env.DATABASE ?? 'events.db'),
  sources: { github: github({ secret: env('GITHUB_WEBHOOK_SECRET') }) },
})

interface PullRequest {
  number: number
  repository: { full_name: string }
}

inbox.on('github', 'pull_request.opened', async (event, ctx) => {
  const { number, repository } = event.payload as PullRequest
  // GitHub takes no idempotency key; adding a label twice does no harm, so `once` is enough.
  await ctx.once('label', async () => {
    const response = await fetch(`${api}/repos/${repository.full_name}/issues/${number}/labels`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${process.env.GITHUB_TOKEN ?? ''}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ labels: ['needs review'] }),
      signal: ctx.signal,
    })
    if (response.status === 429) throw retryAfter('1m')
    if (!response.ok) throw new Error(`GitHub answered ${response.status}`)
    return response.status
  })
})

inbox.on('github', 'push', async (event, ctx) => {
  await ctx.tx.run('create table if not exists pushes (ref text primary key, count integer not null)')
  await ctx.tx.run(
    'insert into pushes (ref, count) values (?, 1) on conflict (ref) do update set count = count + 1',
    [event.reference],
  )
})

await inbox.start()
const server = createServer(nodeHandler(inbox)).listen(Number(process.env.PORT ?? 3000), () =>
  console.log('listening'),
)
process.once('SIGTERM', async () => {
  server.close()
  await inbox.stop()
})
