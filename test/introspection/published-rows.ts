import { expect } from 'vitest'
import type { ServingLine } from '../cli/serving-line.ts'

/** An item of a response. */
export type Item = Readonly<Record<string, unknown>>

/** Expects that an item is found by each of its values. */
export async function expectFilterable(
  { url, key = '' }: ServingLine,
  path: string,
  item: Item | undefined,
): Promise<void> {
  const flat = Object.entries(item ?? {}).filter(
    ([, value]) => ['string', 'number', 'boolean'].includes(typeof value) && value !== '',
  )
  for (const [field, value] of flat) {
    const condition = `${encodeURIComponent(field)}=${encodeURIComponent(String(value))}`
    const response = await fetch(`${url}/rest/v1/${path}?${condition}&$limit=100`, {
      headers: { 'X-API-Key': key },
    })
    const page = (await response.json()) as { readonly items: readonly unknown[] }
    expect({ path, condition, items: page.items }).toEqual({
      ...{ path, condition },
      items: expect.arrayContaining([item]) as unknown,
    })
  }
}

/** Reads all items of a collection, page by page. */
export async function allItems(
  { url, key = '' }: ServingLine,
  path: string,
): Promise<readonly unknown[]> {
  const size = 100
  const items: unknown[] = []
  for (;;) {
    const target = `${url}/rest/v1/${path}?$limit=${size}&$offset=${items.length}&$count=true`
    const response = await fetch(target, { headers: { 'X-API-Key': key } })
    const page = (await response.json()) as { items: unknown[]; count: number }
    expect({ path, status: response.status, page }).toMatchObject({ path, status: 200 })
    items.push(...page.items)
    if (page.items.length < size) {
      expect({ path, count: items.length }).toEqual({ path, count: page.count })
      return items
    }
  }
}

/** Returns items as sorted JSON, so that their order does not matter. */
export function sorted(items: readonly unknown[]): readonly string[] {
  return items.map((item) => JSON.stringify(item)).sort()
}
