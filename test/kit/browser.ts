import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { describe } from 'vitest'
import { root } from '../../.ci/entries.ts'

// The first one has no window, and needs a third of the processor time.
const packages = ['chromium-headless-shell', 'chromium'] as const
const executablePath =
  process.env['CHROMIUM'] ?? packages.map((name) => `/usr/bin/${name}`).find(existsSync) ?? ''

/** Declares tests in a browser, which take longer on a busy machine than others. They are skipped where there is none. */
export function describeInBrowser(name: string, body: () => void): void {
  describe.skipIf(missingBrowser() !== undefined)(name, { timeout: 60_000 }, body)
}

/** Why tests in a browser are skipped; undefined if there is one. Throws if a browser is required. */
function missingBrowser(): string | undefined {
  if (existsSync(executablePath)) return undefined
  const reason = `no Chromium (apt-get install ${packages[0]}, or set CHROMIUM to its path)`
  if (process.env['REQUIRE_BROWSER'] === '1') throw new Error(reason)
  console.warn(`Tests in a browser are skipped: ${reason}`)
  return reason
}

/** Starts Chromium. The test file closes it. */
export function startBrowser(further: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...further,
    ],
  })
}

/** A page in a context of its own, with what went wrong in it. */
export interface WatchedPage {
  readonly page: Page
  /**
   * Messages that the browser printed as errors or warnings, such as for responses from status 400 and for
   * violations of a Content-Security-Policy, and exceptions of scripts.
   */
  readonly problems: string[]
  /** The origins of all requests. */
  readonly origins: ReadonlySet<string>
}

/** Opens an empty page. Closing its context closes it. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const problems: string[] = []
  const origins = new Set<string>()
  page.setDefaultTimeout(30_000)
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol.startsWith('http')) origins.add(origin)
  })
  return { page, problems, origins }
}

/** Keeps a picture of what a page shows, for people, in the ignored folder `screenshots`. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(root, 'screenshots', `${name}.png`) })
}
