import { spawn } from 'node:child_process'
import { createServer, type Server } from 'node:net'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { root } from '../../.ci/entries.ts'
import { blockTexts } from './blocks.ts'
import { freePort } from '../kit/process.ts'
import { openLine, requestBytes } from '../kit/host-line.ts'

mkdirSync(join(root, '.data'), { recursive: true })
const folder = mkdtempSync(join(root, '.data', 'stopping-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Returns the block of a page with a text. */
function blockWith(page: string, text: string): string {
  const found = blockTexts(page, 'ts').filter((block) => block.includes(text))
  if (found.length !== 1) throw new Error(`${page} has ${found.length} blocks with ${text}`)
  return found[0] ?? ''
}

const stopsNode = blockWith('docs/guides/node.md', 'export async function stop(server')
const stopsFastify = blockWith('docs/guides/bindings.md', 'export async function stop(app')
const starts = blockWith('docs/guides/production.md', 'export async function start(')

// A read takes half a second. The pool has an idle connection to a server of the test, which keeps the process alive.
const service = `
import { connect } from 'node:net'
import { createService, defineCollection, memoryStorage, openAccess, text } from 'rowgate'
const read = () => {
  console.log('reading')
  return new Promise<void>((resolve) => setTimeout(resolve, 500))
}
const notes = defineCollection(
  { key: 'name', fields: { name: text() } },
  { events: { Filter: { before: () => read() } } },
)
const service = createService({
  applications: { desk: { collections: { notes } } },
  storage: memoryStorage(),
  security: openAccess(),
})
const idle = connect(Number(process.env['POOL']), '127.0.0.1')
const pool = { end: async () => void idle.destroy() }
const port = Number(process.env['PORT'])
`

const onSignal = (call: string): string =>
  `process.once('SIGTERM', () => void ${call}.then(() => pool.end()))\n`

const programs: Readonly<Record<string, string>> = {
  'docs/guides/production.md with serve': `${starts}${service}await start(service, pool)\n`,
  'docs/guides/node.md with node:http': `${stopsNode}${service}
import { createServer } from 'node:http'
import { toNodeHandler } from 'rowgate/node'
const server = createServer(toNodeHandler(service)).listen(port, '127.0.0.1')
${onSignal('stop(server, service)')}`,
  'docs/guides/node.md with Express': `${stopsNode}${service}
import express from 'express'
import { toExpressHandler } from 'rowgate/express'
const server = express().use(toExpressHandler(service)).listen(port, '127.0.0.1')
${onSignal('stop(server, service)')}`,
  'docs/guides/node.md with Hono': `${stopsNode}${service}
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { toFetchHandler } from 'rowgate/fetch'
const rest = toFetchHandler(service)
const app = new Hono<{ Bindings: object }>().use('*', (c) => rest(c.req.raw, c.env))
const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }) as Server
${onSignal('stop(server, service)')}`,
  'docs/guides/bindings.md with Fastify': `${stopsFastify}${service}
import { fastify } from 'fastify'
import { rowgateFastify } from 'rowgate/fastify'
const app = fastify()
await app.register(rowgateFastify, { service })
await app.listen({ port })
${onSignal('stop(app)')}`,
}

/** Starts a server that keeps the connections of a pool open. */
async function startDatabase(): Promise<number> {
  const database: Server = createServer((socket) => socket.on('error', () => undefined))
  const port = await freePort()
  await new Promise<void>((resolve) => database.listen(port, '127.0.0.1', resolve))
  onTestFinished(() => void database.close())
  return port
}

test.each(Object.keys(programs))(
  'a process ends soon after SIGTERM, after the request in progress: %s',
  async (name) => {
    const [port, pool] = [await freePort(), await startDatabase()]
    const file = join(folder, `${name.replace(/\W+/g, '-')}.ts`)
    writeFileSync(file, programs[name] ?? '')
    const environment = {
      ...process.env,
      TSX_TSCONFIG_PATH: join(root, 'tsconfig.json'),
      PORT: String(port),
      POOL: String(pool),
    }
    const child = spawn(process.execPath, ['--import', 'tsx', file], { env: environment })
    onTestFinished(() => void child.kill('SIGKILL'))
    let [reads, errors] = [0, '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      reads += text.split('reading').length - 1
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    const ended = new Promise((resolve) => child.once('close', resolve))
    const line = await opened(port)
    line.write(requestBytes('GET /rest/v1/desk/notes'))
    expect((await line.next()).status).toBe(200)
    line.write(requestBytes('GET /rest/v1/desk/notes'))
    await expect.poll(() => reads).toBe(2)
    const begun = performance.now()
    child.kill('SIGTERM')
    expect((await line.next()).status).toBe(200)
    expect(await ended).toBe(0)
    expect(performance.now() - begun).toBeLessThan(5_000)
    expect(errors).toBe('')
  },
  60_000,
)

async function opened(port: number) {
  for (;;) {
    try {
      return await openLine(port)
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
