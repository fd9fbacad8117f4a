import fc from 'fast-check'
import { trustedProxies, type ForwardedHeaders } from '../../src/http/trusted-proxies.ts'

/** An address of a trusted proxy. */
export const proxy = '10.0.0.1'

/** An address that is not trusted. */
export const client = '198.51.100.7'

/** The names of the headers of RFC 7239. */
export const rfc7239 = { proto: 'forwarded' }

/**
 * What is known of a request from an address, when each header that is looked at has one value. Trusted
 * are 10.0.0.0/8 and fd00::/8.
 */
export function way(value: string | undefined, forwarded: ForwardedHeaders = {}, address = proxy) {
  const proxies = trustedProxies({ trustedProxies: ['10.0.0.0/8', 'fd00::/8'], forwarded })
  const header = () => value
  return {
    secure: proxies.isHttps(address, header),
    peer: proxies.clientOf(address, header),
  }
}

const pieces = [
  'https http on proto for = ; , " \\ [ ] : % \t unknown _x é',
  '10.0.0.2 203.0.113.9 fd00::2 2001:db8::1 ::ffff:10.0.0.3',
  'proto=https for=203.0.113.9 for="[2001:db8::1]:80" x=" ="',
]

/** Text that is mostly made of what the headers are made of. */
export const garbage = fc.oneof(
  fc
    .array(fc.constantFrom(' ', ...pieces.join(' ').split(' ')), { maxLength: 20 })
    .map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 40 }),
)
