import { deflateRawSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { decodeManifest, jsonOf } from '../../../src/deployment/package/manifest.ts'
import { PackageError } from '../../../src/deployment/package/package-error.ts'
import { readPackage } from '../../../src/deployment/package/read-package.ts'
import { writePackage } from '../../../src/deployment/package/write-package.ts'
import { bytesOf, changeManifest, filesOf, forge, reseal, sha256, tampered } from './archives.ts'
import { applications, jobOf } from './release.ts'
import { wrongPaths } from './wrong-paths.ts'

let archive: Uint8Array

beforeAll(async () => {
  const snapshot = [{ path: 'data/orders.json', bytes: bytesOf('[]') }]
  archive = await writePackage(jobOf({ snapshot }), {
    files: [
      { path: 'files/app.js', bytes: bytesOf('x'.repeat(5_000)) },
      { path: 'files/empty', bytes: new Uint8Array() },
    ],
  })
})

/** Why a package is rejected: it must be a PackageError, of the file named. */
function rejection(bytes: Uint8Array, options = {}): readonly [string | null, string] {
  try {
    readPackage(bytes, options)
  } catch (error) {
    if (!(error instanceof PackageError)) throw error
    expect(error.message).not.toMatch(/\p{Cc}/u)
    return [error.file, error.message]
  }
  throw new Error('It was read.')
}

test('a package is read as it was written', () => {
  const { manifest, applications: read, files, signature } = readPackage(archive)
  expect(manifest).toMatchObject({
    format: 1,
    solutionId: 'shop',
    name: 'Web shop',
    version: '1.2.0',
    releaseNotes: 'Günstiger',
    releaseDate: '2026-03-01T00:00:00',
    applications: { people: ['badges', 'staff'], sales: ['orders'] },
    snapshot: { files: ['snapshot/data/orders.json'] },
    code: [],
  })
  expect(manifest.files.map(({ path, bytes }) => [path, bytes])).toEqual([
    ['definitions.json', files.get('definitions.json')?.length],
    ['files/app.js', 5_000],
    ['files/empty', 0],
    ['snapshot/data/orders.json', 2],
  ])
  expect(read).toEqual(JSON.parse(JSON.stringify(applications)))
  expect(signature).toBe('absent')
  expect(JSON.stringify(manifest)).not.toContain(jobOf().releaseId)
})

test('another program can unpack it', () => {
  const files = filesOf(archive)
  expect([...files.keys()]).toEqual([
    'manifest.json',
    'definitions.json',
    'files/app.js',
    'files/empty',
    'snapshot/data/orders.json',
  ])
  for (const [path, bytes] of readPackage(archive).files) {
    expect(sha256(files.get(path) as Uint8Array)).toBe(sha256(bytes))
  }
})

test('bytes that lie within others are read as well', () => {
  const shared = new Uint8Array(archive.length + 20)
  shared.set(archive, 7)
  expect(readPackage(shared.subarray(7, 7 + archive.length)).files.size).toBe(4)
})

test.each([
  ['manifest.json', 4 * 1024 * 1024],
  ['manifest.sig', 1024],
  ['definitions.json', 16 * 1024 * 1024],
  ['ddl/sqlite.sql', 16 * 1024 * 1024],
])('a %s of more than %i bytes is rejected before it is unpacked', (path, limit) => {
  const files = [...filesOf(archive)].map(([name, bytes]) => ({ path: name, bytes }))
  const others = files.filter(({ path: name }) => name !== path)
  const allowed = { path, bytes: bytesOf('{}'), size: limit, packed: bytesOf('not deflated') }
  expect(rejection(forge([allowed, ...others]))[1]).not.toContain('has more than')
  // Unpacking would fail with another message.
  const large = { path, bytes: bytesOf('{}'), size: limit + 1, packed: bytesOf('not deflated') }
  expect(rejection(forge([large, ...others]))).toEqual([
    path,
    `${path} has more than ${limit} bytes.`,
  ])
})

test('a package whose manifest lists other code than its definitions mark is rejected', () => {
  const code = ['applications.sales.collections.orders.rows']
  const changed = tampered(archive, (files) =>
    changeManifest(files, (manifest) => ({ ...manifest, code })),
  )
  expect(rejection(changed)).toEqual([
    'manifest.json',
    'manifest.json lists omitted code that differs from the definitions.',
  ])
})

test('a package with a larger DDL text than can be read is not written', async () => {
  const files = [{ path: 'ddl/sqlite.sql', bytes: new Uint8Array(16 * 1024 * 1024 + 1) }]
  const writing = writePackage(jobOf(), { files })
  await expect(writing).rejects.toThrow('ddl/sqlite.sql has more than 16777216 bytes.')
})

test('a package with a larger manifest than can be read is not written', async () => {
  const path = `files/${'x'.repeat(180)}`
  const files = Array.from({ length: 15_000 }, (_, at) => ({
    path: `${path}${at}`,
    bytes: new Uint8Array(),
  }))
  const writing = writePackage(jobOf(), { files })
  await expect(writing).rejects.toThrow('its manifest exceeds 4194304 bytes')
})

// The manifest lists the file, so that nothing but the check of the path rejects it.
test.each(wrongPaths)('a file called %j is rejected: it %s', (path, reason) => {
  const bytes = bytesOf('x')
  const listing = tampered(archive, (files) => {
    files.set(path, bytes)
    changeManifest(files, (manifest) => ({
      ...manifest,
      files: [...manifest.files, { path, bytes: bytes.length, sha256: sha256(bytes) }],
    }))
  })
  const [file, message] = rejection(listing)
  expect(file).toBe(path)
  expect(message).toContain(` ${reason}.`)
})

test('a file whose entry in the directory points at another file is rejected', () => {
  const bytes = bytesOf('alike')
  const added = ['files/y1', 'files/y2']
  const both = tampered(archive, (files) => {
    const last = files.get('snapshot/data/orders.json') as Uint8Array
    files.delete('snapshot/data/orders.json')
    for (const path of added) files.set(path, bytes)
    files.set('snapshot/data/orders.json', last)
    changeManifest(files, (manifest) => ({
      ...manifest,
      files: [
        ...manifest.files.slice(0, -1),
        ...added.map((path) => ({ path, bytes: bytes.length, sha256: sha256(bytes) })),
        ...manifest.files.slice(-1),
      ],
    }))
  })
  expect(readPackage(both).files.size).toBe(6)
  const unsealed = Buffer.from(both.subarray(0, -71))
  const [one = 0, other = 0] = added.map((path) => unsealed.lastIndexOf(path) - 4)
  unsealed.copy(unsealed, other, one, one + 4)
  expect(rejection(reseal(unsealed))).toEqual([
    null,
    'The package is not in the form in which definitionBuilder writes it.',
  ])
})

test('two files of one name are rejected', () => {
  const files = [...filesOf(archive)].map(([path, bytes]) => ({ path, bytes }))
  const twice = forge([...files, { path: 'files/app.js', bytes: bytesOf('y') }])
  expect(rejection(twice)).toEqual(['files/app.js', 'files/app.js is contained twice.'])
  const alike = forge([...files, { path: 'Files/APP.js', bytes: bytesOf('y') }])
  expect(rejection(alike)[1]).toContain('conflicts with')
})

test('a file that the manifest does not list is rejected', () => {
  const more = tampered(archive, (files) => files.set('files/more', bytesOf('x')))
  expect(rejection(more)).toEqual(['files/more', 'files/more is not in the manifest.'])
})

test.each([
  'index.js',
  'package.json',
  'definitions.json.js',
  'ddl/sqlite.txt',
  'ddl/more/sqlite.sql',
  'filesystem',
  'node_modules/x/index.js',
  'Files/x',
  'manifest.js',
])('a file called %s is rejected, even if the manifest lists it', async (path) => {
  const bytes = bytesOf('x')
  const reason = `${path} is not a file of a package: it has definitions.json, ddl/<dialect>.sql, and files below files/ and snapshot/.`
  const listing = tampered(archive, (files) => {
    files.set(path, bytes)
    changeManifest(files, (manifest) => ({
      ...manifest,
      files: [...manifest.files, { path, bytes: bytes.length, sha256: sha256(bytes) }],
    }))
  })
  expect(rejection(listing)).toEqual([path, reason])
  const writing = writePackage(jobOf(), { files: [{ path, bytes }] })
  await expect(writing).rejects.toThrow(reason)
})

test.each(['manifest.json', 'definitions.json', 'files/app.js', 'snapshot/data/orders.json'])(
  'a package without %s is rejected',
  (path) => {
    const less = tampered(archive, (files) => files.delete(path))
    expect(rejection(less)).toEqual([path, `${path} is missing.`])
  },
)

test('a file with another size or checksum is rejected', () => {
  const longer = tampered(archive, (files) => files.set('files/app.js', bytesOf('x')))
  expect(rejection(longer)[1]).toBe('files/app.js has 1 bytes instead of the 5000 in the manifest.')
  const other = tampered(archive, (files) => files.set('files/app.js', bytesOf('y'.repeat(5_000))))
  expect(rejection(other)[1]).toBe('files/app.js does not match its checksum in the manifest.')
})

test.each<readonly [string, (manifest: { files: readonly object[] }) => object, string]>([
  ['another format', (all) => ({ ...all, format: 2 }), 'newer version'],
  ['a format as text', (all) => ({ ...all, format: '2' }), 'manifest.format: must be 1'],
  ['no format', (all) => ({ ...all, format: undefined }), 'manifest.format: must be 1'],
  ['a member too many', (all) => ({ ...all, host: 'x' }), 'manifest.host: is not an option'],
  ['a date of another form', (all) => ({ ...all, releaseDate: '1.3.2026' }), 'releaseDate'],
  [
    'a negative size',
    (all) => ({ ...all, files: [{ ...all.files[0], bytes: -1 }] }),
    'files.0.bytes',
  ],
  [
    'a checksum of another form',
    (all) => ({ ...all, files: [{ ...all.files[0], sha256: 'X' }] }),
    'files.0.sha256',
  ],
  ['another order of files', (all) => ({ ...all, files: all.files.toReversed() }), 'order'],
  [
    'another order of members',
    (all) => Object.fromEntries(Object.entries(all).reverse()),
    'not in the form in which',
  ],
  [
    'other collections',
    (all) => ({ ...all, applications: { sales: ['orders'] } }),
    'lists collections that differ',
  ],
  ['no snapshot', (all) => ({ ...all, snapshot: null }), 'snapshot'],
  [
    'a snapshot of other files',
    (all) => ({ ...all, snapshot: { files: ['files/app.js'] } }),
    'snapshot',
  ],
])('a manifest with %s is rejected', (_name, change, message) => {
  const bytes = tampered(archive, (files) => changeManifest(files, change))
  const [file, text] = rejection(bytes)
  expect(file).toBe('manifest.json')
  expect(text).toContain(message)
})

test.each([[bytesOf('{')], [bytesOf('\ufeff{}')], [Uint8Array.of(0x22, 0xff, 0x22)]])(
  'the bytes %j are not JSON in UTF-8',
  (bytes) => {
    expect(() => jsonOf(bytes, 'a.json')).toThrow('a.json is not valid JSON in UTF-8.')
  },
)

test('a manifest may have 4 MiB, and no more', () => {
  const limit = 4 * 1024 * 1024
  expect(() => decodeManifest(new Uint8Array(limit))).toThrow('is not valid JSON')
  expect(() => decodeManifest(new Uint8Array(limit + 1))).toThrow(
    'manifest.json has more than 4194304 bytes.',
  )
})

test.each(['{', '[]', 'null', '\ufeff{}', '{"format":1}'])(
  'the manifest %j is rejected',
  (text) => {
    const bytes = tampered(archive, (files) => files.set('manifest.json', bytesOf(text)))
    expect(rejection(bytes)[0]).toBe('manifest.json')
  },
)

/** A package with other definitions, and a manifest that matches them. */
function withDefinitions(definitions: object): Buffer {
  const wrong = bytesOf(JSON.stringify(definitions))
  return tampered(archive, (files) => {
    files.set('definitions.json', wrong)
    changeManifest(files, (manifest) => ({
      ...manifest,
      files: manifest.files.map((file) =>
        file.path === 'definitions.json'
          ? { ...file, bytes: wrong.length, sha256: sha256(wrong) }
          : file,
      ),
    }))
  })
}

test('invalid definitions are rejected with their mistakes', () => {
  const [file, message] = rejection(
    withDefinitions({ sales: { collections: { orders: { fields: {} } } } }),
  )
  expect(file).toBe('definitions.json')
  expect(message).toBe(
    'definitions.json is invalid: applications.sales.collections.orders.fields: declare at least one field.',
  )
})

test('the message for invalid definitions has at most ten mistakes, in one line', () => {
  const options = Array.from({ length: 13 }, (_, at) => [`a\u009b${at}${'x'.repeat(1_000)}`, 1])
  const [, message] = rejection(withDefinitions({ sales: Object.fromEntries(options) as object }))
  expect(message).toMatch(/; and \d+ more\.$/)
  expect(message.split('; and ')[0]?.length).toBeLessThan(4_000)
})

test('what unpacks to more than the limit is rejected before it is unpacked', () => {
  const bomb = deflateRawSync(Buffer.alloc(1_000_000))
  const honest = forge([
    { path: 'manifest.json', bytes: new Uint8Array(), size: 1_000_000, packed: bomb },
  ])
  expect(rejection(honest, { limit: 999_999 })[1]).toContain('unpacks to more than 999999 bytes')
  expect(rejection(honest, { limit: 1_000_000 })[1]).toContain('is not valid JSON')
})

test.each([0, 1, 999_999, 1_000_001])('a bomb that claims %i bytes is rejected', (size) => {
  const packed = deflateRawSync(Buffer.alloc(1_000_000))
  const liar = forge([{ path: 'manifest.json', bytes: new Uint8Array(), size, packed }])
  expect(rejection(liar)[1]).toContain('does not have the')
})

test('unpacking stops at the first byte too many', () => {
  // It is broken further on: who unpacks all of it finds that instead.
  const packed = deflateRawSync(Buffer.alloc(10_000_000)).subarray(0, -100)
  const liar = forge([{ path: 'manifest.json', bytes: new Uint8Array(), size: 10, packed }])
  expect(rejection(liar)[1]).toContain('does not have the 10 bytes')
})

test('a file that unpacks to more than it promises is rejected, however short the promise is', () => {
  // 6 is also the length of the word that stands for "longer" in the code.
  const liar = forge([
    {
      path: 'manifest.json',
      bytes: new Uint8Array(),
      size: 6,
      packed: deflateRawSync(bytesOf('x'.repeat(7))),
    },
  ])
  expect(rejection(liar)).toEqual([
    'manifest.json',
    'manifest.json does not have the 6 bytes that the archive declares.',
  ])
})

test('packed bytes that are broken, cut or followed by others cannot be unpacked', () => {
  const bytes = bytesOf('{}')
  const whole = deflateRawSync(bytes)
  for (const packed of [
    bytes,
    whole.subarray(0, -1),
    Buffer.concat([whole, bytes]),
    Buffer.alloc(0),
  ]) {
    const forged = forge([{ path: 'manifest.json', bytes, packed }])
    expect(rejection(forged)).toEqual([
      'manifest.json',
      'manifest.json is damaged and cannot be unpacked.',
    ])
  }
})

test('every byte around the files is the one that the builder writes', () => {
  const unsealed = archive.subarray(0, -71)
  const inFiles = new Set<number>()
  let offset = 0
  const view = Buffer.from(unsealed)
  while (view.readUInt32LE(offset) === 0x04034b50) {
    const start = offset + 30 + view.readUInt16LE(offset + 26)
    const end = start + view.readUInt32LE(offset + 18)
    for (let at = start; at < end; at++) inFiles.add(at)
    offset = end
  }
  let tried = 0
  for (let at = 0; at < unsealed.length; at++) {
    if (inFiles.has(at)) continue
    const changed = Buffer.from(unsealed)
    changed[at] = (changed[at] as number) ^ 1
    expect(() => readPackage(reseal(changed)), `byte ${at}`).toThrow(PackageError)
    tried++
  }
  expect(tried).toBeGreaterThan(500)
})

test.each([
  ['nothing', () => new Uint8Array()],
  ['some text', () => bytesOf('x'.repeat(500))],
  ['a cut package', () => archive.subarray(0, -1)],
  ['a package with something before it', () => Buffer.concat([bytesOf('#!'), archive])],
  [
    'a package with something before it and a checksum',
    () => reseal(Buffer.concat([bytesOf('#!'), archive.subarray(0, -71)])),
  ],
  ['a package with something after it', () => Buffer.concat([archive, bytesOf('x')])],
  ['an archive of another program', () => forge([]).subarray(0, 22)],
  ['an archive without files', () => forge([])],
])('%s is rejected', (_name, make) => {
  rejection(make())
})

test('bytes that are not an archive of this form, and damaged ones, each have their own message', () => {
  const form = 'The package is not an archive of definitionBuilder, or its end is missing.'
  for (const bytes of [new Uint8Array(), bytesOf('x'.repeat(500)), archive.subarray(0, -1)]) {
    expect(rejection(bytes)).toEqual([null, form])
  }
  const damaged = Buffer.from(archive)
  damaged[40] = (damaged[40] as number) ^ 1
  expect(rejection(damaged)).toEqual([null, 'The package is damaged: its checksum does not match.'])
})

test('bytes between the files, the directory and the end are rejected', () => {
  const unsealed = Buffer.from(archive.subarray(0, -71))
  const end = unsealed.length - 22
  const start = unsealed.readUInt32LE(end + 16)
  for (const at of [start, end]) {
    const gap = Buffer.concat([unsealed.subarray(0, at), bytesOf('gap'), unsealed.subarray(at)])
    // The end tells of a directory that starts after the gap, or that contains it.
    if (at === start) gap.writeUInt32LE(start + 3, end + 3 + 16)
    else gap.writeUInt32LE(end - start + 3, end + 3 + 12)
    expect(rejection(reseal(gap))[1]).toContain(
      'not in the form in which definitionBuilder writes it',
    )
  }
})

test('files in another order are rejected, even if the manifest has the same one', () => {
  const bytes = tampered(archive, (files) => {
    changeManifest(files, (all) => ({ ...all, files: all.files.toReversed() }))
    const [manifest, ...others] = [...files]
    files.clear()
    for (const [path, content] of [manifest, ...others.reverse()] as [string, Uint8Array][]) {
      files.set(path, content)
    }
  })
  expect(rejection(bytes)[1]).toContain('does not list the files in the order of the package')
})

test.each([0, -1, 1.5, NaN, Infinity])('a limit of %d is rejected', (limit) => {
  const read = () => readPackage(archive, { limit })
  expect(read).toThrow(TypeError)
  expect(read).toThrow('limit: must be a whole number of bytes, at least 1')
})

test('a limit of one byte is accepted, and an unknown option is not', () => {
  expect(rejection(archive, { limit: 1 })).toEqual([
    null,
    'The package unpacks to more than 1 bytes.',
  ])
  expect(() => readPackage(archive, { limt: 1 } as never)).toThrow(
    'readPackage.limt: is not an option; did you mean limit?',
  )
})
