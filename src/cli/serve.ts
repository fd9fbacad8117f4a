import { existsSync, unwatchFile, watchFile } from 'node:fs'
import { extname, resolve } from 'node:path'
import type { ApplicationDefinitions } from '../definition/application.ts'
import { serve } from '../http/serve.ts'
import type { RequestHandler } from '../request/request.ts'
import { apiKeys } from '../security/keys/api-key.ts'
import { createService, type Service } from '../service.ts'
import { mount } from '../storage/mount.ts'
import { sqliteStorage } from '../storage/sqlite.ts'
import {
  requiredArgument,
  requiredOf,
  wholeOf,
  type Command,
  type CommandContext,
  type Given,
} from './command.ts'
import { CommandError } from './command-error.ts'
import { loadDefinition, withMistakes } from './load-definition.ts'
import { messageOf, printable } from './text.ts'
import { counted } from './time.ts'
import { aborted } from './worker.ts'

/** The command `rowgate serve`: serves a definition on a SQLite database, with API keys. */
export const serveCommand: Command = {
  name: 'serve',
  argument: 'definition',
  description: 'Serve a definition on a SQLite database, with API keys',
  options: [
    { name: 'storage', value: 'file', description: 'The database, whose tables must exist' },
    { name: 'port', value: 'number', description: 'Default: 8080; 0: any free port' },
    {
      name: 'host',
      value: 'address',
      description: 'Default: 127.0.0.1, which only this machine can reach',
    },
    {
      name: 'keys',
      value: 'file',
      description: 'The database of the API keys (default: beside it, as in shop.keys.db)',
    },
    {
      name: 'role',
      value: 'name',
      description: 'A role of the user of the keys',
      repeats: true,
    },
    { name: 'new-key', description: 'Create another key and show it once' },
    { name: 'watch', description: 'Reload the definition when its file changes' },
  ],
  withoutService: true,
  example: 'serve shop.ts --storage shop.db',
  run: serveDefinition,
}

async function serveDefinition(given: Given, context: CommandContext): Promise<void> {
  const definition = requiredArgument(given, 'definition')
  const files = filesOf(given, context)
  const range = { name: 'port', unit: 'a port', minimum: 0, maximum: 65_535 }
  const port = wholeOf(given.one('port') ?? '8080', range)
  const host = given.one('host') ?? '127.0.0.1'
  const { workingFolder, messages } = context
  const stopping = context.stopping()
  const load = async (version?: string): Promise<Loaded> => {
    const applications = await loadDefinition(definition, workingFolder, version)
    return { applications, service: await openService(applications, files) }
  }
  const first = await withMistakes(load, context)
  const current = switchable(first.service)
  const serving = await serve(current.service, { port, host })
  let watched: Promise<void> = Promise.resolve()
  try {
    const key = await firstKey(first.service, given)
    announce({ url: serving.url, key, files, loaded: first }, context)
    if (!isLoopback(host))
      messages.write(
        'Warning: keys are not encrypted on the network. Serve them over HTTPS only.\n',
      )
    if (given.has('watch')) {
      watchFile(resolve(workingFolder, definition), { interval: 200 }, ({ mtimeMs }) => {
        watched = watched.then(() => reload(() => load(String(mtimeMs)), current, context))
      })
    }
    await aborted(stopping)
    context.note('Stopping.')
  } finally {
    unwatchFile(resolve(workingFolder, definition))
    await watched
    await serving.close()
  }
}

/** The files of a served database. */
interface Files {
  readonly data: string
  readonly keys: string
}

function filesOf(given: Given, { workingFolder }: CommandContext): Files {
  const data = requiredOf(given, 'storage', 'file')
  const path = resolve(workingFolder, data)
  if (!existsSync(path)) throw new CommandError(`File not found: ${printable(data)}.`)
  const besides = `${path.slice(0, path.length - extname(path).length)}.keys.db`
  const keys = given.one('keys')
  return { data: path, keys: keys === undefined ? besides : resolve(workingFolder, keys) }
}

type Served = Service<ApplicationDefinitions>

interface Loaded {
  readonly applications: ApplicationDefinitions
  readonly service: Served
}

/** Opens a service. Users and keys have a file of their own, so that nothing is added to the database. */
async function openService(applications: ApplicationDefinitions, files: Files): Promise<Served> {
  const service = createService({
    applications,
    storage: mount({
      'rowgate-security': sqliteStorage(files.keys, { ensureSchema: true }),
      '*': sqliteStorage(files.data),
    }),
    security: apiKeys({ name: 'API Key', properties: { AllowInsecureHttp: true } }),
  })
  try {
    await service.ready()
    return service
  } catch (error) {
    await service.close()
    throw error
  }
}

/** Returns a service that another one can replace while the server runs. */
function switchable(first: Served) {
  let current = first
  const service: RequestHandler & Pick<Served, 'ready' | 'close'> = {
    handle: (request) => current.handle(request),
    serves: (target) => current.serves(target),
    ready: () => current.ready(),
    close: () => current.close(),
  }
  return {
    service,
    /** Replaces the service, and closes the old one after its requests in progress. */
    async replace(next: Served): Promise<void> {
      const old = current
      current = next
      await old.close()
    },
  }
}

async function reload(
  load: () => Promise<Loaded>,
  current: ReturnType<typeof switchable>,
  context: CommandContext,
): Promise<void> {
  try {
    const { service, applications } = await withMistakes(load, context)
    await current.replace(service)
    context.note(`Reloaded: ${counted(pathsOf(applications).length, 'collection')}.`)
  } catch (error) {
    context.messages.write(`${messageOf(error)} The previous definition is still served.\n`)
  }
}

const user = 'local'

/** Creates a key if there is none yet, or if another one is wanted. Sets the roles of its user, if any are given. */
async function firstKey({ users, keys }: Served, given: Given): Promise<string | undefined> {
  const roles = given.all('role')
  await users.ensure({ user, roles })
  if (roles.length > 0) await users.change(user, { roles })
  if (!given.has('new-key') && (await keys.list()).length > 0) return undefined
  const { key } = await keys.create({ user, description: 'rowgate serve' })
  return key
}

interface Announcement {
  readonly url: string
  readonly key: string | undefined
  readonly files: Files
  readonly loaded: Loaded
}

function announce({ url, key, files, loaded }: Announcement, context: CommandContext): void {
  const paths = pathsOf(loaded.applications)
  const path = pathToTry(loaded.applications)
  const curl = `curl -H "X-API-Key: ${key ?? '$KEY'}" '${url}/rest/v1/${path ?? ''}?$limit=3'`
  const about = { url, keys: files.keys, collections: paths.length }
  context.result(key === undefined ? about : { ...about, user, key }, () =>
    [
      `Serving ${counted(paths.length, 'collection')} at ${url}/rest/v1/. Ctrl+C stops.`,
      key === undefined
        ? `The keys are in ${printable(files.keys)}. Create another one with --new-key.`
        : `A key of the user ${user}, shown only now: ${key}`,
      ...(path === undefined ? [] : [`Try: ${curl}`]),
    ].join('\n'),
  )
}

function pathsOf(applications: ApplicationDefinitions): readonly string[] {
  return Object.entries(applications).flatMap(([application, { collections }]) =>
    Object.keys(collections).map((name) => `${application}/${name}`),
  )
}

/** Returns the path of a collection whose pages need no conditions. */
function pathToTry(applications: ApplicationDefinitions): string | undefined {
  for (const [application, { collections }] of Object.entries(applications)) {
    const found = Object.entries(collections).find(
      ([, { publishes = ['Filter'], requiredFilters = [], singleton }]) =>
        publishes.includes('Filter') && requiredFilters.length === 0 && singleton !== true,
    )
    if (found !== undefined) return `${application}/${found[0]}`
  }
  return undefined
}

function isLoopback(host: string): boolean {
  return /^(?:127\.|localhost$|::1$)/.test(host)
}
