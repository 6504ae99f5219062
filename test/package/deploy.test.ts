/** The files in deploy/ name commands, ports, paths and times that exist. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createProgram } from '#dist/cli/program.js'
import pkg from '../../package.json' with { type: 'json' }

const yaml = createRequire(import.meta.url)('js-yaml') as {
  load(text: string): unknown
  loadAll(text: string): unknown[]
}
const read = (name: string) => readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8')
const commands = (await createProgram()).commands.map((command) => command.name())

/** From docs/reference/options.md. */
function defaultOf(option: string): number {
  const row = new RegExp(`^\\| \`${option}\\?\` .*Default \\D*(\\d+)`, 'm')
  return Number(row.exec(read('docs/reference/options.md'))?.[1])
}
const port = defaultOf('port')
const drainSeconds = defaultOf('drain')

test('the Dockerfile and the unit start a command that exists, from a file of the package', () => {
  const program = pkg.bin.hookonce.replace('./', 'node_modules/hookonce/')
  const image = /^CMD \["node", "(\S+)", "(\w+)"\]$/m.exec(read('deploy/Dockerfile'))!
  const unit = /^ExecStart=\/usr\/bin\/node \/opt\/hookonce\/(\S+) (\w+)$/m.exec(
    read('deploy/hookonce.service'),
  )!
  for (const [, file, command] of [image, unit]) {
    expect(file).toBe(program)
    expect(commands).toContain(command)
  }
  expect(existsSync(fileURLToPath(new URL(`../../${pkg.bin.hookonce}`, import.meta.url)))).toBe(true)
})

test('the image runs as a user that is not root, on the default port', () => {
  const text = read('deploy/Dockerfile')
  expect(text).toMatch(/^USER node$/m)
  expect(text).toContain(`EXPOSE ${port}\n`)
  expect(text).toContain(`HOOKONCE_PORT=${port}`)
  expect(read('src/server/health.ts')).toContain(/'(\/healthz)'/.exec(text)?.[1] ?? 'no health check')
})

test('every platform waits longer than the server needs to stop', () => {
  const compose = yaml.load(read('deploy/compose.yaml')) as {
    services: { hookonce: { stop_grace_period: string; ports: string[] } }
  }
  expect(Number.parseInt(compose.services.hookonce.stop_grace_period, 10)).toBeGreaterThan(drainSeconds)
  expect(compose.services.hookonce.ports).toEqual([`127.0.0.1:${port}:${port}`])
  const stop = /^TimeoutStopSec=(\d+)$/m.exec(read('deploy/hookonce.service'))?.[1]
  expect(Number(stop)).toBeGreaterThan(drainSeconds)
})

test('the Deployment has probes on paths of the server, and a disruption budget for its pods', () => {
  // biome-ignore lint/suspicious/noExplicitAny: the manifests have no types here
  const [deployment, service, budget] = yaml.loadAll(read('deploy/kubernetes/hookonce.yaml')) as any[]
  const { spec, metadata } = deployment.spec.template
  const [container] = spec.containers
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(drainSeconds)
  expect(container.ports).toEqual([{ name: 'http', containerPort: port }])
  expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'http' })
  expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' })
  expect(budget.kind).toBe('PodDisruptionBudget')
  expect(budget.spec.minAvailable).toBeLessThan(deployment.spec.replicas)
  for (const selector of [
    deployment.spec.selector.matchLabels,
    service.spec.selector,
    budget.spec.selector.matchLabels,
  ])
    expect(metadata.labels).toMatchObject(selector)
})
