import type { Page } from 'playwright-core'
import { gate } from '../kit/gate.ts'

/** Holds the changes to a URL. Returns a function that lets them go on to the service. */
export function holdRequests(page: Page, url: RegExp): Promise<() => void> {
  return hold(page, url, (method) => method !== 'GET')
}

/** Holds the reads of a URL. Returns a function that lets them go on to the service. */
export function holdReads(page: Page, url: RegExp): Promise<() => void> {
  return hold(page, url, (method) => method === 'GET')
}

async function hold(
  page: Page,
  url: RegExp,
  isHeld: (method: string) => boolean,
): Promise<() => void> {
  const { opened, open } = gate()
  await page.route(url, async (route) => {
    if (isHeld(route.request().method())) await opened
    await route.continue().catch(() => undefined)
  })
  return open
}
