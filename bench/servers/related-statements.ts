import type { Kind } from '../database-time.ts'
import type { Place } from './places.ts'

interface Page {
  limit: number
  from: number
}

/** Ways to read a page of orders by hand. Each returns the JSON of its items. */
export interface RelatedByHand {
  /** The page without related items. */
  alone(page: Page): Promise<string>
  /** One statement with correlated subqueries, of which the database writes the JSON. */
  one(page: Page): Promise<string>
  /** Three statements, whose rows are joined in JavaScript. */
  three(page: Page): Promise<string>
}

const orders = ['orderId', 'customerId', 'status', 'note']
const customers = ['customerId', 'name', 'city']
const lines = ['orderId', 'lineNo', 'product', 'quantity']
const numbers = ['orderId', 'customerId', 'lineNo', 'quantity']
const maxLines = 10

/** What the databases write differently. */
interface Texts {
  object: string
  /** Returns a list of objects: the lines of an order, at most one more than are shown. */
  lines(object: string, order: string): string
  /** Returns a text as a value of JSON. */
  json(text: string): string
  text(value: string): string
  slots: readonly [string, string]
}

const texts: Readonly<Record<Kind, Texts>> = {
  sqlite: {
    object: 'json_object',
    lines: (object, order) =>
      `(select json_group_array(json(t)) from (select ${object} as t from "lines" as l where ${order} order by l."lineNo" limit ${maxLines}))`,
    json: (text) => `json(${text})`,
    text: (value) => value,
    slots: ['?', '?'],
  },
  postgres: {
    object: 'json_build_object',
    lines: (object, order) =>
      `(select coalesce(json_agg(t), '[]') from (select ${object} as t from "lines" as l where ${order} order by l."lineNo" limit ${maxLines}) as s)`,
    json: (text) => `(${text})::json`,
    text: (value) => `(${value})::text`,
    slots: ['$1', '$2'],
  },
  mysql: {
    object: 'json_object',
    lines: (object, order) =>
      `(select coalesce(json_arrayagg(${object} order by l.\`lineNo\` limit ${maxLines}), json_array()) from \`lines\` as l where ${order})`,
    json: (text) => `json_compact(${text})`,
    text: (value) => value,
    slots: ['?', '?'],
  },
}

export function relatedByHand(kind: Kind, { run, quoted }: Place): RelatedByHand {
  const { object, lines: listOf, json, text, slots } = texts[kind]
  const columns = (alias: string, names: readonly string[]) =>
    names.map((name) => `${alias}.${quoted(name)}`).join(', ')
  const members = (alias: string, names: readonly string[]) =>
    names.map((name) => `'${name}', ${alias}.${quoted(name)}`).join(', ')
  const [from, limit] = slots
  const id = `o.${quoted('orderId')}`
  const number = kind === 'sqlite' ? `cast(${limit} as integer)` : limit
  const page = `from orders as o where ${id} >= ${from} order by ${id} limit ${number}`
  const ofOrder = `l.${quoted('orderId')} = ${id}`
  const customer = `(select ${object}(${members('c', customers)}) from customers as c where c.${quoted('customerId')} = o.${quoted('customerId')})`
  const more = `exists (select 1 from ${quoted('lines')} as l where ${ofOrder} limit 1 offset ${maxLines})`
  const shown = json(`case when ${more} then 'true' else 'false' end`)
  const list = `${object}('items', ${listOf(`${object}(${members('l', lines)})`, ofOrder)}, 'more', ${shown})`
  const one = `select ${text(`${object}(${members('o', orders)}, 'customer', ${customer}, 'lines', ${list})`)} ${page}`
  const alone = `select ${text(`${object}(${members('o', orders)})`)} ${page}`

  // MariaDB binds the limit of a prepared statement as a number in text.
  const values = ({ limit, from }: Page) =>
    kind === 'mysql' ? [from, String(limit)] : [from, limit]
  const joined = async (statement: string, given: Page) =>
    `[${(await run(statement, values(given))).map(([item]) => String(item)).join()}]`
  const itemOf = (names: readonly string[], row: readonly unknown[]) =>
    Object.fromEntries(
      names.map((name, index) => {
        const value = row[index]
        return [name, numbers.includes(name) ? Number(value) : value]
      }),
    )

  async function three(given: Page): Promise<string> {
    const found = (await run(`select ${columns('o', orders)} ${page}`, values(given))).map((row) =>
      itemOf(orders, row),
    )
    const idsOf = (name: string) => [...new Set(found.map((item) => Number(item[name])))]
    const inList = (name: string, alias: string) =>
      `${alias}.${quoted(name)} in (${idsOf(name).join()})`
    // The lists of numbers are part of the text, which is not prepared.
    const read = async (statement: string) => run(statement)
    const [owners, parts] = await Promise.all([
      read(
        `select ${columns('c', customers)} from customers as c where ${inList('customerId', 'c')}`,
      ),
      read(
        `select ${columns('l', lines)} from ${quoted('lines')} as l where ${inList('orderId', 'l')} order by 1, 2`,
      ),
    ])
    const byId = new Map(owners.map((row) => [Number(row[0]), itemOf(customers, row)]))
    const ofOrders = new Map<number, object[]>()
    for (const row of parts) {
      const key = Number(row[0])
      ofOrders.set(key, [...(ofOrders.get(key) ?? []), itemOf(lines, row)])
    }
    return JSON.stringify(
      found.map((item) => {
        const all = ofOrders.get(Number(item['orderId'])) ?? []
        const list = { items: all.slice(0, maxLines), more: all.length > maxLines }
        return { ...item, customer: byId.get(Number(item['customerId'])) ?? null, lines: list }
      }),
    )
  }

  return {
    alone: (given) => joined(alone, given),
    one: (given) => joined(one, given),
    three,
  }
}
