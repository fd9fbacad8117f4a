import type { Page } from 'playwright-core'

/** Holds the changes to a URL. Returns a function that lets them go on to the service. */
export async function holdRequests(page: Page, url: RegExp): Promise<() => void> {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(url, async (route) => {
    if (route.request().method() !== 'GET') await released
    await route.continue().catch(() => undefined)
  })
  return release
}
