/** Intake on this version of Node and on another one, interleaved; asked for by --node. */
import { execFileSync } from 'node:child_process'
import type { Suite } from '../suite.js'
import { load } from '../support/load.js'
import { stripeRequests } from '../support/requests.js'
import { measureLoad, sides, startServers } from './intake.js'

const wanted = ['bare', 'no-store', 'sqlite', 'postgres']

export const nodes: Suite = {
  name: 'nodes',
  title: 'Versions of Node',
  minutes: 1.5,
  skip: ({ otherNode }) =>
    otherNode === null ? 'no other version of Node; --node newest installs one' : null,
  async run(bench) {
    const versions = [process.execPath, bench.otherNode!].map((path) => ({
      path,
      name: execFileSync(path, ['--version'], { encoding: 'utf8' }).trim(),
    }))
    const servers = new Map(
      await Promise.all(
        versions.map(async ({ path, name }) => [name, await startServers(bench, wanted, path)] as const),
      ),
    )
    const keys = versions.flatMap(({ name }) => wanted.map((side) => `${side} ${name}`))
    const seconds = bench.short ? 0.05 : 1.5
    let requests: Buffer[] = []
    const samples = await bench.rounds({
      title: '64 connections, 1 kB, all new',
      sides: keys,
      async prepare() {
        requests = stripeRequests(Math.ceil(seconds * 30_000))
      },
      async measure(key, round) {
        const [side, version] = key.split(' ') as [string, string]
        const { port, child } = servers.get(version)!.get(side)!
        return measureLoad(bench, child.pid, side, () =>
          load(port, 64, requests, (round < 0 ? 400 : 1_000) * seconds),
        )
      },
    })
    const [here, other] = versions.map(({ name }) => name) as [string, string]
    return {
      tables: [
        {
          title: `Events/s and CPU µs of the process for a request: Node ${here} and ${other}`,
          head: ['server', here, other, 'ratio', `CPU µs ${here}`, `CPU µs ${other}`],
          rows: wanted.map((side) => [
            sides[side]!,
            samples.of(`${side} ${here}`, 'perSecond'),
            samples.of(`${side} ${other}`, 'perSecond'),
            samples.ratio(`${side} ${other}`, `${side} ${here}`, 'perSecond'),
            ...versions.map(
              ({ name }) => samples.of(`${side} ${name}`, 'main') + samples.of(`${side} ${name}`, 'others'),
            ),
          ]),
        },
      ],
      figures: {},
    }
  },
}
