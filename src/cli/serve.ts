import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { administration } from '../administration/administration.ts'
import { adminConsole } from '../console/admin-console.ts'
import type { ApplicationDefinitions } from '../definition/application.ts'
import { explorer } from '../explorer/explorer.ts'
import { serve } from '../http/serve.ts'
import { openapi } from '../openapi/page.ts'
import type { Page } from '../pages/page.ts'
import type { RequestHandler } from '../request/request.ts'
import { apiKeys } from '../security/keys/api-key.ts'
import { createService, type Service } from '../service.ts'
import { mount } from '../storage/mount/mount.ts'
import { sqliteStorage } from '../storage/sqlite/sqlite.ts'
import {
  requiredArgument,
  requiredOf,
  wholeOf,
  type CommandContext,
  type Given,
} from './command.ts'
import type { Database } from './database.ts'
import { loadDefinition, withMistakes } from './load-definition.ts'
import { openDatabase } from './open-database.ts'
import { errorMessage, printable } from './text.ts'
import { counted } from './time.ts'
import { aborted } from './worker.ts'

/** Runs `rowgate serve`: serves a definition on a database, with API keys. */
export async function serveDefinition(given: Given, context: CommandContext): Promise<void> {
  const definition = requiredArgument(given, 'definition')
  const named = requiredOf(given, 'storage', 'database')
  const range = { name: 'port', minimum: 0, maximum: 65_535 }
  const port = wholeOf(given.one('port') ?? '8080', range)
  const host = given.one('host') ?? '127.0.0.1'
  const database = await openDatabase(named, given, context)
  try {
    await serveDatabase(database, { given, definition, address: { port, host } }, context)
  } finally {
    await database.close()
  }
}

interface Serving {
  readonly given: Given
  /** The file of the definition. */
  readonly definition: string
  readonly address: { readonly port: number; readonly host: string }
}

async function serveDatabase(
  database: Database,
  { given, definition, address }: Serving,
  context: CommandContext,
): Promise<void> {
  const { workingFolder, messages } = context
  const stopping = context.stopping()
  const named = given.one('keys')
  const keys = named === undefined ? database.keys : resolve(workingFolder, named)
  const load = async (version?: string): Promise<Loaded> => {
    const applications = await loadDefinition(definition, workingFolder, version)
    return { applications, service: await openService(applications, database, keys) }
  }
  const file = resolve(workingFolder, definition)
  const firstVersion = await versionOf(file)
  const first = await withMistakes(load, context)
  const current = switchable(first.service)
  const serving = await serve(current.service, { ...address, health: true })
  let watched: Promise<void> | undefined
  try {
    const key = await firstKey(first.service, given)
    announce({ url: serving.url, key, keys, loaded: first }, context)
    if (!isLoopback(address.host))
      messages.write(
        'Warning: keys are not encrypted on the network. Serve them over HTTPS only.\n',
      )
    if (given.has('watch')) {
      watched = watch(file, firstVersion, stopping, (version) =>
        reload(() => load(version), current, context),
      )
    }
    await aborted(stopping)
    context.note('Stopping.')
  } finally {
    await watched
    await serving.close()
  }
}

const watchInterval = 200

/**
 * Calls `changed` after each change of a file since `version` was read, until `stopping` is aborted. Node's
 * `watchFile` would miss a change before its own first look at the file.
 */
async function watch(
  file: string,
  version: string,
  stopping: AbortSignal,
  changed: (version: string) => Promise<void>,
): Promise<void> {
  let seen = version
  while (!stopping.aborted) {
    const current = await versionOf(file)
    if (current !== seen) await changed(current)
    seen = current
    await sleep(watchInterval, undefined, { signal: stopping }).catch(() => undefined)
  }
}

/** Returns a string that changes when a file is written. It is the same as long as the file is missing. */
async function versionOf(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined)
  return found === undefined ? 'missing' : `${found.mtimeMs}-${found.size}`
}

type Served = Service<ApplicationDefinitions>

interface Loaded {
  readonly applications: ApplicationDefinitions
  readonly service: Served
}

/** Opens a service. Users and keys have a file of their own, so that nothing is added to the database. */
async function openService(
  applications: ApplicationDefinitions,
  database: Database,
  keys: string,
): Promise<Served> {
  const service = createService({
    // A definition may have administration with options of its own.
    applications: { ...administration().applications, ...applications },
    storage: mount({
      'rowgate-security': sqliteStorage(keys, { ensureSchema: true }),
      '*': database.storage(),
    }),
    pages: pagesOf(applications),
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

/** Returns the pages whose names no application has: the OpenAPI document with the explorer, and the console. */
function pagesOf(applications: ApplicationDefinitions): Readonly<Record<string, Page>> {
  const names = Object.keys(applications).map((name) => name.toLowerCase())
  const isFree = (name: string): boolean => !names.includes(name)
  const title = Object.keys(applications).join(', ') || 'rowgate'
  return {
    ...(isFree('openapi') &&
      isFree('explorer') && {
        openapi: openapi({ title }),
        explorer: explorer({ document: 'openapi' }),
      }),
    ...(isFree('console') && { console: adminConsole({ title }) }),
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
    context.messages.write(`${errorMessage(error)} The previous definition is still served.\n`)
  }
}

const user = 'local'

/**
 * Creates a key if there is none yet, or if another one is wanted. Sets the roles of its user, if any are given. Without
 * any, the first user may manage users and keys in the console. Where there are others, an administrator gives rights.
 */
async function firstKey({ users, keys }: Served, given: Given): Promise<string | undefined> {
  const roles = given.all('role')
  const isFirst = (await users.list({ limit: 1 })).length === 0
  await users.ensure({ user, roles: isFirst ? ['Administrator'] : [] })
  if (roles.length > 0) await users.change(user, { roles })
  if (!given.has('new-key') && (await keys.list()).length > 0) return undefined
  const { key } = await keys.create({ user, description: 'rowgate serve' })
  return key
}

interface Announcement {
  readonly url: string
  readonly key: string | undefined
  /** The file of the keys. */
  readonly keys: string
  readonly loaded: Loaded
}

function announce({ url, key, keys, loaded }: Announcement, context: CommandContext): void {
  const paths = pathsOf(loaded.applications)
  const path = pathToTry(loaded.applications)
  const curl = `curl -H "X-API-Key: ${key ?? '$KEY'}" '${url}/rest/v1/${path ?? ''}?$limit=3'`
  const about = { url, keys, collections: paths.length }
  context.result(key === undefined ? about : { ...about, user, key }, () =>
    [
      `Serving ${counted(paths.length, 'collection')} at ${url}/rest/v1/. Ctrl+C stops.`,
      key === undefined
        ? `The keys are in ${printable(keys)}. Create another one with --new-key.`
        : `A key of the user ${user}, shown only now: ${key}`,
      ...(path === undefined ? [] : [`Try: ${curl}`]),
      ...addressesOf(url, loaded.applications),
    ].join('\n'),
  )
}

/** Returns a line for each page that people open in a browser. */
function addressesOf(url: string, applications: ApplicationDefinitions): readonly string[] {
  const pages = pagesOf(applications)
  return ['console', 'explorer']
    .filter((name) => Object.hasOwn(pages, name))
    .map((name) => `The ${name}, with the key: ${url}/rest/v1/${name}`)
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
