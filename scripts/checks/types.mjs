/** Types of everything that is not built: tests, benchmarks, scripts, examples. The build checks src itself. */
import { tool } from './run.mjs'

export const types = {
  name: 'types',
  run: () => tool('tsc', ['--noEmit', '-p', 'tsconfig.json']),
}
