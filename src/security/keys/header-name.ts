import { accepted } from '../check-call.ts'

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

// Headers whose values HTTP, proxies or browsers define or change.
const reserved = new Set([
  'accept',
  'age',
  'allow',
  'authorization',
  'cache-control',
  'close',
  'connection',
  'cookie',
  'cookie2',
  'date',
  'dnt',
  'etag',
  'expect',
  'expires',
  'forwarded',
  'from',
  'front-end-https',
  'host',
  'http2-settings',
  'keep-alive',
  'last-modified',
  'location',
  'max-forwards',
  'method',
  'origin',
  'path',
  'pragma',
  'priority',
  'range',
  'referer',
  'refresh',
  'retry-after',
  'scheme',
  'server',
  'set-cookie',
  'set-cookie2',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'upgrade-insecure-requests',
  'user-agent',
  'vary',
  'via',
  'warning',
  'www-authenticate',
  'x-client-ip',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-real-ip',
  'x-requested-with',
  'x-rewrite-url',
  'x-url-scheme',
])
const reservedFamilies =
  /^(accept|access-control|content|if|proxy|sec|x-forwarded)-|^x-[a-z0-9]+-(ignore-warnings|version)$/

/** The shape of a header name for credentials: a token that has no other meaning in HTTP. */
export const headerName = accepted<string>(
  (value) => typeof value === 'string' && token.test(value) && !isReserved(value.toLowerCase()),
  'must be a header name such as X-API-Key: letters, digits and hyphens, and not a header that HTTP or proxies use',
)

function isReserved(name: string): boolean {
  return reserved.has(name) || reservedFamilies.test(name)
}
