import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createService,
  defineCollection,
  memoryStorage,
  openAccess,
  text,
  type Page,
} from 'rowgate'
import { load } from 'js-yaml'
import { expect, test } from 'vitest'
import { openapi, openApiDocument } from '../../src/entries/openapi.ts'
import { folderOf } from '../kit/folder.ts'
import { runScene } from './command-line.ts'

const notes = defineCollection({
  key: 'id',
  eventRoles: { Delete: ['Office'] },
  fields: { id: text() },
})

function serviceWith(pages: Readonly<Record<string, Page>>) {
  return createService({
    applications: { desk: { collections: { notes } } },
    storage: memoryStorage(),
    security: openAccess(),
    pages,
  })
}

const described = { openapi: openapi({ title: 'Desk', version: '2.0.0' }) }

/** Runs a command line on a service with pages. */
async function run(line: string, pages: Readonly<Record<string, Page>> = described) {
  const service = serviceWith(pages)
  const workingFolder = folderOf()
  const result = await runScene(
    ['openapi', ...line.split(' ').slice(1)],
    { workingFolder },
    {
      now: () => new Date(0),
      loadService: async () => service,
    },
  )
  await service.close()
  return { ...result, workingFolder, service }
}

test('openapi prints the document of the service as JSON', async () => {
  const { code, output, messages, service } = await run('openapi')
  expect({ code, messages }).toEqual({ code: 0, messages: '' })
  const expected = openApiDocument(service, { title: 'Desk', version: '2.0.0' })
  expect(JSON.parse(output)).toEqual(JSON.parse(JSON.stringify(expected)))
})

test('openapi writes a file, as YAML if its name says so', async () => {
  const { output, workingFolder } = await run('openapi --out desk.yaml --title Other')
  const file = join(workingFolder, 'desk.yaml')
  expect(output).toContain('Wrote 2 paths to ')
  expect(load(readFileSync(file, 'utf8'))).toMatchObject({
    info: { title: 'Other', version: '2.0.0' },
  })
})

test('openapi shows only what the roles may do', async () => {
  const { output } = await run('openapi --role Sales')
  expect(output).not.toContain('notesDelete')
  expect((await run('openapi --role Office')).output).toContain('notesDelete')
})

test.each([
  ['openapi', {}, '--title <title> is required'],
  ['openapi --application other', described, '--application must be one of desk.'],
])('%s is invalid usage if %j', async (line, pages, message) => {
  const { code, messages } = await run(line, pages)
  expect(code).toBe(2)
  expect(messages).toContain(message)
})
