import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../kit/storages.ts'
import { exerciseAll } from './exercised-database.ts'
import { publishFile } from './published-database.ts'
import { createDatabase, foreignTool } from './foreign-database.ts'

const spaced = 'YYYY-MM-DD hh:mm:ss[.ffffff]'

async function open(change = '') {
  const folder = temporaryFolder()
  const file = join(folder, 'frameworks.db')
  createDatabase('frameworks', file)
  if (change !== '') foreignTool.execute(file, change)
  return { folder, file, ...(await publishFile(folder, 'frameworks')) }
}

test('every table of a framework accepts what it has', async () => {
  const published = await open()
  await exerciseAll(published)
  for (const { publishes } of Object.values(published.collections))
    expect(publishes).toBeUndefined()
})

test('times with microseconds have their form, also where all values are without fraction', async () => {
  const { collections } = await open()
  const formOf = (collection: string, field: string) =>
    (collections[collection]?.fields[field] as { storedAs?: string }).storedAs
  for (const [collection, field] of [
    ['auth-user', 'lastLogin'],
    ['auth-user', 'dateJoined'],
    ['django-session', 'expireDate'],
    ['notes-note', 'deletedAt'],
    ['articles', 'createdAt'],
    ['articles', 'publishedAt'],
    ['measurement', 'recordedAt'],
  ] as const)
    expect([collection, field, formOf(collection, field)]).toEqual([collection, field, spaced])
  expect(formOf('measurement', 'taken')).toBe('YYYY-MM-DD hh:mm:ss.ffffff')
  expect(formOf('measurement', 'loggedAt')).toBe('YYYY-MM-DDThh:mm:ss[.ffffff]')
  expect(collections['auth-user']?.fields['birthDate']).toMatchObject({ type: 'date' })
})

test('a column with microseconds is not a key, and not unique for clients', async () => {
  const { collections } = await open(`
    CREATE TABLE ticks (at datetime PRIMARY KEY NOT NULL, n INTEGER);
    CREATE TABLE tocks (id INTEGER PRIMARY KEY, at datetime NOT NULL UNIQUE);
    INSERT INTO ticks VALUES ('2024-03-10 09:30:00.123456', 1), ('2024-03-10 09:30:00.123999', 2);
    INSERT INTO tocks VALUES (1, '2024-03-10 09:30:00.123456'), (2, '2024-03-10 09:30:00.123999');`)
  // As text, its values differ.
  expect(collections['ticks']?.fields['at']).toEqual({ type: 'text', readOnly: true })
  expect(collections['tocks']?.fields['at']).toMatchObject({ storedAs: spaced, required: true })
  expect(collections['tocks']?.fields['at']).not.toHaveProperty('unique')
})

test('columns declared as json are json if every value is, and keep each document as it is', async () => {
  const { collections, send, file } = await open()
  const { metadata, extra, empty, broken } = collections['articles']?.fields ?? {}
  expect([metadata?.type, extra?.type, empty?.type]).toEqual(['json', 'json', 'json'])
  expect(broken).toMatchObject({ type: 'text', readOnly: true })
  expect(collections['event']?.fields['payload']).toMatchObject({ type: 'json', required: true })
  const article = { createdAt: '2024-01-01T00:00:00', updatedAt: '2024-01-01T00:00:00' }
  for (const document of ['{"z":1.50,"a":[]}', '"12"', 'true', '[1e2]', 'null']) {
    const body = JSON.parse(`{ "metadata": ${document} }`) as object
    const { status, item } = await send('POST', 'articles', { ...article, ...body })
    expect([status, document]).toEqual([200, document])
    expect(item).toMatchObject(document === 'null' ? { metadata: null } : body)
  }
  const [count] = foreignTool.query(
    file,
    `SELECT count(*) FROM articles WHERE typeof(metadata) IN ('integer', 'real')`,
  )
  expect(count).toBe(0)
})

test('a document that SQLite would convert to a number is a failed save with its field', async () => {
  const { send, reports, file } = await open()
  const times = { createdAt: '2024-01-01T00:00:00', updatedAt: '2024-01-01T00:00:00' }
  for (const metadata of [12, 1.5]) {
    const inserted = await send('POST', 'articles', { ...times, metadata })
    expect(inserted).toMatchObject({ status: 400, validations: [{ field: 'metadata' }] })
    const updated = await send('POST', 'articles/1', { metadata })
    expect(updated).toMatchObject({ status: 400, validations: [{ field: 'metadata' }] })
  }
  expect(reports).toEqual([])
  expect(foreignTool.query(file, 'SELECT json(metadata) FROM articles WHERE id = 1')).toEqual([
    { b: 1.5, a: null },
  ])
})

test('numbers with declared digits are decimals, also in columns of doubles', async () => {
  const { collections, send } = await open()
  const { value, total, ratio, rough } = collections['measurement']?.fields ?? {}
  expect(value).toMatchObject({ type: 'decimal', precision: 8, scale: 3, storedAs: 'real' })
  expect(total).toMatchObject({ type: 'decimal', precision: 10, scale: 2, storedAs: 'real' })
  expect([ratio?.type, rough?.type]).toEqual(['double', 'double'])
  expect((await send('GET', 'measurement/2')).item).toMatchObject({
    value: '12345.678',
    total: null,
  })
})

test('a second introspection finds no difference', async () => {
  const { folder } = await open()
  const text = readFileSync(join(folder, 'frameworks.json'), 'utf8')
  const again = await publishFile(folder, 'frameworks')
  expect(readFileSync(join(folder, 'frameworks.json'), 'utf8')).toBe(text)
  expect(again.reports).toEqual([])
})
