import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { optionsOf, type Command } from '../../src/cli/command.ts'
import { commands } from '../../src/cli/commands.ts'
import type { SqliteDriver } from '../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import { folderOf } from '../kit/folder.ts'
import { openCommandLine, type Run } from './command-line.ts'

const definition = {
  shop: {
    collections: {
      products: {
        key: 'productId',
        fields: { productId: { type: 'text' }, sku: { type: 'text', required: true } },
      },
    },
  },
}

/** Runs an example in a folder with a database and its definition, on a service that has a user. */
async function runExample(example: string, ...flags: readonly string[]): Promise<Run> {
  const workingFolder = folderOf()
  const database = openHandle(drivers[0] as SqliteDriver, join(workingFolder, 'shop.db'))
  database.exec('CREATE TABLE products ("productId" TEXT PRIMARY KEY NOT NULL, sku TEXT)')
  database.close()
  writeFileSync(join(workingFolder, 'shop.json'), JSON.stringify(definition))
  const { service, run } = openCommandLine()
  await service.users.add({ user: 'maria' })
  // No other machine is contacted, and no port is used twice.
  const line = example
    .replace('https://example.com', 'http://127.0.0.1:1')
    .replace('postgres://reader@localhost/', 'postgres://reader@127.0.0.1:1/')
    .replace('shop.ts', example.startsWith('introspect') ? 'new.json' : 'shop.json')
    .replace(/--port \d+/, '--port 0')
    .split(' ')
  const port = line[0] === 'serve' && !line.includes('--port') ? ['--port', '0'] : []
  return run([...line, ...port, ...flags], {
    workingFolder,
    environment: { ROWGATE_KEY: 'key', FORCE_COLOR: '1' },
    stopping: AbortSignal.abort(),
  })
}

const all = commands.map((command) => [command.name, command] as const)

describe.each(all)('rowgate %s', (name, command) => {
  const words = name.split(' ')

  test('has a help with its options and examples, at most 100 columns wide', async () => {
    const { code, output, messages } = await openCommandLine().run([...words, '--help'])
    expect({ code, messages }).toEqual({ code: 0, messages: '' })
    expect(output).toContain(`Usage:\n  rowgate ${name}`)
    for (const option of optionsOf(command)) expect(output).toContain(`--${option.name}`)
    for (const example of command.examples) expect(output).toContain(`  rowgate ${example}`)
    expect(output).toMatch(/Exit codes:\n {2}0 {2}success/)
    for (const line of output.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
  })

  test('rejects an unknown option with exit code 2 and the name of its help', async () => {
    const { code, output, messages } = await openCommandLine().run([...words, '--nonsense'])
    expect({ code, output }).toEqual({ code: 2, output: '' })
    expect(messages).toBe(`rowgate: Unknown option --nonsense. See rowgate ${name} --help.\n`)
  })

  test.each(command.examples)(
    'accepts its example %s, and colors nothing in a pipe',
    async (example) => {
      expect(`${example} `.startsWith(`${name} `)).toBe(true)
      const { code, output, messages } = await runExample(example)
      expect(code, messages).not.toBe(2)
      expect(output + messages).not.toContain('\x1b')
      expect(output + messages).not.toContain('\r')
    },
  )

  test('prints JSON and nothing else with --json', async () => {
    const { code, output, messages } = await runExample(jsonExample(command), '--json')
    expect(code, messages).not.toBe(2)
    expect(output + messages).not.toContain('\x1b')
    if (code === 0) expect(messages).toBe('')
    if (output !== '') expect(() => JSON.parse(output) as unknown).not.toThrow()
    if (succeeding.has(name))
      expect({ code, hasOutput: output !== '' }).toEqual({ code: 0, hasOutput: true })
  })
})

// The others name keys, packages, documents or services that do not exist here.
const succeeding = new Set([
  ...[
    'introspect',
    'serve',
    'schema diff',
    'schema apply',
    'keys create',
    'keys list',
    'keys audit',
  ],
  ...['users add', 'users list', 'users disable', 'users enable', 'users roles', 'users password'],
  ...['users remove', 'completion', 'init'],
])

/** The first example, without an option that the test adds; with --json, `introspect` writes JSON only. */
function jsonExample({ name, examples: [first] }: Command): string {
  if (name === 'users add') return 'users add nino'
  return name === 'introspect' ? 'introspect shop.db' : first
}
