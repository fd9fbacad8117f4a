import { describe, expect, test, vi } from 'vitest'
import {
  createService,
  defineCollection,
  memoryStorage,
  openAccess,
  principal,
  text,
  type ApplicationDefinitions,
  type Observation,
} from '../../src/entries/index.ts'
import { compileConstraints } from '../../src/definition/constraints.ts'
import { readPackage } from '../../src/deployment/package/read-package.ts'
import { writePackage } from '../../src/deployment/package/write-package.ts'
import { jobOf } from '../deployment/package/release.ts'

// Every character doubles its time, so the tests below would not end if it ran.
const exponential = '^(a+)+$'
const tooLong = `${'a'.repeat(50_000)}!`
const tooShort = `${'a'.repeat(40)}!`

describe('a pattern is not evaluated for a string whose length is out of bounds', () => {
  test.each([
    ['too long', { maxLength: 20 }, tooLong, 'it must have at most 20 characters.'],
    ['one too long', { maxLength: 40 }, tooShort, 'it must have at most 40 characters.'],
    ['too short', { minLength: 42 }, tooShort, 'it must have at least 42 characters.'],
    [
      'too long in code points',
      { maxLength: 40 },
      `${'a'.repeat(40)}😀`,
      'it must have at most 40 characters.',
    ],
  ])('%s', (_name, bounds, value, message) => {
    const check = compileConstraints('it', text({ ...bounds, pattern: exponential }))
    expect(check(value)).toEqual([{ message, severity: 'error', field: 'it' }])
  })

  test('over HTTP and in process', async () => {
    const service = serviceWith(text({ maxLength: 20, pattern: exponential }))
    const own = service.as(principal('maria')).collection('app', 'things')
    const result = await own.insert({ code: tooLong })
    expect(result).toMatchObject({
      rejected: true,
      validations: [{ message: 'code must have at most 20 characters.', field: 'code' }],
    })
    await service.close()
  })
})

test.each([
  ['abc', []],
  ['😀😀', []],
  ['ab1', ['it does not have the required form.']],
  ['a', ['it must have at least 2 characters.']],
  ['1234', ['it must have at most 3 characters.']],
])('a string within bounds is compared with the pattern: %s', (value, messages) => {
  const field = text({ minLength: 2, maxLength: 3, pattern: '^[^0-9]+$' })
  const entries = compileConstraints('it', field)(value)
  expect(entries.map(({ message }) => message)).toEqual(messages)
})

describe('defaults', () => {
  test('one that is too long is a mistake, and the pattern is not evaluated', () => {
    const field = text({ maxLength: 20, pattern: exponential, default: tooLong })
    expect(() => serviceWith(field)).toThrow('default: must have at most 20 characters')
  })

  test('one that does not match is a mistake', () => {
    const field = text({ maxLength: 20, pattern: '^[a-z]+$', default: 'A' })
    expect(() => serviceWith(field)).toThrow('default: does not have the required form')
  })

  test('reading a package evaluates no pattern', async () => {
    const field = text({ pattern: exponential, default: tooShort, maxLength: 50 })
    const solution = { ...jobOf().solution, applications: applicationsWith(field) }
    const archive = await writePackage(jobOf({ solution }))
    expect(readPackage(archive).applications['app']?.collections['things']?.fields).toMatchObject({
      code: { pattern: exponential },
    })
  })
})

describe('patterns that can block the process are reported at start', () => {
  test.each<[string, string, number | undefined, readonly string[]]>([
    ['a linear one with a maximum length', '^[A-Z]{2}[0-9]+(-[0-9]+)*$', 20, []],
    ['a linear one without', '^[A-Z]{2}[0-9]+$', undefined, ['no-maximum-length']],
    ['an exponential one', exponential, 20, ['super-linear']],
    ['an exponential alternative', '^(a|a)*$', 20, ['super-linear']],
    ['a polynomial one without', 'a*b', undefined, ['no-maximum-length', 'super-linear']],
    ['one with a named group', '^(?<year>[0-9]{4})-(?<rest>[0-9]+)$', 20, []],
    ['an exponential one with a named group', '^(?<part>a+)+$', 20, ['super-linear']],
    ['a very long one', `^${'a'.repeat(1_000)}$`, 2_000, ['not-analyzed']],
    [
      'one that the detector cannot parse',
      `^${'('.repeat(400)}a\\k<n>(?<n>b)${')'.repeat(400)}$`,
      20,
      ['not-analyzed'],
    ],
  ])('%s', async (_name, pattern, maxLength, reasons) => {
    const observed: Observation[] = []
    const field = text({ pattern, ...(maxLength !== undefined && { maxLength }) })
    const service = serviceWith(field, (observation) => observed.push(observation))
    await service.ready()
    const at = { type: 'pattern-at-risk', application: 'app', collection: 'things', field: 'code' }
    expect(observed).toEqual(reasons.map((reason) => ({ ...at, pattern, reason })))
    await service.close()
  })
})

test('the analysis needs no timer, which some runtimes do not allow at start', async () => {
  vi.useFakeTimers()
  try {
    const observed: Observation[] = []
    const field = text({ pattern: exponential, maxLength: 5 })
    await serviceWith(field, (observation) => observed.push(observation)).ready()
    expect(observed).toMatchObject([{ reason: 'super-linear' }])
  } finally {
    vi.useRealTimers()
  }
})

function applicationsWith(code: ReturnType<typeof text>): ApplicationDefinitions {
  return { app: { collections: { things: defineCollection({ fields: { code } }) } } }
}

function serviceWith(
  code: ReturnType<typeof text>,
  report: (observation: Observation) => void = () => undefined,
) {
  return createService({
    applications: applicationsWith(code),
    storage: memoryStorage(),
    security: openAccess(),
    report,
  })
}
