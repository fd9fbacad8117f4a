import * as z from 'zod/mini'
import { nonEmpty } from '../checks/option-shapes.ts'
import { completeOptions } from '../checks/options.ts'
import { openapi } from '../openapi/page.ts'
import { pageSource, type Page, type PageContent, type PageHost } from '../pages/page.ts'
import { escaped, signInOf } from '../pages/sign-in-methods.ts'
import { consoleFiles } from './console-files.ts'

/** Options of {@link adminConsole}. */
export interface AdminConsoleOptions {
  /** What the page calls the service. Default `Console`. */
  readonly title?: string
}

const shape = z.strictObject({
  title: z.optional(nonEmpty),
} satisfies Record<keyof AdminConsoleOptions, z.ZodMiniType>)

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Creates a page with which people manage the data of the service in a browser, and with `administration()` also its
 * users, keys, releases and deliveries: `pages: { console: adminConsole() }` serves it at `/rest/v1/console`. The page itself
 * is public and contains nothing of the definition; all that it shows comes from requests with the credentials of the
 * person who has signed in. It loads nothing from other hosts. Throws a TypeError for an invalid option.
 *
 * The files of the page are read from the package when they are first requested, so it needs a file system.
 */
export function adminConsole(options: AdminConsoleOptions = {}): Page {
  const { title = 'Console' } = completeOptions(
    'adminConsole',
    shape,
    options,
  ) as AdminConsoleOptions
  return {
    [pageSource]: {
      open(host) {
        const content: PageContent = {
          mediaType: 'text/html; charset=utf-8',
          headers: { 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' },
          text: pageHtml(host, title),
        }
        const document = openapi({ title })[pageSource].open(host)['.json']
        return {
          '': { access: 'public', content: () => content },
          ...(document && { '/document.json': document }),
          ...consoleFiles(),
        }
      },
    },
  }
}

/** Returns the HTML of the page, without inline scripts and styles. The URLs are relative to the page. */
function pageHtml({ name, applications, security, options: { brand } }: PageHost, title: string) {
  const administration = applications[`${brand}-admin`]?.collections ?? {}
  const settings = {
    name,
    title,
    brand,
    ...signInOf(security),
    hasSessions: Object.hasOwn(administration, 'sessions'),
  }
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${escaped(title)}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${name}/console.css">
    <script type="module" src="${name}/console.js"></script>
  </head>
  <body data-settings="${escaped(JSON.stringify(settings))}">
    <noscript>This page needs JavaScript.</noscript>
  </body>
</html>
`
}
