import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { withCommandUse, type CommandUse } from '../command-use.ts'
import type { Delivery, DeliveryDetails } from '../consume/outbox/delivery.ts'
import type { Keyring } from '../security/keys/key-store.ts'
import type { Users } from '../security/users/user-store.ts'
import type { StorageProblem } from '../storage/problem.ts'
import { CommandError, UsageError } from './command-error.ts'
import { errorMessage, printable } from './text.ts'

/** The members of a service that the command line uses. */
export interface ServiceToManage {
  readonly keys: Keyring
  readonly users: Users
  /** Whether its storage keeps changes after the process ends. */
  readonly isDurable?: boolean
  ready(): Promise<void>
  /** Absent in a service of another version. */
  inspect?(
    progress: (
      collection: { readonly application: string; readonly name: string },
      rows: number,
      total: number,
    ) => void,
  ): Promise<readonly StorageProblem[]>
  close(): Promise<void>
}

/** The members of deployment that the command line uses. */
export interface DeploymentToWork {
  work(options: { readonly concurrency: number }): { stop(): Promise<void> }
  /** Calls a listener for each build event. */
  watch?(listener: (event: ShownBuildEvent) => void): unknown
}

/** The members of an outbox that the command line uses. */
export interface OutboxToManage {
  list(options: {
    readonly state?: Delivery['state']
    readonly limit?: number
  }): Promise<readonly Delivery[]>
  get(id: string): Promise<DeliveryDetails | undefined>
  retry(id: string): Promise<Delivery>
  retry(filter: {
    readonly state: 'dead' | 'waiting'
    readonly endpoint?: string | undefined
    readonly since?: Date | string | undefined
  }): Promise<number>
  drop(id: string): Promise<Delivery>
  work(options: { readonly concurrency: number }): { stop(): Promise<void> }
}

/** The parts of a service that have work of their own. The module exports at least one. */
export interface ServiceParts {
  readonly deployment: DeploymentToWork | undefined
  readonly outbox: OutboxToManage | undefined
}

/** The members of build events that are displayed. */
export interface ShownBuildEvent {
  readonly type: string
  readonly releaseId?: string
  readonly status?: string
  readonly error?: unknown
}

/**
 * Returns the service that a module exports as `service` or by default. Throws a CommandError that says
 * what to do if there is no such module, if it throws, or if it exports no service.
 */
export async function loadService(
  named: string | undefined,
  workingFolder: string,
  use: CommandUse = 'write',
): Promise<ServiceToManage> {
  const { exported, shown } = await importedModule(named, workingFolder, use)
  const service = candidatesOf(exported, 'service').find(isService)
  if (service !== undefined) return service
  throw new CommandError(
    `${shown} exports no service. Add: export const service = createService(...)`,
  )
}

/**
 * Returns the parts that the module exports as `deployment` and `outbox`. Throws a CommandError if it exports
 * none.
 */
export async function loadParts(
  named: string | undefined,
  workingFolder: string,
  use: CommandUse = 'write',
): Promise<ServiceParts> {
  const { exported, shown } = await importedModule(named, workingFolder, use)
  const deployment = candidatesOf(exported, 'deployment').find(isDeployment)
  const outbox = candidatesOf(exported, 'outbox').find(isOutbox)
  if (deployment !== undefined || outbox !== undefined) return { deployment, outbox }
  throw new CommandError(
    `${shown} exports no deployment and no outbox. Add: export const deployment = createDeployment(...), or export const outbox = createOutbox(...)`,
  )
}

async function importedModule(
  named: string | undefined,
  workingFolder: string,
  use: CommandUse = 'write',
) {
  const name = named ?? defaultPaths.find((path) => existsSync(resolve(workingFolder, path)))
  if (name === undefined)
    throw new UsageError(
      `Found none of ${defaultPaths.join(', ')}. Name the module of the service with --service or ROWGATE_SERVICE.`,
    )
  const path = resolve(workingFolder, name)
  const shown = printable(name)
  if (!existsSync(path)) throw new UsageError(`File not found: ${shown}.`)
  return { exported: await withCommandUse(use, () => imported(path, shown)), shown }
}

/** Returns the keys of a service. Throws a CommandError if it has none. */
export function keyringOf(service: ServiceToManage): Keyring {
  return part(service, 'keys', ['create', 'list', 'revoke', 'rotate', 'audit'])
}

/** Returns the users of a service. Throws a CommandError if it has none. */
export function usersOf(service: ServiceToManage): Users {
  return part(service, 'users', ['add', 'get', 'list', 'change', 'remove'])
}

const defaultPaths = ['./service.js', './service.mjs', './dist/service.js', './service.ts']

/**
 * Imports a module. Throws a CommandError of one line.
 *
 * @param version differs for each change of the file, because Node loads a URL only once
 */
export async function imported(
  path: string,
  shown: string,
  version = '',
): Promise<Readonly<Record<string, unknown>>> {
  try {
    const { href } = pathToFileURL(path)
    return (await import(version === '' ? href : `${href}?${version}`)) as Record<string, unknown>
  } catch (error) {
    if ((error as NodeJS.ErrnoException | undefined)?.code === 'ERR_UNKNOWN_FILE_EXTENSION')
      throw new CommandError(
        `This version of Node can't load ${shown}: name the built file, or set NODE_OPTIONS="--import tsx".`,
      )
    throw new CommandError(`${shown} could not be loaded: ${errorMessage(error)}`)
  }
}

/**
 * Returns what a module may export under a name or by default. The default export of a CommonJS module contains
 * its exports.
 */
export function candidatesOf(
  exported: Readonly<Record<string, unknown>>,
  name: string,
): readonly unknown[] {
  const whole = exported['default']
  const inside = isObject(whole) ? [whole[name], whole['default']] : []
  return [exported[name], whole, ...inside]
}

function isDeployment(value: unknown): value is DeploymentToWork {
  return isObject(value) && hasMethods(value, ['work']) && !isOutbox(value)
}

function isOutbox(value: unknown): value is OutboxToManage {
  return isObject(value) && hasMethods(value, ['list', 'get', 'retry', 'drop', 'work'])
}

function isService(value: unknown): value is ServiceToManage {
  return isObject(value) && hasMethods(value, ['ready', 'close'])
}

function part<Name extends 'keys' | 'users'>(
  service: ServiceToManage,
  name: Name,
  methods: readonly string[],
): ServiceToManage[Name] {
  const found: unknown = service[name]
  if (isObject(found) && hasMethods(found, methods))
    return found as unknown as ServiceToManage[Name]
  throw new CommandError(`The service has no ${name}. It may use another version of rowgate.`)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function hasMethods(value: Readonly<Record<string, unknown>>, names: readonly string[]): boolean {
  return names.every((name) => typeof value[name] === 'function')
}
