import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { commands, readCommandLine } from '../../src/cli/commands.ts'
import { UsageError } from '../../src/cli/command-error.ts'

function given(...line: readonly string[]) {
  const typed = readCommandLine(line)
  typed.check()
  return typed.given
}

describe('texts stay what was typed', () => {
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
])('options stand anywhere: %s %s %s', (...line) => {
  const typed = readCommandLine(line)
  expect(typed.command?.name).toBe('keys create')
  expect([typed.given.one('user'), typed.given.one('service')]).toEqual(['maria', 's.js'])
})

test('options may be repeated where that means something', () => {
  const typed = given('users', 'add', 'maria', '--role', 'Sales', '--role', '007', '--role=Sales')
  expect(typed.all('role')).toEqual(['Sales', '007', 'Sales'])
})

describe('wrong usage', () => {
  test.each([
    [['keys', 'create', '--nope'], 'no option --nope'],
    [['keys', 'list', '--expires-in', '5'], 'no option --expires-in'],
    [['keys', 'create', '--expiresIn', '5'], 'no option --expiresIn'],
    [['keys', 'create', '--no-user'], 'no option --no-user'],
    [['keys', 'create', '-u', 'maria'], 'no option -u'],
    [['keys', 'revoke', '-hunter2hunter2hunter2h'], 'no option like that'],
    [['keys', 'create', '--user'], '--user needs a value'],
    [['keys', 'create', '--user', '--json'], '--user needs a value'],
    [['keys', 'create', '--user=a', '--user=b'], 'Give --user once'],
    [['keys', 'create', '--json=yes'], '--json takes no value'],
    [['keys', 'revoke', 'a', 'b'], 'too many words'],
    [['keys', 'list', 'a'], 'too many words'],
    [['users', 'add', 'maria', '--password', 'hunter2'], 'never an argument'],
    [['users', 'add', 'maria', '--password=hunter2'], 'never an argument'],
    [['users', 'add', 'maria', '--password-stdin=hunter2'], 'takes no value'],
    [['users', 'add', 'maria', '--password-stdin', 'hunter2'], 'too many words'],
    [['users', 'add', '--__proto__', 'x'], 'no option --__proto__'],
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

  test('an option means the same wherever it stands', () => {
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
