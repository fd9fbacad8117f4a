import fc from 'fast-check'
import { unzipSync } from 'fflate'
import { expect, test } from 'vitest'
import type { PackageFile } from '../../../src/deployment/builder.ts'
import { PackageError } from '../../../src/deployment/package/package-error.ts'
import { readPackage } from '../../../src/deployment/package/read-package.ts'
import { openZip } from '../../../src/deployment/package/unzip.ts'
import { writePackage } from '../../../src/deployment/package/write-package.ts'
import { commentLength } from '../../../src/deployment/package/zip-layout.ts'
import { chunksOf, zip } from '../../../src/deployment/package/zip.ts'
import { bytesOf, forge, reseal, sha256 } from './archives.ts'
import { applications, jobOf, reversed } from './release.ts'

const part = fc.stringMatching(/^[a-z0-9äé€ _-]{0,9}[a-z0-9]$/)
const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
const content = fc.oneof(
  fc.uint8Array({ maxLength: 500 }),
  // Several chunks, of bytes that hardly shrink and of bytes that do.
  fc
    .tuple(fc.integer({ min: 0, max: 200_000 }), fc.integer({ min: 1, max: 2 ** 31 }))
    .map(([length, seed]) => noise(length, seed)),
  fc.integer({ min: 0, max: 200_000 }).map((length) => bytesOf('abcab'.repeat(length / 5))),
)
const files = fc.uniqueArray(fc.record({ path, bytes: content }), {
  maxLength: 6,
  // The first part of each differs: no file stands where another one's folder is.
  selector: (file) => file.path.split('/')[0],
})

function noise(length: number, seed: number): Uint8Array {
  let state = seed
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state >>> 24
  })
}

test('any files come back, with this reader and with another one', async () => {
  await fc.assert(
    fc.asyncProperty(files, async (all) => {
      const archive = await zip(all)
      const others = unzipSync(archive)
      const entries = openZip(archive, 2 ** 30)
      expect(entries.map((entry) => entry.path)).toEqual(all.map((file) => file.path))
      for (const [index, { path: name, bytes }] of all.entries()) {
        expect(sha256(entries[index]?.unpack() ?? new Uint8Array())).toBe(sha256(bytes))
        expect(sha256(others[name] ?? bytesOf('lost'))).toBe(sha256(bytes))
      }
    }),
    { numRuns: 40 },
  )
})

test('a package with any changed byte is rejected', async () => {
  const archive = await writePackage(jobOf())
  fc.assert(
    fc.property(fc.nat(archive.length - 1), fc.integer({ min: 1, max: 255 }), (at, difference) => {
      const changed = Buffer.from(archive)
      changed[at] = (changed[at] as number) ^ difference
      expect(() => readPackage(changed)).toThrow(PackageError)
    }),
    { numRuns: 500 },
  )
  expect(readPackage(archive).manifest.name).toBe('Web shop')
})

test('the same release gives the same bytes, in whatever order its objects were written', async () => {
  const extra = [
    { path: 'files/b', bytes: bytesOf('b') },
    { path: 'files/a', bytes: bytesOf('a') },
  ]
  const archive = await writePackage(jobOf(), { files: extra })
  const { solution } = jobOf()
  const other = reversed({ ...solution, applications: reversed(applications, ['fields']) }, [
    'applications',
  ])
  const again = await writePackage(jobOf({ solution: other, releaseId: 'another', attempt: 2 }), {
    files: extra.toReversed(),
  })
  expect(sha256(again)).toBe(sha256(archive))
})

test('another release gives other bytes', async () => {
  const archive = sha256(await writePackage(jobOf()))
  for (const change of [{ version: '2' }, { releaseNotes: null }, { snapshot: [] }]) {
    expect(sha256(await writePackage(jobOf(change)))).not.toBe(archive)
  }
})

test('every machine makes these bytes', async () => {
  const archive = await zip([
    { path: 'a.txt', bytes: bytesOf('a'.repeat(100_000)) },
    { path: 'b/é.bin', bytes: noise(70_000, 5) },
  ])
  // Should this fail after fflate was changed, packages that were built before differ from now on.
  expect(sha256(archive)).toMatchInlineSnapshot(
    `"ac2e337ee13e9c7ab44674e933eb3bd1e80e3ab99a8c748a236fdaa7aafa7b2c"`,
  )
})

test('others get their turn while a package is packed, and packing can be stopped', async () => {
  const big = [{ path: 'big', bytes: noise(3_000_000, 7) }]
  let turns = 0
  const ticking = setInterval(() => turns++, 0)
  const steps: number[] = []
  await zip(big, { progress: (fraction) => steps.push(fraction) })
  clearInterval(ticking)
  expect(turns).toBeGreaterThan(5)
  expect(steps).toEqual(steps.toSorted((one, other) => one - other))
  expect(steps[0]).toBeLessThan(0.1)
  expect(steps.at(-1)).toBe(1)
  await zip([{ path: 'empty', bytes: new Uint8Array() }], { progress: (it) => steps.push(it) })
  expect(steps.at(-1)).toBe(1)

  const controller = new AbortController()
  const reason = new Error('enough')
  const stopped = zip(big, {
    signal: controller.signal,
    progress: (fraction) => fraction > 0.5 && controller.abort(reason),
  })
  await expect(stopped).rejects.toBe(reason)
})

test('bytes are packed in chunks of 64 KiB, none of them beyond the end', () => {
  const sizes = (length: number) => Array.from(chunksOf(new Uint8Array(length)), (it) => it.length)
  expect(sizes(0)).toEqual([0])
  expect(sizes(65_536)).toEqual([65_536])
  expect(sizes(65_537)).toEqual([65_536, 1])
})

test('an archive has at most 65 534 files', async () => {
  const many = (count: number) => Array<PackageFile>(count).fill({ path: 'a', bytes: bytesOf('') })
  await expect(zip(many(65_535))).rejects.toThrow('The package has more than 65534 files.')
  await expect(zip(many(65_534))).rejects.toThrow('a is contained twice.')
})

test.each([['../x'], ['a', 'a'], ['a', 'a/b']])(
  'files called %j, %j are not packed',
  async (...names) => {
    const all = names.filter(Boolean).map((name) => ({ path: name, bytes: bytesOf('x') }))
    await expect(zip(all)).rejects.toThrow(names.at(-1))
  },
)

test('a name that is not valid UTF-8 is an error of the package', () => {
  const name = 'n'.repeat(30_000)
  const archive = forge([{ path: name, bytes: bytesOf('x') }])
  const unsealed = Buffer.from(archive.subarray(0, archive.length - commentLength))
  for (let at = unsealed.indexOf(name); at >= 0; at = unsealed.indexOf(name, at + 1)) {
    unsealed.fill(0xff, at, at + name.length)
  }
  expect(() => openZip(reseal(unsealed), 2 ** 30)).toThrow(PackageError)
})
