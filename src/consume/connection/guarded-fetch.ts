import { lookup, type LookupAddress } from 'node:dns'
import { Agent as HttpAgent, type AgentOptions } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { coded, nodeFetch, type Fetch } from './node-fetch.ts'
import { addressCheck, type AddressCheck } from './private-addresses.ts'

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

/** Milliseconds after which an idle connection is closed. Most servers keep them for five seconds. */
const idleTimeout = 4_000

/**
 * Returns a `fetch` that connects only to public addresses and to addresses of the allowed ranges; to all addresses if
 * `allowed` is true. Addresses are checked when a connection is opened, so that neither an IP address in the URL nor
 * a host name that later resolves to another address can avoid the check. `ca` replaces the trusted certificates.
 */
export function guardedFetch(
  allowed: true | readonly string[],
  ca?: TrustedCertificates,
): FetchClient {
  const isAllowed = allowed === true ? () => true : addressCheck(allowed)
  const options: AgentOptions = {
    keepAlive: true,
    timeout: idleTimeout,
    ...(allowed !== true && { lookup: guardedLookup(isAllowed) }),
  }
  const http = new HttpAgent(options)
  const https = new HttpsAgent({ ...options, ...(ca !== undefined && { ca: [ca].flat() }) })
  const fetchOverNode = nodeFetch({ http, https })
  return {
    fetch: async (url, init) => {
      // Bun ignores the options of agents: addresses would not be checked.
      if ('bun' in process.versions) throw coded('Addresses are not checked.', uncheckedAddresses)
      // lookup is not called for an IP address.
      const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
      if (isIP(host) !== 0 && !isAllowed(host)) throw privateAddressError()
      return fetchOverNode(url, init)
    },
    close: async () => {
      for (const { freeSockets } of [http, https])
        for (const socket of Object.values(freeSockets).flat()) socket?.destroy()
    },
  }
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
