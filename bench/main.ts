/** `npm run bench -- store` or `-- intake`: compares side by side in one run, interleaved, and prints a table. */
import { intakeBench } from './intake.js'
import { storeBench } from './store.js'

const benches: Record<string, (args: string[]) => Promise<void>> = { store: storeBench, intake: intakeBench }

const [name = '', ...args] = process.argv.slice(2)
const bench = benches[name]
if (!bench) {
  console.error(`Which bench? npm run bench -- ${Object.keys(benches).join(' | ')}`)
  process.exit(2)
}
await bench(args)
