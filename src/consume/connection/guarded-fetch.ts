import { lookup, type LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { Agent } from 'undici'
import { addressCheck, type AddressCheck } from './private-addresses.ts'

/** A function with the signature of `fetch`. It must not follow redirects if `redirect` is `manual`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** A `fetch` with connections of its own. */
export interface FetchClient {
  readonly fetch: Fetch
  /** Closes its idle connections; requests in progress continue. */
  close(): Promise<void>
}

/** Certificates as PEM strings. */
export type TrustedCertificates = string | readonly string[]

/** The code of the error for a host with a private address. */
export const privateAddress = 'ROWGATE_PRIVATE_ADDRESS'

/** The code of the error for a runtime on which addresses can't be checked. */
export const uncheckedAddresses = 'ROWGATE_UNCHECKED_ADDRESSES'

const connectTimeout = 10_000

/**
 * Returns a `fetch` that connects to public addresses only, and to those of the allowed ranges. Addresses
 * are checked when a connection is opened, so that neither an IP address in the URL nor a host name that
 * later resolves to another address can avoid the check. `ca` replaces the trusted certificates. undici is
 * loaded by the first call.
 */
export function guardedFetch(allowed: readonly string[], ca?: TrustedCertificates): FetchClient {
  const isAllowed = addressCheck(allowed)
  let loading: Promise<LoadedClient> | undefined
  return {
    fetch: async (url, init) => {
      loading ??= load(isAllowed, ca)
      const { fetch } = await loading
      return fetch(url, init)
    },
    close: async () => {
      const closing = loading
      loading = undefined
      await (await closing)?.agent.close()
    },
  }
}

interface LoadedClient {
  readonly fetch: Fetch
  readonly agent: Agent
}

async function load(isAllowed: AddressCheck, ca?: TrustedCertificates): Promise<LoadedClient> {
  // Bun replaces undici with a module that ignores agents: addresses would not be checked.
  if ('bun' in process.versions) throw coded('Addresses are not checked.', uncheckedAddresses)
  const { Agent, buildConnector, fetch } = await import('undici')
  const connect = buildConnector({
    lookup: guardedLookup(isAllowed),
    timeout: connectTimeout,
    ...(ca !== undefined && { ca: [ca].flat() }),
  })
  const agent = new Agent({
    // The time-outs of the connection limit a call.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (target, done) => {
      // lookup is not called for an IP address.
      const host = target.hostname.replace(/^\[|\]$/g, '')
      if (isIP(host) !== 0 && !isAllowed(host)) done(privateAddressError(), null)
      else connect(target, done)
    },
  })
  const guarded = (url: string, init: object): Promise<unknown> =>
    fetch(url, { ...init, dispatcher: agent })
  // The global types are those of another version of undici.
  return { fetch: guarded as Fetch, agent }
}

function guardedLookup(isAllowed: AddressCheck): LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, found?: LookupAddress[]) => {
      const [first] = found ?? []
      if (error !== null) done(error, '')
      // All of them: a connection is tried with each.
      else if (
        found === undefined ||
        first === undefined ||
        !found.every(({ address }) => isAllowed(address))
      )
        done(privateAddressError(), '')
      else if (options.all === true) done(null, found)
      else done(null, first.address, first.family)
    })
  }
}

function privateAddressError(): NodeJS.ErrnoException {
  return coded('This host has a private address.', privateAddress)
}

function coded(message: string, code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code })
}
