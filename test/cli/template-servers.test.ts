import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { entries, root } from '../../.ci/entries.ts'

const folder = mkdtempSync(join(tmpdir(), 'rowgate-servers-'))
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

// A service in place of that of the project. It is not ready once it is closed, by a signal.
const service = `
import { createService, memoryStorage, openAccess } from 'rowgate'
export const service = createService({
  applications: {}, storage: memoryStorage(), security: openAccess(), report: false,
})
export const openService = () => service.ready()
process.once('SIGUSR2', () => void service.close())
`

const paths = Object.fromEntries(
  entries.map(({ specifier, source }) => [specifier, [join(root, source)]]),
)

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
    writeFileSync(join(own, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(own, 'tsconfig.json'), JSON.stringify({ compilerOptions: { paths } }))
    copyFileSync(join(root, `templates/servers/${name}/src/server.ts`), join(own, 'server.ts'))
    const port = await freePort()
    const child = spawn(process.execPath, ['--import', 'tsx', 'server.ts'], {
      cwd: own,
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await once(child, 'close')
    })
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`)
      return [response.status, (await response.text()).trim()]
    }
    await expect
      .poll(() => get('/live').catch(() => []), { timeout: 50_000 })
      .toEqual([200, 'live'])
    expect(await get('/ready')).toEqual([200, 'ready'])
    child.kill('SIGUSR2')
    await expect.poll(async () => (await get('/ready'))[0]).toBe(503)
    expect(await get('/live')).toEqual([200, 'live'])
  },
)
