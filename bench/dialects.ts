import { listedFields, type Customer } from './customer.ts'
import type { Table } from './database.ts'

/** How a family of servers writes the same requests and answers on the wire. */
export interface Dialect {
  list(table: Table, limit?: number): string
  item(table: Table, key: string): string
  updateMethod: 'POST' | 'PATCH'
  insertStatus: number
  pageBody(rows: Customer[], total: number): unknown
  itemBody(row: Customer): unknown
}

export const envelope: Dialect = {
  list: (table, limit) => `/rest/v1/sales/${table}${limit ? `?$limit=${limit}` : ''}`,
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
  list: (table, limit) => `/${table}${limit ? `?$limit=${limit}` : ''}`,
  item: (table, key) => `/${table}/${key}`,
  updateMethod: 'PATCH',
  insertStatus: 201,
  pageBody: (rows, total) => ({
    total,
    limit: rows.length,
    skip: 0,
    data: rows.map(listedFields),
  }),
  itemBody: (row) => row,
}
