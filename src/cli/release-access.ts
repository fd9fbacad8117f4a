import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { releaseClient, type ReleaseClient } from '../client/release-client.ts'
import { requiredOf, type Desk, type Given } from './command.ts'
import { CommandError, UsageError } from './command-error.ts'
import { messageOf, printable } from './text.ts'

/** The options of commands that access the releases of a remote service. */
export const accessOptions = [
  { name: 'url', value: 'address', description: 'The service: what stands before /rest/v1' },
  { name: 'key-file', value: 'file', description: 'The file with the key, instead of ROWGATE_KEY' },
  { name: 'header', value: 'name', description: 'The header that carries the key (X-API-Key)' },
  { name: 'brand', value: 'word', description: "The maker's word of the service (svc)" },
  { name: 'insecure', description: 'Allow plain http to other machines' },
]

/**
 * Opens the releases of a service. The key comes from a file or the environment: as an argument it
 * would be visible in the list of processes. Throws a UsageError that quotes neither key nor address.
 */
export async function openReleases(
  given: Given,
  desk: Desk,
  signal?: AbortSignal,
): Promise<ReleaseClient> {
  const url = addressOf(requiredOf(given, 'url', 'address'), given.has('insecure'))
  const header = given.one('header') ?? 'X-API-Key'
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header)) throw new UsageError('--header is no header name.')
  const brand = given.one('brand') ?? 'svc'
  if (!/^[a-z][a-z0-9]*$/.test(brand))
    throw new UsageError('--brand takes lower-case letters and digits.')
  return releaseClient({ url, header, brand, key: await keyOf(given, desk), signal })
}

function addressOf(text: string, insecure: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError('--url takes an address such as https://example.com.')
  if (url.username + url.password + url.search + url.hash !== '')
    throw new UsageError('--url takes an address without credentials, query and fragment.')
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !insecure)
    throw new UsageError(
      '--url is plain http: the key could be read on its way. Use https, or say --insecure.',
    )
  return `${url.origin}${url.pathname}`
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

async function keyOf(given: Given, desk: Desk): Promise<string> {
  const file = given.one('key-file')
  const text = file === undefined ? desk.environment['ROWGATE_KEY'] : await textOf(file, desk)
  const key = (text ?? '').replace(/\r?\n$/, '')
  if (key === '')
    throw new UsageError('There is no key: set ROWGATE_KEY, or name its file with --key-file.')
  if (/^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(key)) return key
  throw new UsageError('The key is none: it has characters that no header can carry.')
}

async function textOf(file: string, desk: Desk): Promise<string> {
  try {
    return await readFile(resolve(desk.workingFolder, file), 'utf8')
  } catch (error) {
    throw new CommandError(`${printable(file)} could not be read: ${messageOf(error)}`)
  }
}
