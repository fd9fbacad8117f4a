import { afterAll, beforeAll, describe, test } from 'vitest'
import { openProject, programText, type Project } from './project.ts'
import { expectKeys, expectNotes, guideProgram } from './requests.ts'

const whole = guideProgram('export default { fetch: toFetchHandler(service) }')
const besideRoutes = guideProgram('export const forBun')

let project: Project
beforeAll(async () => {
  project = await openProject()
  project.write('desk.ts', whole)
  project.write('service.ts', whole.replace(/export default .*/, 'export { service }'))
  project.write('bindings.ts', besideRoutes)
  project.write('secured.ts', programText('secured.ts'))
  const start = (line: string) =>
    `import { service } from './service.ts'\nimport * as bindings from './bindings.ts'\n${line}\n`
  const port = "Number(process.env['PORT'])"
  project.write(
    'bun.ts',
    start(`Bun.serve({ ...bindings.forBun(service), port: ${port}, hostname: '127.0.0.1' })`),
  )
  project.write(
    'deno.ts',
    start(
      `Deno.serve({ port: Number(Deno.env.get('PORT')), hostname: '127.0.0.1' }, bindings.forDeno(service))`,
    ),
  )
})
afterAll(() => project.close())

describe('Bun', () => {
  const serve = (file: string) => project.serve(() => ['bun', 'run', file])

  test('serves the program of the guide', async () => expectNotes(await serve('desk.ts')))
  test('serves with the address of the client', async () => expectNotes(await serve('bun.ts')))
  test('serves with API keys', async () => expectKeys(await serve('secured.ts')))
})

describe('Deno', () => {
  const rights = [
    '--allow-env',
    '--allow-net=127.0.0.1',
    '--no-remote',
    '--node-modules-dir=manual',
  ]
  const serve = (file: string) =>
    project.serve((port) => [
      ...['deno', 'serve', ...rights, '--host', '127.0.0.1', '--port', String(port)],
      file,
    ])

  test('serves the program of the guide', async () => expectNotes(await serve('desk.ts')))
  test('serves with the address of the client', async () =>
    expectNotes(await project.serve(() => ['deno', 'run', ...rights, 'deno.ts'])))
  test('serves with API keys', async () => expectKeys(await serve('secured.ts')))
})
