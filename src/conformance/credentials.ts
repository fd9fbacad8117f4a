import type { Credentials } from '../request/request.ts'

/** What a request for {@link credentials} is made of. */
export interface RequestParts {
  /** Headers by name, in any letter case; a list is joined as headers that came several times are. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** The target with its query. Default `/rest/v1/app/items`. */
  readonly target?: string
  /** Default true. */
  readonly secure?: boolean
  /** Default: unknown. */
  readonly peer?: string
}

/** Makes a request as security providers see it: `credentials({ headers: { 'X-API-Key': 'k' } })`. */
export function credentials(parts: RequestParts = {}): Credentials {
  const headers = new Map<string, string>()
  for (const [name, value] of Object.entries(parts.headers ?? {})) {
    const joint = name.toLowerCase() === 'cookie' ? '; ' : ', '
    headers.set(name.toLowerCase(), typeof value === 'string' ? value : value.join(joint))
  }
  return Object.freeze({
    target: parts.target ?? '/rest/v1/app/items',
    header: (name: string) => headers.get(name),
    secure: parts.secure ?? true,
    peer: parts.peer,
  })
}

/** A request that differs from another one in the parts that are given; null takes a header away. */
export function changed(
  request: Credentials,
  parts: {
    readonly headers?: Readonly<Record<string, string | null>>
    readonly target?: string
    readonly secure?: boolean
  },
): Credentials {
  const headers = new Map(Object.entries(parts.headers ?? {}))
  return {
    target: parts.target ?? request.target,
    header: (name) => {
      const value = headers.get(name)
      return value === undefined ? request.header(name) : (value ?? undefined)
    },
    secure: parts.secure ?? request.secure,
    peer: request.peer,
  }
}

/** A request that takes note of what is asked of it. */
export function watched(request: Credentials): {
  readonly request: Credentials
  /** The names of the headers that were asked for. */
  readonly headers: Set<string>
  /** The members that were read. */
  readonly members: Set<string>
} {
  const headers = new Set<string>()
  const members = new Set<string>()
  const noting: Credentials = {
    ...changed(request, {}),
    header: (name) => {
      headers.add(name)
      return request.header(name)
    },
  }
  const proxy = new Proxy(noting, {
    get: (target, name, receiver): unknown => {
      if (typeof name === 'string') members.add(name)
      return Reflect.get(target, name, receiver)
    },
  })
  return { request: proxy, headers, members }
}
