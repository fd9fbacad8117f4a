import { createHash } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { digestOf } from '../../src/request/digest.ts'

const texts = ['', 'plain', 'Grüße, \u{1f600}', 'a lone surrogate \ud800', 'x'.repeat(100_000)]

test.each(texts)('the digest of %j is the start of its SHA-256', async (text) => {
  const expected = createHash('sha256').update(text).digest('hex').slice(0, 32)
  expect(await digestOf(text)).toBe(expected)
})

test('a runtime without modules of Node has the same digests', async () => {
  vi.stubGlobal('process', { ...process, getBuiltinModule: undefined })
  // Another instance of the module.
  const file = ['../../src/request/digest.ts', 'web'].join('?')
  const web = (await import(file).finally(() => {
    vi.unstubAllGlobals()
  })) as { digestOf: typeof digestOf }
  expect(web.digestOf).not.toBe(digestOf)
  for (const text of texts) expect(await web.digestOf(text)).toBe(await digestOf(text))
})
