import type { ApplicationDefinitions } from '../definition/application.ts'
import type { Principal } from '../definition/principal.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { ServiceRequest } from '../request/request.ts'
import type { OpenAccess, SecurityProvider } from '../security/provider.ts'

/** The member that makes a value a page of `createService`. */
export const pageSource: unique symbol = Symbol.for('rowgate.page')

/** A value of the option `pages` of `createService`, such as `openapi()` of `rowgate/openapi` returns it. */
export interface Page {
  readonly [pageSource]: PageSource
}

/** What a page of a service consists of. */
export interface PageSource {
  /**
   * Returns the files of the page for one service, by the end of their path: for a page with the name `help`,
   * `.json` is the file `/rest/v1/help.json`, `/style.css` is `/rest/v1/help/style.css`, and the empty string is
   * `/rest/v1/help`. Called once, at start. Throws a TypeError for a mistake, which `createService` reports with
   * the name of the page.
   */
  open(host: PageHost): Readonly<Record<string, PageFile>>
}

/** A file of a page: public, or for callers who are authenticated as for collections. */
export type PageFile =
  | { readonly access: 'public'; content(request: PageRequest): MaybePromise<PageContent> }
  | {
      readonly access: 'caller'
      content(request: PageRequest, caller: Principal): MaybePromise<PageContent>
    }

/** What the content of a file can depend on, besides the caller. */
export type PageRequest = Pick<ServiceRequest, 'prefix'>

/** The content of a file. A file that returns the same object again is hashed once. */
export interface PageContent {
  /** The media type, such as `text/css; charset=utf-8`. */
  readonly mediaType: string
  /** Sent as UTF-8. */
  readonly text: string
  /** Further headers, such as `Content-Security-Policy`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The member of a service that has what a page can use of it. */
export const pageHost: unique symbol = Symbol.for('rowgate.pageHost')

/** A service, as tools use it that describe one. */
export interface WithPageHost {
  readonly [pageHost]: Omit<PageHost, 'name'>
}

/** What a page can use of its service. */
export interface PageHost {
  /** The name of the page. */
  readonly name: string
  /** All pages of the service by name. */
  readonly pages: Readonly<Record<string, Page>>
  readonly applications: ApplicationDefinitions
  /** The collections of all applications. */
  readonly collections: readonly PublishedCollection[]
  /** The security providers, and open access if it is declared. */
  readonly security: readonly (SecurityProvider | OpenAccess)[]
  readonly options: PageHostOptions
}

/** The options of a service that its clients notice, with their defaults. See `ServiceOptions`. */
export interface PageHostOptions {
  readonly brand: string
  readonly serviceVersion: string | false
  readonly limitExcess: 'clamp' | 'reject'
  readonly bodyStatus: 'contract' | 'http'
}

/** Returns whether a value is a page. */
export function isPage(value: unknown): value is Page {
  return typeof value === 'object' && value !== null && pageSource in value
}
