import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { root } from '../../.ci/entries.ts'
import { defineCollection, integer, ServiceError, text } from '../../src/entries/index.ts'
import { base } from '../contract/contract.ts'
import { applications } from '../contract/fixture.ts'
import { start, type Running } from '../contract/running.ts'
import type { Binding } from '../kit/cells.ts'
import { memory } from '../kit/storages.ts'
import { proxyLimits } from './proxy-limits.ts'
import { throughPrism } from './through-prism.ts'

const here = join(root, 'test/openapi-tools')

/** How many responses there were: by what kept their requests from the proxy, then by status. */
type Exchanges = Record<string, Record<string, number>>

const passed = 'passed the proxy'

test('a validating proxy flags no response of the contract suite', async () => {
  const { total, byLimit } = await runSuite()
  // The reasons are in proxy-limits.ts.
  console.log(JSON.stringify(byLimit, null, 2))
  const through = byLimit[passed] ?? {}
  const statuses = [200, 400, 401, 403, 404, 405, 406, 413, 414, 415, 429, 500, 503]
  expect(Object.keys(through).map(Number)).toEqual(expect.arrayContaining(statuses))
  // Each limit of the proxy has requests, and the others are the rule.
  expect(Object.keys(byLimit).sort()).toEqual(
    [passed, ...proxyLimits.map(({ name }) => name)].sort(),
  )
  const sum = Object.values(through).reduce((one, other) => one + other, 0)
  expect(sum).toBeGreaterThan(3000)
  expect(sum / total).toBeGreaterThan(0.85)
})

test('an error that application code throws passes the proxy with its status', async () => {
  const reject = () => {
    throw new ServiceError('ITEM_IN_USE', 'It is in use.')
  }
  const collections = {
    ...applications.app.collections,
    journal: defineCollection(
      { fields: { line: text(), level: integer() } },
      { events: { Filter: { after: reject } } },
    ),
    orders: defineCollection(
      { key: 'orderId', fields: { orderId: integer(), title: text(), quantity: integer() } },
      { events: { Update: { before: reject } } },
    ),
  }
  const running = await startBehind(
    throughPrism(() => undefined),
    { ...applications, app: { collections } } as unknown as typeof applications,
  )
  const update = {
    method: 'POST',
    target: `${base}/orders/1`,
    headers: { 'Content-Type': 'application/json' },
    body: '{"quantity":2}',
  }
  for (const request of [update, { method: 'GET', target: `${base}/journal` }])
    expect((await running.send(request)).body).toMatchObject({
      message: 'It is in use.',
      status: 409,
    })
})

test('a response that does not fit a wrong schema fails its request, also beside the proxy', async () => {
  const ways: unknown[] = []
  const binding = throughPrism(
    (limit) => ways.push(limit),
    (document) => {
      const text = JSON.stringify(document)
      const wrong = text.replaceAll(right, right.replace('string', 'integer'))
      expect(wrong).not.toBe(text)
      return JSON.parse(wrong) as typeof document
    },
  )
  const right = '"companyName":{"type":"string"'
  const running = await startBehind(binding)
  const absolute = `http://localhost${base}/customers`
  for (const target of [`${base}/customers`, `${base}/customers/ALFKI`, absolute])
    await expect(running.send({ method: 'GET', target })).rejects.toThrow('must be integer')
  expect(ways).toEqual([undefined, undefined, 'an absolute-form target'])
  expect((await running.send({ method: 'GET', target: `${base}/orders` })).status).toBe(200)
})

async function startBehind(binding: Binding, given = applications): Promise<Running> {
  const storage = memory
  const running = await start({ name: binding.name, binding, storage }, { applications: given })
  onTestFinished(running.stop)
  return running
}

/** Runs the contract suite behind the proxy, and returns how many responses there were. */
async function runSuite(): Promise<{ readonly total: number; readonly byLimit: Exchanges }> {
  mkdirSync(join(here, '.data'), { recursive: true })
  const folder = mkdtempSync(join(here, '.data', 'contract-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'exchanges')
  const args = ['run', '--config', join(here, 'contract.config.ts')]
  const env = { ...process.env, EXCHANGES: file }
  try {
    await promisify(execFile)(join(root, 'node_modules/.bin/vitest'), args, {
      cwd: root,
      env,
      maxBuffer: 2 ** 26,
    })
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
    throw new Error(`The suite failed:\n${stdout}${stderr}`, { cause: error })
  }
  const byLimit: Exchanges = {}
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  for (const line of lines) {
    const [limit, status] = JSON.parse(line) as readonly [string | null, number]
    const statuses = (byLimit[limit ?? passed] ??= {})
    statuses[status] = (statuses[status] ?? 0) + 1
  }
  return { total: lines.length, byLimit }
}
