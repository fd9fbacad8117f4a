import { listedFields, type Customer } from './customer.ts'

/** What a list request may have beside its table. */
export interface Page {
  limit?: number
  offset?: number
  /** Only the rows with this address. */
  address?: string
}

/** How a family of servers writes the same requests and answers on the wire. */
export interface Dialect {
  list(table: string, page?: Page): string
  item(table: string, key: string): string
  updateMethod: 'POST' | 'PATCH'
  insertStatus: number
  /** `total`: the rows of all pages. */
  pageBody(rows: Customer[], total: number, page?: Page): unknown
  itemBody(row: Customer): unknown
}

function query(page: Page, names: Readonly<Record<'limit' | 'offset', string>>): string {
  const parts = (['limit', 'offset', 'address'] as const).flatMap((name) => {
    const value = page[name]
    const parameter = name === 'address' ? name : names[name]
    return value === undefined ? [] : [`${parameter}=${encodeURIComponent(value)}`]
  })
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

export const envelope: Dialect = {
  list: (table, page = {}) =>
    `/rest/v1/sales/${table}${query(page, { limit: '$limit', offset: '$offset' })}`,
  item: (table, key) => `/rest/v1/sales/${table}/${key}`,
  updateMethod: 'POST',
  insertStatus: 200,
  pageBody: (rows) => ({
    items: rows.map(listedFields),
    count: null,
    message: null,
    validations: [],
    status: 200,
  }),
  itemBody: (row) => ({ item: row, message: null, validations: [], status: 200 }),
}

export const feathers: Dialect = {
  list: (table, page = {}) => `/${table}${query(page, { limit: '$limit', offset: '$skip' })}`,
  item: (table, key) => `/${table}/${key}`,
  updateMethod: 'PATCH',
  insertStatus: 201,
  pageBody: (rows, total, { limit = 10, offset = 0 } = {}) => ({
    total,
    limit,
    skip: offset,
    data: rows.map(listedFields),
  }),
  itemBody: (row) => row,
}
