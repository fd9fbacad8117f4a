/**
 * A limiter with the interface of rate-limiter-flexible: `consume` resolves while points are left, and
 * rejects with an object that has `msBeforeNext` (milliseconds) when none are. Any other rejection is a
 * failure of the limiter: it is reported, and the request continues.
 */
export interface Limiter {
  consume(key: string): Promise<unknown>
}

/**
 * The limits of a service. Default: none. An address of a client is its IPv4 address, or the first 64 bits of its IPv6
 * address, such as `2001:db8:0:1::/64`: a client usually has all addresses of such a network.
 */
export interface Limits {
  /** Consumes one point per request, by API key if there is one, else by user, else by client address. */
  readonly requests?: Limiter | undefined
  /** Consumes one point per rejected credential, by client address. */
  readonly failures?: Limiter | undefined
}
