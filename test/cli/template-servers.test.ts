import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { root } from '../../.ci/entries.ts'

const folder = mkdtempSync(join(tmpdir(), 'rowgate-servers-'))
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

// A service in place of that of the project. It is not ready once it is closed.
const service = `
import { createService, memoryStorage, openAccess } from 'rowgate'
export const service = createService({
  applications: {}, storage: memoryStorage(), security: openAccess(), report: false,
})
export const openService = () => service.ready()
`

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test.each(['node', 'express', 'fastify', 'hono'])(
  'the project with the server %s responds to /live and /ready, with 503 while it is not ready',
  { timeout: 60_000 },
  async (name) => {
    const own = mkdtempSync(join(folder, `${name}-`))
    writeFileSync(join(own, 'service.ts'), service)
    const file = join(own, 'server.ts')
    copyFileSync(join(root, `templates/servers/${name}/src/server.ts`), file)
    const port = await freePort()
    process.env['PORT'] = String(port)
    await import(pathToFileURL(file).href)
    const opened = (await import(pathToFileURL(join(own, 'service.ts')).href)) as {
      readonly service: { close(): Promise<void> }
    }
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`)
      return [response.status, (await response.text()).trim()]
    }
    await expect.poll(() => get('/live').catch(() => [])).toEqual([200, 'live'])
    expect(await get('/ready')).toEqual([200, 'ready'])
    await opened.service.close()
    expect((await get('/ready'))[0]).toBe(503)
    expect(await get('/live')).toEqual([200, 'live'])
  },
)
