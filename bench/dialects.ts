import { listedFields, type Customer } from './customer.ts'

/** What a list request may have beside its table. */
export interface Page {
  limit?: number
  offset?: number
}

/** How a family of servers writes the same requests and answers on the wire. */
export interface Dialect {
  list(table: string, page?: Page): string
  item(table: string, key: string): string
  updateMethod: 'POST' | 'PATCH'
  insertStatus: number
  pageBody(rows: Customer[], total: number, offset?: number): unknown
  itemBody(row: Customer): unknown
}

function query(page: Page, names: Readonly<Record<keyof Page, string>>): string {
  const parts = (['limit', 'offset'] as const)
    .filter((name) => page[name] !== undefined)
    .map((name) => `${names[name]}=${page[name]}`)
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
  pageBody: (rows, total, offset = 0) => ({
    total,
    limit: rows.length,
    skip: offset,
    data: rows.map(listedFields),
  }),
  itemBody: (row) => row,
}
