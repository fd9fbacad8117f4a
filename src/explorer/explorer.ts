import * as z from 'zod/mini'
import { nonEmpty } from '../checks/option-shapes.ts'
import { completeOptions } from '../checks/options.ts'
import { pageSource, type Page, type PageContent } from '../pages/page.ts'
import { signInOf } from '../pages/sign-in-methods.ts'
import { pageFiles, swaggerUi } from './page-files.ts'
import { pageHtml } from './page-html.ts'

/** Options of {@link explorer}. */
export interface ExplorerOptions {
  /** The name of the page that serves the OpenAPI document, as in the option `pages` of the service. */
  readonly document: string
}

const shape = z.strictObject({
  document: nonEmpty,
} satisfies Record<keyof ExplorerOptions, z.ZodMiniType>)

const html = 'text/html; charset=utf-8'

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Creates a page with which people read the OpenAPI document of the service in a browser and send requests:
 * `pages: { openapi: openapi(...), explorer: explorer({ document: 'openapi' }) }` serves it at
 * `/rest/v1/explorer`. The page itself is public and contains nothing of the definition. It requests the
 * document with the credentials that are entered there, and loads nothing from other hosts. Throws a TypeError
 * for an invalid option; `createService` throws one if there is no page with the name of the document.
 *
 * The files of the page are read from the package when they are first requested, so it needs a file system.
 */
export function explorer(options: ExplorerOptions): Page {
  const { document } = completeOptions('explorer', shape, options)
  return {
    [pageSource]: {
      open({ name, pages, security }) {
        if (!Object.hasOwn(pages, document)) {
          throw new TypeError(`document must be the name of a page of the service: ${document}`)
        }
        const content: PageContent = {
          mediaType: html,
          headers: { 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' },
          text: pageHtml({
            documentUrl: `${document}.json`,
            folder: name,
            swaggerUi,
            signIn: signInOf(security),
          }),
        }
        return {
          '': { access: 'public', content: () => content },
          ...pageFiles(),
        }
      },
    },
  }
}
