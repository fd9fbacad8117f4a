import { expect, test } from 'vitest'
import { openLine, requestBytes, type Line } from '../kit/host-line.ts'
import { programs } from '../kit/programs.ts'
import type { StopOrder } from './stop-process.ts'

const processes = programs<StopOrder>('test/http/stop-process.ts')
const things = requestBytes('GET /rest/v1/app/things')

async function started(order: StopOrder) {
  const running = processes.start(order)
  const port = Number(await running.said('port'))
  const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
  return { running, port, statusOf }
}

async function statusOn(line: Line): Promise<number> {
  line.write(things)
  return (await line.next()).status
}

test('a process that ends its pool after closed exits soon after SIGTERM, in spite of keep-alive connections', async () => {
  const { running, port } = await started({})
  const lines = await Promise.all([openLine(port), openLine(port)])
  for (const line of lines) expect(await statusOn(line)).toBe(200)
  const begun = performance.now()
  running.signal('SIGTERM')
  expect(await running.ended).toBe(0)
  // Node would keep the connections open for five seconds.
  expect(performance.now() - begun).toBeLessThan(4_500)
  expect(running.all('pool')).toHaveLength(1)
})

test('a request in progress at SIGTERM has its response, and the process ends after it', async () => {
  const { running, port } = await started({ delay: 400 })
  const line = await openLine(port)
  line.write(things)
  await running.said('reading')
  running.signal('SIGTERM')
  expect((await line.next()).status).toBe(200)
  expect(await line.ended()).toEqual([])
  expect(await running.ended).toBe(0)
})

test('while it drains, a process serves new and open connections, and is not ready', async () => {
  const { running, port, statusOf } = await started({ drain: 4_000 })
  const line = await openLine(port)
  expect(await statusOf('/ready')).toBe(200)
  running.signal('SIGTERM')
  await expect.poll(() => statusOf('/ready')).toBe(503)
  expect(await statusOf('/live')).toBe(200)
  expect(await statusOf('/rest/v1/app/things')).toBe(200)
  expect(await statusOn(line)).toBe(200)
  expect(await statusOn(await openLine(port))).toBe(200)
  expect(await running.ended).toBe(0)
  await expect(openLine(port)).rejects.toThrow('ECONNREFUSED')
})

test('a request that takes longer than the grace does not keep the process', async () => {
  const { running, port } = await started({ delay: 6_000, grace: 200 })
  const line = await openLine(port)
  line.write(things)
  await running.said('reading')
  const begun = performance.now()
  running.signal('SIGTERM')
  await line.ended()
  expect(performance.now() - begun).toBeLessThan(5_000)
  expect(await running.ended).toBe(0)
})
