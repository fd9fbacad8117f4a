import { requirePlainObject } from '../checks/plain-object.ts'
import type { Credentials } from '../request/request.ts'

/** Options of {@link credentials}. */
export interface CredentialsOptions {
  /** Headers by name, in any letter case. A list stands for a repeated header. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** The target with its query. Default `/rest/v1/app/items`. */
  readonly target?: string
  /** Default true. */
  readonly secure?: boolean
  /** Default: unknown. */
  readonly peer?: string
}

/** Creates a request as security providers see it: `credentials({ headers: { 'X-API-Key': 'k' } })`. */
export function credentials(options: CredentialsOptions = {}): Credentials {
  requirePlainObject('The options', options, 'credentials')
  requirePlainObject('The headers', options.headers ?? {}, 'credentials')
  const headers = new Map<string, string>()
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    const joint = name.toLowerCase() === 'cookie' ? '; ' : ', '
    headers.set(name.toLowerCase(), typeof value === 'string' ? value : value.join(joint))
  }
  return Object.freeze({
    target: options.target ?? '/rest/v1/app/items',
    header: (name: string) => headers.get(name),
    secure: options.secure ?? true,
    peer: options.peer,
  })
}

/** Returns a copy of a request with the given members replaced. Null removes a header. */
export function changed(
  request: Credentials,
  options: {
    readonly headers?: Readonly<Record<string, string | null>>
    readonly target?: string
    readonly secure?: boolean
  },
): Credentials {
  const headers = new Map(Object.entries(options.headers ?? {}))
  return {
    target: options.target ?? request.target,
    header: (name) => {
      const value = headers.get(name)
      return value === undefined ? request.header(name) : (value ?? undefined)
    },
    secure: options.secure ?? request.secure,
    peer: request.peer,
  }
}

/** Returns a request that records which headers and members are read. */
export function watched(request: Credentials): {
  readonly request: Credentials
  /** The names of the headers that were read. */
  readonly headers: Set<string>
  /** The members that were read. */
  readonly members: Set<string>
} {
  const headers = new Set<string>()
  const members = new Set<string>()
  const recording: Credentials = {
    ...changed(request, {}),
    header: (name) => {
      headers.add(name)
      return request.header(name)
    },
  }
  const proxy = new Proxy(recording, {
    get: (target, name, receiver): unknown => {
      if (typeof name === 'string') members.add(name)
      return Reflect.get(target, name, receiver)
    },
  })
  return { request: proxy, headers, members }
}
