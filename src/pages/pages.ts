import { mistaken, type Mistake } from '../checks/mistakes.ts'
import type { Principal } from '../definition/principal.ts'
import { methodNotAllowed, notFound } from '../errors.ts'
import { whenDone, type MaybePromise } from '../maybe-promise.ts'
import { acceptsGzip, namesEntityTag } from '../protocol/media.ts'
import { pathRoot } from '../protocol/names.ts'
import { originForm, splitTarget } from '../protocol/path.ts'
import { digestOf } from '../request/digest.ts'
import type { ServiceReply, ServiceRequest } from '../request/request.ts'
import { pageSource, type PageContent, type PageFile, type PageHost } from './page.ts'

/** The pages of a service, whose files are known at start. */
export interface Pages {
  /** Returns whether a target is in a page: `/rest/v1/<page>` and below, and its files. */
  contain(target: string): boolean
  /**
   * Responds to a request whose target the pages contain. Throws NOT_FOUND for a file that a page does not
   * have, METHOD_NOT_ALLOWED for methods other than GET and HEAD, and what `authenticate` throws. The address
   * of a file with a slash at its end is redirected.
   */
  reply(
    request: ServiceRequest,
    authenticate: () => MaybePromise<Principal>,
  ): MaybePromise<ServiceReply>
}

/**
 * Opens the pages of a service; undefined if it has none. Throws a TypeError that lists the mistakes of all
 * pages, and paths that an application or another page has already.
 */
export function openPages(host: Omit<PageHost, 'name'>): Pages | undefined {
  return Object.keys(host.pages).length === 0 ? undefined : new OpenPages(host)
}

class OpenPages implements Pages {
  readonly #files: ReadonlyMap<string, PageFile>
  readonly #firstSegments: ReadonlySet<string>
  readonly #tags = new WeakMap<PageContent, string>()
  readonly #compressed = new WeakMap<PageContent, Promise<Uint8Array>>()

  constructor(host: Omit<PageHost, 'name'>) {
    this.#files = filesOf(host)
    const addresses = [...Object.keys(host.pages), ...this.#files.keys()]
    this.#firstSegments = new Set(addresses.map(firstSegmentOf))
  }

  contain(target: string): boolean {
    return this.#firstSegments.has(firstSegmentOf(pathBelowRoot(target) ?? ''))
  }

  reply: Pages['reply'] = (request, authenticate) => {
    const { method } = request
    const path = pathBelowRoot(request.target) ?? ''
    const address = path.replace(/\/$/, '')
    const file = this.#files.get(address)
    if (file === undefined) throw notFound()
    if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
    if (address !== path) return redirectTo(address, request.target)
    const isPublic = file.access === 'public'
    const content = isPublic
      ? file.content(request)
      : whenDone(authenticate(), (caller) => file.content(request, caller))
    return whenDone(content, (found) => this.#replyOf(found, request, isPublic))
  }

  async #replyOf(
    found: PageContent,
    request: ServiceRequest,
    isPublic: boolean,
  ): Promise<ServiceReply> {
    const tag = await this.#tagOf(found)
    const headers = {
      'Cache-Control': isPublic ? 'no-cache' : 'private, no-cache',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept-Encoding',
      ...found.headers,
      'Content-Type': found.mediaType,
      ETag: tag,
    }
    if (namesEntityTag(request.header('if-none-match'), tag)) {
      return { status: 304, headers, body: '' }
    }
    const { text: body } = found
    if (body.length < minCompressed || !acceptsGzip(request.header('accept-encoding'))) {
      return { status: 200, headers, body }
    }
    // The bytes differ from the bytes of the tag, so it is a weak one.
    const encoded = { ...headers, ETag: `W/${tag}`, 'Content-Encoding': 'gzip' }
    return { status: 200, headers: encoded, body, bytes: await this.#compressedOf(found) }
  }

  async #tagOf(content: PageContent): Promise<string> {
    const known = this.#tags.get(content)
    if (known !== undefined) return known
    const tag = `"${await digestOf(content.text)}"`
    this.#tags.set(content, tag)
    return tag
  }

  #compressedOf(content: PageContent): Promise<Uint8Array> {
    const known = this.#compressed.get(content) ?? gzip(content.text)
    this.#compressed.set(content, known)
    known.catch(() => this.#compressed.delete(content))
    return known
  }
}

/**
 * Redirects from an address with a slash at its end, below which the relative URLs of a page would lead elsewhere.
 * The new address is relative, too: where the service is mounted, its own would begin with more.
 */
function redirectTo(address: string, target: string): ServiceReply {
  const name = address.slice(address.lastIndexOf('/') + 1)
  const { query } = splitTarget(originForm(target))
  const location = `../${name}${query === '' ? '' : `?${query}`}`
  return { status: 308, headers: { Location: location, 'Cache-Control': 'no-cache' }, body: '' }
}

// In characters. Shorter content fits into one packet anyway.
const minCompressed = 1024

// Platforms other than Node have this stream too.
async function gzip(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

/** Returns the files of all pages by their path after `/rest/v1/`. */
function filesOf(host: Omit<PageHost, 'name'>): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>()
  const mistakes: Mistake[] = []
  for (const [name, page] of Object.entries(host.pages)) {
    const reject = (advice: string): void => {
      mistakes.push({ place: `options.pages.${name}`, advice })
    }
    const take = (path: string, file?: PageFile): void => {
      if (Object.hasOwn(host.applications, firstSegmentOf(path))) {
        reject(`${pathRoot}${path} belongs to an application: choose another name`)
      } else if (files.has(path)) {
        reject(`${pathRoot}${path} belongs to another page: choose another name`)
      } else if (file !== undefined) files.set(path, file)
    }
    try {
      const own = Object.entries(page[pageSource].open({ ...host, name }))
      take(name)
      for (const [end, file] of own) take(name + end, file)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      reject(error.message)
    }
  }
  if (mistakes.length > 0) throw mistaken(mistakes)
  return files
}

/** Returns the path of a target after `/rest/v1/`, as it was sent; undefined for other paths. */
function pathBelowRoot(target: string): string | undefined {
  const { path } = splitTarget(originForm(target))
  return path.startsWith(pathRoot) ? path.slice(pathRoot.length) : undefined
}

function firstSegmentOf(path: string): string {
  const end = path.indexOf('/')
  return end < 0 ? path : path.slice(0, end)
}
