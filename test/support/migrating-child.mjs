/** Waits for a line on stdin, so that several start at the same moment, then migrates and says the report. */
import { once } from 'node:events'
import { childStore, say } from './child-store.mjs'

const store = childStore(process.argv.slice(2))
say('ready')
await once(process.stdin, 'data')
say(JSON.stringify(await store.migrate()))
await store.close()
process.exit(0)
