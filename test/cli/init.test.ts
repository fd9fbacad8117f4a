import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from '../../.ci/entries.ts'
import manifest from '../../package.json' with { type: 'json' }
import { folderOf } from '../kit/folder.ts'
import { down, enter, runAlone, type Scene } from './command-line.ts'

const servers = ['node', 'express', 'fastify', 'hono'] as const
const storages = ['sqlite', 'memory', 'postgres', 'mysql'] as const
const hasSqlite = (process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown) !== undefined
const pairs = servers.flatMap((server) => storages.map((storage) => ({ server, storage })))

interface Created {
  readonly folder: string
  readonly name: string
  readonly files: readonly string[]
  readonly key: string
  readonly commands: readonly string[]
  readonly curl: string
}

async function create(
  workingFolder: string,
  line: readonly string[],
  environment: Scene['environment'] = {},
): Promise<Created> {
  const run = await runAlone(['init', ...line, '--json'], { workingFolder, environment })
  expect(run, run.messages).toMatchObject({ code: 0, messages: '' })
  return JSON.parse(run.output) as Created
}

function textIn(folder: string, path: string): string {
  return readFileSync(join(folder, path), 'utf8')
}

function manifestIn(folder: string) {
  return JSON.parse(textIn(folder, 'package.json')) as Readonly<
    Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>
  > & { readonly name: string }
}

describe('a project of every server and storage', () => {
  // In the repository, so that programs find the packages that they import.
  let workshop: string
  const created = new Map<string, Created>()

  beforeAll(async () => {
    mkdirSync(join(root, '.data'), { recursive: true })
    workshop = mkdtempSync(join(root, '.data', 'init-'))
    for (const { server, storage } of pairs) {
      const name = `${server}-${storage}`
      const flags = ['--server', server, '--storage', storage]
      created.set(name, await create(workshop, [name, ...flags]))
    }
  })
  afterAll(() => rmSync(workshop, { recursive: true, force: true }))

  test('compiles with its own options', () => {
    const files = [...created.values()].flatMap(({ folder, files }) =>
      files.filter((file) => file.endsWith('.ts')).map((file) => join(folder, file)),
    )
    expect(files).toHaveLength(pairs.length * 5)
    expect(mistakesIn(files, join(workshop, 'node-sqlite/tsconfig.json'))).toEqual([])
  }, 120_000)

  test.each(pairs)(
    '$server, $storage: has the same files and what they import',
    ({ server, storage }) => {
      const { folder, files, name } = created.get(`${server}-${storage}`) as Created
      expect(name).toBe(`${server}-${storage}`)
      expect(files).toEqual([
        ...['.dockerignore', '.env', '.env.example', '.gitignore', 'Dockerfile', 'README.md'],
        ...[
          'package.json',
          'src/library.test.ts',
          'src/library.ts',
          'src/server.ts',
          'src/service.ts',
        ],
        ...['src/storage.ts', 'tsconfig.json'],
      ])
      const { dependencies, devDependencies } = manifestIn(folder)
      for (const file of files.filter((each) => each.endsWith('.ts')))
        for (const { fileName } of ts.preProcessFile(textIn(folder, file)).importedFiles) {
          const [, name] = /^((?:@[^/]+\/)?[^/]+)/.exec(fileName) ?? []
          if (!/^(?:\.|node:)/.test(fileName)) expect(Object.keys(dependencies)).toContain(name)
        }
      expect(textIn(folder, 'README.md')).not.toContain('{{')
      // What is tested here is what is installed there.
      for (const [name, range] of Object.entries({ ...dependencies, ...devDependencies })) {
        const own = manifest.devDependencies[name as keyof typeof manifest.devDependencies]
        if (name !== 'rowgate')
          expect([name, /\d+/.exec(range)?.[0]]).toEqual([name, /\d+/.exec(own)?.[0]])
      }
    },
  )

  test('keeps the key where git ignores it and only the user may read it', () => {
    const { folder, key, curl, files } = created.get('node-memory') as Created
    expect(key).toMatch(/^[\w-]{22}$/)
    expect(curl).toContain(`X-API-Key: ${key}`)
    expect(textIn(folder, '.gitignore').split('\n')).toContain('.env')
    expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600)
    for (const file of files) expect(textIn(folder, file).includes(key)).toBe(file === '.env')
    const keys = [...created.values()].map((each) => each.key)
    expect(new Set(keys).size).toBe(pairs.length)
  })
})

test('the text shows the next commands and the key', async () => {
  const workingFolder = folderOf()
  const environment = { npm_config_user_agent: 'pnpm/10.1.0 npm/? node/v20.19.0 linux x64' }
  const scene = { workingFolder, environment }
  const { code, output } = await runAlone(['init', 'My Shop', '--yes'], scene)
  expect(code).toBe(0)
  const key = /^API_KEY=(.*)$/m.exec(textIn(workingFolder, 'My Shop/.env'))?.[1] ?? ''
  expect(output).toContain(`\n\n  cd 'My Shop'\n  pnpm install\n  pnpm start\n\n`)
  expect(output).toContain(
    `  curl -H "X-API-Key: ${key}" http://localhost:8080/rest/v1/library/books\n`,
  )
  expect(manifestIn(join(workingFolder, 'My Shop')).name).toBe('my-shop')
  expect(textIn(workingFolder, 'My Shop/README.md')).toContain('pnpm install\npnpm start\n')
})

test('the URL of a database is kept in .env', async () => {
  const workingFolder = folderOf()
  const database = 'postgres://maria:secret@db.example.com/shop'
  await create(workingFolder, ['a', '--storage', 'postgres', '--database', database])
  expect(textIn(workingFolder, 'a/.env')).toContain(`\nDATABASE_URL=${database}\n`)
  expect(textIn(workingFolder, 'a/.env.example')).not.toContain('secret')
})

describe('a folder that is not empty', () => {
  test.each(['.hidden', 'package.json'])('with %s stays unchanged', async (file) => {
    const workingFolder = folderOf()
    writeFileSync(join(workingFolder, file), 'mine')
    for (const folder of [[], ['.']]) {
      const run = await runAlone(['init', ...folder, '--yes'], { workingFolder })
      expect(run).toMatchObject({ code: 1, output: '' })
      expect(run.messages).toContain('is not empty: nothing was written.')
    }
    expect(readdirSync(workingFolder)).toEqual([file])
    expect(textIn(workingFolder, file)).toBe('mine')
  })

  test('that is a file is rejected', async () => {
    const workingFolder = folderOf()
    writeFileSync(join(workingFolder, 'shop'), 'mine')
    const run = await runAlone(['init', 'shop', '--yes'], { workingFolder })
    expect(run).toMatchObject({ code: 1, output: '' })
  })
})

describe('wrong usage writes nothing', () => {
  test.each([
    [['shop'], 'add --yes for the defaults'],
    [['shop', '--server', 'koa'], '--server must be one of node, express, fastify, hono.'],
    [['shop', '--storage', 'mongo'], '--storage must be one of sqlite, memory, postgres, mysql.'],
    [['shop', '--yes', '--database', 'mysql://localhost/a'], '--database requires --storage'],
    [['shop', '--storage', 'mysql', '--database', 'a\nKEY=b'], '--database must be a URL'],
  ])('%j', async (line, message) => {
    const workingFolder = folderOf()
    const run = await runAlone(['init', ...line], { workingFolder })
    expect(run).toMatchObject({ code: 2, output: '' })
    expect(run.messages).toContain(message)
    expect(existsSync(join(workingFolder, 'shop'))).toBe(false)
  })
})

test('at a terminal it asks for what is not given', async () => {
  const workingFolder = folderOf()
  const run = await runAlone(['init'], {
    workingFolder,
    width: 80,
    answers: [
      ['Which folder', `shop${enter}`],
      ['Which server?', `${down}${enter}`],
      ['Where are the items stored?', `${down}${down}${enter}`],
      ['The URL of the database?', enter],
    ],
  })
  expect(run.code, run.messages).toBe(0)
  expect(textIn(workingFolder, 'shop/src/server.ts')).toContain("from 'express'")
  expect(textIn(workingFolder, 'shop/src/storage.ts')).toContain('postgresStorage')
  expect(textIn(workingFolder, 'shop/.env')).toContain(
    '\nDATABASE_URL=postgres://postgres@localhost:5432/postgres\n',
  )
})

test('at a terminal, flags and --yes answer the questions', async () => {
  const workingFolder = folderOf()
  const answers = [] as const
  const line = ['init', 'shop', '--server', 'hono', '--yes']
  const run = await runAlone(line, { workingFolder, width: 80, answers })
  expect(run.code, run.messages).toBe(0)
  expect(run.output).toContain(`Created shop with Hono and ${hasSqlite ? 'SQLite' : 'memory'}.`)
})

describe.skipIf(hasSqlite)('on a Node without SQLite', () => {
  test('the default needs nothing to be compiled, and the text says what that means', async () => {
    const workingFolder = folderOf()
    const { output } = await runAlone(['init', 'shop', '--yes'], { workingFolder })
    expect(output).toContain(
      'has no SQLite; Node 22.13 and later have it. So the items are in memory',
    )
    expect(output).toContain('  npm install\n')
    expect(Object.keys(manifestIn(join(workingFolder, 'shop')).dependencies)).toEqual(['rowgate'])
    expect(textIn(workingFolder, 'shop/src/storage.ts')).toContain('memoryStorage()')
  })

  test.each([
    ['npm/11.0.0', 'npm install --foreground-scripts'],
    ['pnpm/10.1.0', 'pnpm install'],
  ])(
    'with --storage sqlite and %s, the text says that the driver may be compiled',
    async (agent, install) => {
      const workingFolder = folderOf()
      const scene = {
        workingFolder,
        environment: { npm_config_user_agent: `${agent} node/v20.19.0` },
      }
      const { output } = await runAlone(['init', 'shop', '--storage', 'sqlite'], scene)
      expect(output).toContain('it is compiled, which takes a minute or two')
      expect(output).toContain(`\n  ${install}\n`)
      expect(textIn(workingFolder, 'shop/README.md')).toContain(`\n${install}\n`)
      expect(manifestIn(join(workingFolder, 'shop')).dependencies['better-sqlite3']).toBe('^12.0.0')
    },
  )
})

test.runIf(hasSqlite)('on a Node with SQLite, nothing is installed for it', async () => {
  const workingFolder = folderOf()
  const { output } = await runAlone(['init', 'shop', '--yes'], { workingFolder })
  expect(output).not.toContain('has no SQLite')
  expect(Object.keys(manifestIn(join(workingFolder, 'shop')).dependencies)).toEqual(['rowgate'])
  expect(textIn(workingFolder, 'shop/src/storage.ts')).toContain(
    "process.env.DATABASE ?? 'data.db'",
  )
})

/** Type-checks programs against the source of the package, with the options of a project. */
function mistakesIn(files: readonly string[], configFile: string): readonly string[] {
  const optionsOf = (path: string) => {
    const json = ts.readConfigFile(path, (file) => ts.sys.readFile(file)).config as unknown
    return ts.parseJsonConfigFileContent(json, ts.sys, root).options
  }
  const { rootDir: _, outDir: __, ...own } = optionsOf(configFile)
  const { paths = {}, lib = [] } = optionsOf(join(root, 'tsconfig.json'))
  const options = { ...own, paths, lib, resolveJsonModule: true, noEmit: true }
  const program = ts.createProgram([...files], options)
  return files.flatMap((file) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(file))
      .map(({ messageText }) => `${file}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`),
  )
}
