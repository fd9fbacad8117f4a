import { expect } from 'vitest'
import type { RequestHandler } from '../../src/entries/index.ts'
import { send, type RequestHeaders, type Response } from '../kit/service.ts'

export const header = 'X-Svc-Next-Cursor'

/** Reads a list to its end by its cursors, and returns the responses. `between` runs before each next page. */
export async function readToEnd(
  service: Pick<RequestHandler, 'handle'>,
  path: string,
  between: () => Promise<unknown> | undefined = () => undefined,
  headers: RequestHeaders = {},
): Promise<readonly Response[]> {
  const pages: Response[] = []
  for (let own = path; ;) {
    const page = await send(service, { method: 'GET', path: own, headers })
    expect(page).toMatchObject({ status: 200 })
    pages.push(page)
    const next = page.headers[header]
    if (next === undefined) return pages
    await between()
    own = `${path}${path.includes('?') ? '&' : '?'}$after=${next}`
  }
}

/** Returns the items of pages. */
export function itemsOf(pages: readonly Response[]): readonly Record<string, unknown>[] {
  return pages.flatMap(({ body }) => body.items ?? [])
}
