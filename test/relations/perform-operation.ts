import { isServiceError, principal, system } from '../../src/entries/index.ts'
import type { TestService } from '../kit/service.ts'
import { visitor } from '../kit/visitors.ts'
import { call as send } from '../kit/stage.ts'
import { valueOf, type RandomApplication } from './random-application.ts'
import type { Call, Operation } from './random-operation.ts'

/** The rows of each collection. */
export type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

type Seen = RandomApplication & { readonly rows: Rows }

const callers = {
  ada: visitor('ada'),
  bob: visitor('bob'),
  chief: visitor('carl', { roles: 'Chief' }),
} as const

/** Performs an operation. Returns what its caller receives. */
export async function perform(
  application: Seen,
  service: TestService['service'],
  step: Operation,
): Promise<string> {
  switch (step.do) {
    case 'request': {
      const { call } = step
      const name = nameOf(application, call.at)
      if (call.do === 'insert') {
        const body = bodyOf(application, name, call)
        return request(service, call.who, { method: 'POST', path: `/${name}`, body })
      }
      const parts = keyOf(application, name, call.key)
      const path = `/${name}/${parts.map((part) => encodeURIComponent(String(part))).join(',')}`
      if (call.do === 'delete') return request(service, call.who, { method: 'DELETE', path })
      const body = bodyOf(application, name, call)
      return request(service, call.who, { method: 'POST', path, body })
    }
    case 'page':
      return request(service, step.who, {
        method: 'GET',
        path: `/${nameOf(application, step.at)}?$count=true`,
      })
    case 'call': {
      const own = service.as(principalOf(step.call.who))
      return settled(() =>
        invoke(application, (name) => own.collection('app', name) as never, step.call),
      )
    }
    case 'transaction':
      return settled(() =>
        service.as(principalOf(step.who)).transaction(async ({ collection }) => {
          const results: unknown[] = []
          for (const call of step.calls) {
            const access = (name: string) => collection('app', name) as never
            const invoked = () => invoke(application, access, call)
            results.push(step.catches ? await settled(invoked) : await invoked())
          }
          if (step.throws) throw new Error(JSON.stringify(results))
          return results
        }),
      )
  }
}

async function request(
  service: TestService['service'],
  who: string,
  asked: { readonly method: string; readonly path: string; readonly body?: unknown },
): Promise<string> {
  const headers = callers[who as keyof typeof callers]
  const { status, text } = await send(service, { who: headers, ...asked })
  return `${status} ${text}`
}

function principalOf(who: string) {
  return who === 'chief' ? system : principal(who)
}

async function settled(work: () => Promise<unknown>): Promise<string> {
  try {
    const result = await work()
    const isRejection = (result as { rejected?: boolean } | undefined)?.rejected === true
    return `${isRejection ? 'rejected ' : ''}${JSON.stringify(result)}`
  } catch (error) {
    const { message } = error as Error
    return `error ${isServiceError(error) ? error.code : (error as Error).name}: ${message}`
  }
}

type Access = Record<string, (...given: unknown[]) => Promise<unknown>>

function invoke(application: Seen, access: (name: string) => Access, call: Call): Promise<unknown> {
  const name = nameOf(application, call.at)
  const own = access(name) as Record<Call['do'], Access[string]>
  switch (call.do) {
    case 'insert':
      return own.insert(bodyOf(application, name, call))
    case 'update':
      return own.update(keyIn(application, name, call.key), bodyOf(application, name, call))
    case 'delete':
      return own.delete(keyIn(application, name, call.key))
    case 'insertMany':
      return own.insertMany(
        call.items.map(([key, item]) => bodyOf(application, name, { do: 'insert', key, item })),
      )
    case 'updateMany':
      return own.updateMany(conditionOf(application, name, call), bodyOf(application, name, call))
    case 'deleteMany':
      return own.deleteMany(conditionOf(application, name, call))
  }
}

function nameOf({ names }: RandomApplication, at: number): string {
  return names[at % names.length] as string
}

/** Returns the key of one of the rows. */
function keyOf(
  application: Seen,
  name: string,
  [index]: readonly [number, number],
): readonly (string | number | boolean)[] {
  const rows = application.rows[name] ?? []
  const row = rows[index % (rows.length + (index === 9 ? 1 : 0))]
  if (row === undefined) return newKey(application, name, [index, index])
  return (application.keys[name] ?? []).map((field) => row[field] as string)
}

function newKey(
  { keys, types }: RandomApplication,
  name: string,
  parts: readonly [number, number],
): readonly (string | number | boolean)[] {
  return (keys[name] ?? []).map((field, index) =>
    valueOf(types[name]?.[field] as never, parts[index] ?? 0),
  )
}

function keyIn(application: Seen, name: string, parts: readonly [number, number]) {
  const key = keyOf(application, name, parts)
  return key.length === 1 ? key[0] : key
}

/** Returns the values of an item: for an update only those of some fields. */
function bodyOf(
  application: RandomApplication,
  name: string,
  {
    do: event,
    key,
    item,
    fields,
  }: {
    readonly do: string
    readonly key?: readonly [number, number]
    readonly item: readonly (number | null)[]
    readonly fields?: readonly number[]
  },
): Readonly<Record<string, unknown>> {
  const all = Object.entries(application.types[name] ?? {})
  const own = application.keys[name] ?? []
  const keys = newKey(application, name, key ?? [0, 0])
  const chosen = new Set(fields?.map((index) => index % all.length))
  return Object.fromEntries(
    all.flatMap(([field, type], index): readonly (readonly [string, unknown])[] => {
      if (event !== 'insert' && !chosen.has(index)) return []
      const number = item[index] ?? null
      if (event === 'insert' && own.includes(field)) return [[field, keys[own.indexOf(field)]]]
      if (number === 3 && event === 'insert') return []
      if (field === 'owner') return [[field, ['ada', 'bob', 'carl'][(number ?? 0) % 3]]]
      if (number === null) return [[field, null]]
      return [[field, valueOf(type, number)]]
    }),
  )
}

function conditionOf(
  { types }: RandomApplication,
  name: string,
  { field, value }: { readonly field: number; readonly value: number | null },
): Readonly<Record<string, unknown>> {
  const all = Object.entries(types[name] ?? {})
  const [chosen, type] = all[field % all.length] as [string, never]
  return {
    [chosen]:
      value === null ? { isNull: false } : { in: [valueOf(type, value), valueOf(type, value + 1)] },
  }
}
