import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { questions, required } from './ask.ts'
import type { CommandContext, Given } from './command.ts'
import { UsageError } from './command-error.ts'
import { printable } from './text.ts'
import { requireEmpty, writeProject } from './write-project.ts'

const servers = { node: 'Node http', express: 'Express', fastify: 'Fastify', hono: 'Hono' }
const storages = {
  sqlite: 'SQLite',
  memory: 'memory',
  postgres: 'PostgreSQL',
  mysql: 'MariaDB or MySQL',
}

// Without SQLite in Node, a project with it may have to compile a driver, which takes longer than all else.
const hasSqlite = (process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown) !== undefined
const defaultStorage = hasSqlite ? 'sqlite' : 'memory'
const urls: Partial<Record<keyof typeof storages, string>> = {
  postgres: 'postgres://postgres@localhost:5432/postgres',
  mysql: 'mysql://root@localhost:3306/test',
}

/** What a new project consists of. */
interface Wishes {
  readonly folder: string
  readonly server: keyof typeof servers
  readonly storage: keyof typeof storages
  /** The URL of the database of a server. */
  readonly database: string | undefined
}

/** What of it was chosen. */
type Answers = { readonly [Name in keyof Wishes]: Wishes[Name] | undefined }

/** Runs `rowgate init`: writes a project that runs, with a key, into an empty folder. */
export async function init(given: Given, context: CommandContext): Promise<void> {
  const wishes = await wishesOf(given, context)
  const { server, storage, database } = wishes
  const folder = resolve(context.workingFolder, wishes.folder)
  requireEmpty(folder, wishes.folder)
  const key = randomBytes(16).toString('base64url')
  const name = packageName(basename(folder))
  const hasDriver = storage === 'sqlite' && !hasSqlite
  const manager = managerOf(context.environment['npm_config_user_agent'], hasDriver)
  const files = await writeProject({
    folder,
    templates: join(
      dirname(createRequire(import.meta.url).resolve('rowgate/package.json')),
      'templates',
    ),
    parts: [
      'base',
      `servers/${server}`,
      `storages/${storage}`,
      ...(hasDriver ? ['drivers/better-sqlite3'] : []),
    ],
    name,
    rowgate: `^${context.version}`,
    variables: { API_KEY: key, ...(database !== undefined && { DATABASE_URL: database }) },
    words: { name, ...manager },
  })
  const place = relative(context.workingFolder, folder)
  const commands = [
    ...(place === '' ? [] : [`cd ${shellWord(place)}`]),
    manager.install,
    manager.start,
  ]
  const curl = `curl -H "X-API-Key: ${key}" http://localhost:8080/rest/v1/library/books`
  context.result({ folder, name, server, storage, files, key, commands, curl }, () =>
    [
      `Created ${printable(name)} with ${servers[server]} and ${storages[storage]}. Start it:`,
      ...noteOf(storage),
      '',
      ...commands.map((command) => `  ${printable(command)}`),
      '',
      'Then, in another terminal:',
      '',
      `  ${curl}`,
      '',
      'In a browser, with the key: the console at http://localhost:8080/rest/v1/console',
      'for the items, and the explorer at http://localhost:8080/rest/v1/explorer for requests.',
      'The key is in .env, which git ignores. It is shown only now.',
    ].join('\n'),
  )
}

/** Returns what a user of a Node without SQLite should know about the storage before the installation. */
function noteOf(storage: Wishes['storage']): readonly string[] {
  if (hasSqlite) return []
  const node = `Node ${process.versions.node} has no SQLite; Node 22.13 and later have it.`
  if (storage === 'memory')
    return ['', `${node} So the items are in memory, and lost when the server stops.`]
  if (storage !== 'sqlite') return []
  return [
    '',
    `${node} So the project installs better-sqlite3. If its`,
    'binary cannot be downloaded from GitHub, it is compiled, which takes a minute or two and',
    'needs Python and a C++ compiler.',
  ]
}

async function wishesOf(given: Given, context: CommandContext): Promise<Wishes> {
  const chosen: Answers = {
    folder: given.argument,
    server: given.one('server') as Answers['server'],
    storage: given.one('storage') as Answers['storage'],
    database: given.one('database'),
  }
  const wishes = context.interactive && !given.has('yes') ? await asked(chosen, context) : chosen
  const { folder = '.', server = 'node', storage = defaultStorage } = wishes
  if (!context.interactive && !given.has('yes') && (chosen.server ?? chosen.storage) === undefined)
    throw new UsageError(
      'Without a terminal, add --yes for the defaults, or choose with --server and --storage.',
    )
  const url = urls[storage]
  if (wishes.database !== undefined && url === undefined)
    throw new UsageError('--database requires --storage postgres or --storage mysql.')
  const database = wishes.database ?? url
  if (database !== undefined && !/^[^\s\p{C}]+$/u.test(database))
    throw new UsageError(`--database must be a URL such as ${url ?? ''}.`)
  return { folder, server, storage, database }
}

/** Prompts for missing arguments. */
async function asked(
  { folder, server, storage, database }: Answers,
  context: CommandContext,
): Promise<Answers> {
  const ask = questions(context)
  const choices = (labels: Readonly<Record<string, string>>, first?: string) =>
    Object.entries(labels)
      .map(([value, label]) => ({ value, label }))
      .toSorted((left, right) => Number(right.value === first) - Number(left.value === first))
  const place = folder ?? (await ask.text('Which folder is the project for?', 'library', required))
  const runs = server ?? (await ask.choose('Which server?', choices(servers)))
  const keeps = (storage ??
    (await ask.choose(
      'Where are the items stored?',
      choices(storages, defaultStorage),
    ))) as Wishes['storage']
  const url = urls[keeps]
  const reaches =
    database ?? (url === undefined ? undefined : await ask.text('The URL of the database?', url))
  return { folder: place, server: runs as Wishes['server'], storage: keeps, database: reaches }
}

/** Returns the commands of the package manager that runs this process: npm, unless it is known to be another one. */
function managerOf(agent = '', compiles = false) {
  const [, name = 'npm'] = /^(npm|pnpm|yarn|bun)\//.exec(agent) ?? []
  return {
    // npm alone shows nothing while it compiles.
    install: `${name} install${compiles && name === 'npm' ? ' --foreground-scripts' : ''}`,
    start: name === 'bun' ? 'bun run start' : `${name} start`,
    test: name === 'bun' ? 'bun run test' : `${name} test`,
    run: `${name} run`,
  }
}

/** Returns a valid package name that is like the name of the folder. */
function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '')
    .slice(0, 100)
  // A package cannot depend on itself.
  return name === '' || name === 'rowgate' ? 'library' : name
}

function shellWord(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
