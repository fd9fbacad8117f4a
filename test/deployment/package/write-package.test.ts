import { expect, test } from 'vitest'
import { maxDecodedBytes } from '../../../src/deployment/package/manifest.ts'
import { readPackage } from '../../../src/deployment/package/read-package.ts'
import { writePackage } from '../../../src/deployment/package/write-package.ts'
import { bytesOf } from './archives.ts'
import { jobOf } from './release.ts'

const textOf = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString()

test('files and snapshot are in a package in the order of their paths', async () => {
  const snapshot = [
    { path: 'b.json', bytes: bytesOf('[2]') },
    { path: 'a.json', bytes: bytesOf('[1]') },
  ]
  const files = [
    { path: 'files/z', bytes: bytesOf('z') },
    { path: 'files/app.js', bytes: bytesOf('app') },
  ]
  const read = readPackage(await writePackage(jobOf({ snapshot }), { files }))
  expect(read.manifest.files.map(({ path }) => path)).toEqual([
    'definitions.json',
    'files/app.js',
    'files/z',
    'snapshot/a.json',
    'snapshot/b.json',
  ])
  expect(read.manifest.snapshot).toEqual({ files: ['snapshot/a.json', 'snapshot/b.json'] })
  expect(textOf(read.files.get('snapshot/b.json'))).toBe('[2]')
  expect(textOf(read.files.get('files/z'))).toBe('z')
})

test('an empty snapshot and no snapshot differ', async () => {
  const empty = readPackage(await writePackage(jobOf({ snapshot: [] })))
  expect(empty.manifest.snapshot).toEqual({ files: [] })
  const none = readPackage(await writePackage(jobOf({ snapshot: null })))
  expect(none.manifest.snapshot).toBeNull()
})

test('a package of more than 512 MiB is not written', async () => {
  const half = new Uint8Array(256 * 1024 * 1024)
  const files = ['files/a', 'files/b'].map((path) => ({ path, bytes: half }))
  const writing = writePackage(jobOf(), { files })
  await expect(writing).rejects.toThrow('The package has more than 536870912 bytes in total.')
})

test.each([
  ['manifest.json', 4 * 1024 * 1024],
  ['manifest.sig', 1024],
  ['definitions.json', 16 * 1024 * 1024],
  ['ddl/sqlite.sql', 16 * 1024 * 1024],
  ['ddl/old/sqlite.sql', Infinity],
  ['my/ddl/sqlite.sql', Infinity],
  ['ddl/sqlite.sql.gz', Infinity],
  ['files/app.js', Infinity],
])('the file %s may have %d bytes', (path, limit) => {
  expect(maxDecodedBytes(path)).toBe(limit)
})

test('a file with the name of the signature is not written', async () => {
  const files = [{ path: 'manifest.sig', bytes: bytesOf('x') }]
  const writing = writePackage(jobOf(), { files })
  await expect(writing).rejects.toThrow('manifest.sig has the name of the signature.')
})
