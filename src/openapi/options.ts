import * as z from 'zod/mini'
import { nonEmpty } from '../checks/option-shapes.ts'
import type { Page } from '../pages/page.ts'

/** The parts of a document that do not come from a definition. */
export interface OpenApiOptions {
  /** The name of the service. */
  readonly title: string
  /** The version of the described service, chosen by your application. Default `1.0.0`. */
  readonly version?: string
  /** What the service is for; Markdown. Default: none, or the description of the application. */
  readonly description?: string
  readonly contact?: { readonly name?: string; readonly url?: string; readonly email?: string }
  /** A license with its SPDX identifier or its URL. */
  readonly license?: { readonly name: string; readonly identifier?: string; readonly url?: string }
  /**
   * Where the service is. Default: the path at which it is mounted, with `/rest/v1`, on the server from which the
   * document comes. Set it if a proxy changes the path.
   */
  readonly servers?: readonly { readonly url: string; readonly description?: string }[]
}

/** The member of a page that has the options of its document. */
export const documentOptions: unique symbol = Symbol.for('rowgate.openapi')

/** A page that serves an OpenAPI document. */
export interface WithDocumentOptions {
  readonly [documentOptions]: OpenApiOptions
}

/** Returns whether a page serves an OpenAPI document. */
export function hasDocumentOptions(page: Page): page is Page & WithDocumentOptions {
  return documentOptions in page
}

/** The shape of {@link OpenApiOptions}. */
export const openApiShape = {
  title: nonEmpty,
  version: z.optional(nonEmpty),
  description: z.optional(nonEmpty),
  contact: z.optional(
    z.strictObject({
      name: z.optional(nonEmpty),
      url: z.optional(z.url()),
      email: z.optional(nonEmpty),
    }),
  ),
  license: z.optional(
    z
      .strictObject({ name: nonEmpty, identifier: z.optional(nonEmpty), url: z.optional(z.url()) })
      .check(
        z.refine(({ identifier, url }) => identifier === undefined || url === undefined, {
          error: 'must have an identifier or a url, not both',
        }),
      ),
  ),
  servers: z.optional(
    z
      .array(z.strictObject({ url: nonEmpty, description: z.optional(nonEmpty) }))
      .check(z.minLength(1)),
  ),
} satisfies Record<keyof OpenApiOptions, z.ZodMiniType>
