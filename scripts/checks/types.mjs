/** Types of everything that is not built: tests, benchmarks, scripts, examples. The build checks src itself. */
import { installExtras } from '../extras.mjs'
import { tool } from './run.mjs'

export const types = {
  name: 'types',
  async run() {
    await installExtras('apps', 'checks', 'queues', 'sdks')
    return tool('tsc', ['-p', 'tsconfig.json'])
  },
}
