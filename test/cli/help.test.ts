import { expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { openCommandLine } from './command-line.ts'

test.each([['--help'], ['-h'], ['nonsense', '--help']])(
  'the help lists every command: %j',
  async (...line) => {
    const { code, output, messages } = await openCommandLine().run(line)
    expect({ code, messages }).toEqual({ code: 0, messages: '' })
    for (const { name, description } of commands) {
      expect(output).toContain(`  ${name}`)
      expect(output).toContain(description)
    }
  },
)

test('--help --json prints the table of commands', async () => {
  const namesOf = async (...line: readonly string[]) => {
    const { output } = await openCommandLine().run([...line, '--help', '--json'])
    const help = JSON.parse(output) as { readonly commands: readonly { readonly name: string }[] }
    return help.commands.map(({ name }) => name)
  }
  expect(await namesOf()).toEqual(commands.map(({ name }) => name))
  expect(await namesOf('outbox')).toEqual([
    'outbox list',
    'outbox show',
    'outbox retry',
    'outbox drop',
  ])
  expect(await namesOf('keys', 'list')).toEqual(['keys list'])
})

test('the help of a group lists its commands only', async () => {
  const { output } = await openCommandLine().run(['users', '--help'])
  expect(output).toContain('users add')
  expect(output).not.toContain('keys create')
})

test('a misspelt command gets a suggestion, and errors name the help of the command', async () => {
  const stage = openCommandLine()
  const { messages } = await stage.run(['keys', 'craete'])
  expect(messages).toBe('rowgate: Unknown command: did you mean keys create? See rowgate --help.\n')
  const option = await stage.run(['keys', 'create', '--usre', 'maria'])
  expect(option.messages).toBe(
    'rowgate: Unknown option --usre: did you mean --user? See rowgate keys create --help.\n',
  )
  const foreign = await stage.run(['users', 'add', 'maria', '--usre', 'maria'])
  expect(foreign.messages).toBe('rowgate: Unknown option --usre. See rowgate users add --help.\n')
  const nowhere = await stage.run(['--usre', 'maria'])
  expect(nowhere.messages).toContain('did you mean --user? See rowgate --help.')
  const wrong = await stage.run(['keys', 'create', '--expires-in', 'x', '--user', 'maria'])
  expect(wrong.code).toBe(2)
  expect(wrong.messages).toContain('See rowgate keys create --help.')
})

test('without a command the help is a message, and wrong usage', async () => {
  const stage = openCommandLine()
  expect(await stage.run([])).toMatchObject({ code: 2, output: '' })
  for (const line of [['keys'], ['keys', 'craete'], ['nonsense']]) {
    const { code, output, messages } = await stage.run(line)
    expect({ code, output }).toEqual({ code: 2, output: '' })
    expect(messages).toMatch(/^rowgate: Unknown command.*See rowgate --help\.\n$/)
  }
})

test('the version is the version', async () => {
  const shown = { code: 0, output: '1.2.3\n', messages: '' }
  expect(await openCommandLine().run(['--version'])).toEqual(shown)
  expect(await openCommandLine().run(['-v'])).toEqual(shown)
  const json = await openCommandLine().run(['--version', '--json'])
  expect(JSON.parse(json.output)).toEqual({ version: '1.2.3' })
})
