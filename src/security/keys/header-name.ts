import { accepted } from '../check-call.ts'

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

// Their value, or what becomes of it on the way, belongs to HTTP, to proxies or to browsers.
const taken = new Set([
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
const takenFamilies =
  /^(accept|access-control|content|if|proxy|sec|x-forwarded)-|^x-[a-z0-9]+-(ignore-warnings|version)$/

/** The name of a header that may carry a credential of ours: a token, free of any other meaning. */
export const headerName = accepted<string>(
  (value) => typeof value === 'string' && token.test(value) && !isTaken(value.toLowerCase()),
  'must be a header name such as X-API-Key: letters, digits and hyphens, and none that HTTP or proxies use',
)

function isTaken(name: string): boolean {
  return taken.has(name) || takenFamilies.test(name)
}
