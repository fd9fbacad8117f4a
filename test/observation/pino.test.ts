import { Writable } from 'node:stream'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createTestClient } from '../../src/entries/testing.ts'
import { openDesk } from '../http/desk.ts'

test('pino writes an entry as one line of JSON', async () => {
  const lines: string[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString())
      done()
    },
  })
  const logger = pino({ base: null, timestamp: false }, stream)
  const { service } = openDesk({ log: (entry) => logger.info(entry, 'answered') })
  await createTestClient(service).post('/desk/notes', { noteId: 1, words: 'one' })
  await createTestClient(service).get('/desk/notes/2', { query: 'words=a"\nb' })
  expect(lines).toHaveLength(2)
  expect(lines.map((line) => line.endsWith('\n'))).toEqual([true, true])
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 30, msg: 'answered', method: 'POST', event: 'Insert', status: 200, code: null },
    { level: 30, msg: 'answered', path: '/rest/v1/desk/notes/2', query: 'words=a"\nb' },
  ])
  await service.close()
})
