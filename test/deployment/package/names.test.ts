import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packageFileName, savedFileName } from '../../../src/deployment/package/file-name.ts'
import { pathConflict, pathMistake } from '../../../src/deployment/package/package-path.ts'
import { wrongPaths } from './wrong-paths.ts'

test.each([
  ['Web shop', '1.2.0', 'Web-shop-1.2.0.zip'],
  ['../../etc/passwd', '1', 'etc-passwd-1.zip'],
  ['a\r\nSet-Cookie: x', '1\0', 'a-Set-Cookie-x-1.zip'],
  ['x'.repeat(300), '1', `${'x'.repeat(94)}-1.zip`],
  ['x', '9'.repeat(300), `x-${'9'.repeat(50)}.zip`],
  ['ä', '', 'a.zip'],
  ['', '', 'release.zip'],
  ['...', '..', 'release.zip'],
  ['.htaccess', '1', 'htaccess-1.zip'],
  ['-rf', '1', 'rf-1.zip'],
  ['con', '', '_con.zip'],
  ['LPT1.x', '1', '_LPT1.x-1.zip'],
  ['日本', '2', '2.zip'],
  ['a..', '.', 'a.zip'],
  [`con.${'x'.repeat(300)}`, '9'.repeat(50), `_con.${'x'.repeat(41)}-${'9'.repeat(49)}.zip`],
])('the file name of %j in version %j is %j', (name, version, expected) => {
  expect(packageFileName(name, version, '.zip')).toBe(expected)
})

test.each([
  ['Shop 1.2.zip', 'Shop-1.2.zip'],
  ['shop.tar.gz', 'shop.tar.gz'],
  [`${'x'.repeat(300)}.tar.gz`, `${'x'.repeat(92)}.tar.gz`],
  [`${'x'.repeat(300)}.zip`, `${'x'.repeat(95)}.zip`],
  ['shop.12345678901', 'shop.12345678901'],
  [`${'x'.repeat(300)}.12345678901`, 'x'.repeat(99)],
  ['a.b c', 'a.b-c'],
  ['readme', 'readme'],
  ['Ünïcödé.zip', 'Unicode.zip'],
  // Only the first 400 characters are read.
  [`e${'\u0301'.repeat(500)}x.zip`, 'e.zip'],
  ['nul.zip', '_nul.zip'],
  ['.zip', 'release.zip'],
  ['', undefined],
  ['\ud800', undefined],
  ['a/b.zip', undefined],
  ['a\\b.zip', undefined],
  ['a\nb.zip', undefined],
])('the package %j of a builder is saved as %j', (name, expected) => {
  expect(savedFileName(name)).toBe(expected)
})

test('every file name is safe', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc
      .array(fc.constantFrom('.', '/', '\\', '-', 'nul', 'CON', 'é', '\0', ' '), { maxLength: 8 })
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(anything, anything, (name, version) => {
      const made = packageFileName(name, version, '.tar.gz')
      expect(made).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,92}\.tar\.gz$/)
      expect(made).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)\./i)
    }),
    { numRuns: 500 },
  )
})

test.each([...wrongPaths, ['\ud800', 'has a name that is not well-formed Unicode'] as const])(
  'the path %j is rejected: it %s',
  (path, reason) => {
    expect(pathMistake(path)).toBe(reason)
  },
)

test.each([
  'a',
  'console',
  'a/auxiliary.txt',
  'com10',
  'nul1',
  '.con',
  '.hidden',
  'a/b.c',
  'ä€😀/x y',
  '...a',
  'x'.repeat(200),
])('the path %j is fine', (path) => {
  expect(pathMistake(path)).toBeUndefined()
})

test.each([
  [['a', 'b', 'a']],
  [['Readme', 'README']],
  [['\u00e9', 'e\u0301']],
  [['a', 'a/b']],
  [['a/b/c', 'A/B']],
])('%j cannot be in one package', (paths) => {
  expect(pathConflict(paths)).toBeDefined()
})

test('other paths can', () => {
  expect(pathConflict(['a', 'b/a', 'b/c/a', 'ab'])).toBeUndefined()
})
