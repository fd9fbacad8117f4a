import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../../.ci/entries.ts'
import { openProject, type Project } from './project.ts'
import { expectNotes, guideProgram } from './requests.ts'

let project: Project
beforeAll(async () => {
  project = await openProject()
  const config = { skipTrailingSlashRedirect: true, turbopack: { root } }
  project.write('next.config.mjs', `export default ${JSON.stringify(config)}\n`)
  // Next installs a compiler of its own where it finds TypeScript.
  const { outputText } = ts.transpileModule(
    guideProgram("export const dynamic = 'force-dynamic'"),
    {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    },
  )
  project.write('app/api/rest/[...path]/route.js', outputText)
  project.write('app/layout.js', 'export default ({ children }) => children\n')
})
afterAll(() => project.close())

test('Next serves the route handler of the guide', async () => {
  await project.run('next', 'build')
  const address = await project.serve((port) => [
    ...['next', 'start', '--hostname', '127.0.0.1', '--port', String(port)],
  ])
  await expectNotes(address, '/api')
  const slash = await fetch(`${address}/api/rest/v1/desk/notes/`, { redirect: 'manual' })
  expect(slash.status).toBe(404)
})
