import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createClient } from '../client/client.ts'
import type { Releases } from '../client/releases.ts'
import { requiredOf, type CommandContext, type Given } from './command.ts'
import { CommandError, UsageError } from './command-error.ts'
import { messageOf, printable } from './text.ts'

/**
 * Opens the releases of a service. The API key is read from a file or the environment, because arguments are
 * visible in the list of processes. Rejects with a UsageError that contains neither key nor URL.
 */
export async function openReleases(
  given: Given,
  context: CommandContext,
  signal?: AbortSignal,
): Promise<Releases> {
  const url = addressOf(requiredOf(given, 'url', 'address'), given.has('insecure'))
  const header = given.one('header') ?? 'X-API-Key'
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header))
    throw new UsageError('--header is not a valid header name.')
  const brand = given.one('brand') ?? 'svc'
  if (!/^[a-z][a-z0-9]*$/.test(brand))
    throw new UsageError(
      '--brand must have lower-case letters and digits only, and begin with a letter.',
    )
  const key = await keyOf(given, context)
  const options = { url, key, keyHeader: header, brand, insecureHttp: given.has('insecure') }
  return createClient({ ...options, ...(signal && { signal }) }).releases
}

function addressOf(text: string, insecure: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError('--url must be a URL such as https://example.com.')
  if (url.username + url.password + url.search + url.hash !== '')
    throw new UsageError('--url must have no credentials, query or fragment.')
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !insecure)
    throw new UsageError(
      '--url is plain HTTP, which exposes the key. Use https, or add --insecure.',
    )
  return `${url.origin}${url.pathname}`
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

async function keyOf(given: Given, context: CommandContext): Promise<string> {
  const file = given.one('key-file')
  const text = file === undefined ? context.environment['ROWGATE_KEY'] : await textOf(file, context)
  const key = (text ?? '').replace(/\r?\n$/, '')
  if (key === '')
    throw new UsageError(
      'The API key is missing: set ROWGATE_KEY, or name its file with --key-file.',
    )
  if (/^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(key)) return key
  throw new UsageError('The API key has characters that are not allowed in a header.')
}

async function textOf(file: string, context: CommandContext): Promise<string> {
  try {
    return await readFile(resolve(context.workingFolder, file), 'utf8')
  } catch (error) {
    throw new CommandError(`${printable(file)} could not be read: ${messageOf(error)}`)
  }
}
