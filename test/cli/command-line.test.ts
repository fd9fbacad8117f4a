import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { commands, readCommandLine } from '../../src/cli/commands.ts'
import { UsageError } from '../../src/cli/command-error.ts'

function given(...line: readonly string[]) {
  const typed = readCommandLine(line)
  typed.check()
  return typed.given
}

describe('strings are not converted', () => {
  test.each(['007', '1e3', '0x10', 'true', 'false', '', ' ', ':', 'a=b', '-1', '--json', '"x"'])(
    'as a value: %j',
    (text) => {
      expect(given('keys', 'create', `--user=${text}`, '--json').one('user')).toBe(text)
      expect(given('users', 'disable', '--', text).argument).toBe(text)
    },
  )

  test('any text, in both forms of a value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(given('keys', 'create', `--user=${text}`).one('user')).toBe(text)
        if (!text.startsWith('-'))
          expect(given('--user', text, 'keys', 'create').one('user')).toBe(text)
      }),
    )
  })

  test('an empty value does not take the next word', () => {
    const typed = given('users', 'add', '--role=', 'maria')
    expect([typed.argument, typed.all('role')]).toEqual(['maria', ['']])
  })
})

test.each([
  ['keys', 'create', '--user', 'maria', '--service', 's.js'],
  ['--service', 's.js', 'keys', 'create', '--user', 'maria'],
  ['keys', '--user=maria', 'create', '--service=s.js'],
])('options can be anywhere: %s %s %s', (...line) => {
  const typed = readCommandLine(line)
  expect(typed.command?.name).toBe('keys create')
  expect([typed.given.one('user'), typed.given.one('service')]).toEqual(['maria', 's.js'])
})

test('options can be repeated only where that is allowed', () => {
  const typed = given('users', 'add', 'maria', '--role', 'Sales', '--role', '007', '--role=Sales')
  expect(typed.all('role')).toEqual(['Sales', '007', 'Sales'])
})

describe('wrong usage', () => {
  test.each([
    [['keys', 'create', '--nope'], 'Unknown option --nope'],
    [['keys', 'list', '--expires-in', '5'], 'no option --expires-in'],
    [['keys', 'create', '--expiresIn', '5'], 'Unknown option --expiresIn'],
    [['keys', 'create', '--no-user'], 'Unknown option --no-user'],
    [['keys', 'create', '-u', 'maria'], 'Unknown option -u'],
    [['keys', 'revoke', '-hunter2hunter2hunter2h'], 'Unknown option.'],
    [['keys', 'create', '--user'], '--user requires a value'],
    [['keys', 'create', '--user', '--json'], '--user requires a value'],
    [['keys', 'create', '--user=a', '--user=b'], '--user can be given only once'],
    [['keys', 'create', '--json=yes'], '--json does not take a value'],
    [['keys', 'revoke', 'a', 'b'], 'too many arguments'],
    [['keys', 'list', 'a'], 'too many arguments'],
    [['users', 'add', 'maria', '--password', 'hunter2'], 'cannot be an argument'],
    [['users', 'add', 'maria', '--password=hunter2'], 'cannot be an argument'],
    [['users', 'add', 'maria', '--password-stdin=hunter2'], 'does not take a value'],
    [['users', 'add', 'maria', '--password-stdin', 'hunter2'], 'too many arguments'],
    [['users', 'add', '--__proto__', 'x'], 'Unknown option --__proto__'],
  ])('%j', (line, message) => {
    let error: unknown
    try {
      given(...line)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(UsageError)
    expect((error as UsageError).message).toContain(message)
    expect((error as UsageError).message).not.toContain('hunter2')
  })

  test('an option has the same meaning at any position', () => {
    const all = commands.flatMap(({ options }) => options)
    for (const option of all) {
      const twins = all.filter(({ name }) => name === option.name)
      expect(new Set(twins.map(({ value }) => value === undefined)).size, option.name).toBe(1)
      expect(new Set(twins.map(({ repeats }) => repeats === true)).size, option.name).toBe(1)
    }
  })
})

test('--version has a value where a command says so, and nowhere else', () => {
  const build = ['release', 'build', '--solution', 'shop']
  expect(given(...build, '--version', '8.0').one('version')).toBe('8.0')
  expect(given(...build, '--version=007').one('version')).toBe('007')
  expect(given('--url', 'keys', ...build, '--version', 'a').one('version')).toBe('a')
  expect(() => given(...build, '--version')).toThrow(UsageError)
  expect(given('release', 'list', '--version').one('version')).toBeUndefined()
  expect(given('release', 'list', '--version').has('version')).toBe(true)
  expect(given('release', 'list', '-v').has('version')).toBe(true)
})

test('a command may be one word', () => {
  const typed = readCommandLine(['install', 'keys', '--folder', 'x'])
  expect([typed.name, typed.given.argument]).toEqual(['install', 'keys'])
  expect(() => given('rollback', 'it')).toThrow(UsageError)
})
