import type { PublishedCollection } from '../../definition/published.ts'
import { bind, type BoundStatement } from '../pool/connection.ts'
import type { RelatedQuery, StorageQuery } from '../adapter.ts'
import { fieldOf } from './conditions.ts'
import type { Tables } from './dialect.ts'
import { join, limitSlot, ofPart, raw, sql, withText, type Sql } from './fragments.ts'
import { inputsOf, pageShape, pageText } from './statements.ts'
import { name, placedColumn, placeOf, type TablePlace } from './table-conditions.ts'

type Page = Pick<RelatedQuery, 'collection' | 'query'>

/**
 * Returns one statement for a page and its related items. Each of its rows begins with the index of an item of the page, and 0 for
 * the item itself or the number of a relation from 1; the texts of the fields follow. The page is read once, and the items of
 * each relation by the values of its rows, so that the rows of an item stay in their order. Undefined if the database can't.
 */
export function relatedStatement(
  tables: Tables,
  collection: PublishedCollection,
  query: StorageQuery,
  relations: readonly RelatedQuery[],
): BoundStatement | undefined {
  const { textOf } = tables.dialect
  if (textOf === undefined) return undefined
  const names = relations.map(
    ({ own, theirs, ...page }) =>
      `${[...own, ...theirs].join('\0')}\0${page.query.limit}\0${pageShape(tables, page.collection, page.query)}`,
  )
  const shape = `related\0${pageShape(tables, collection, query)}\0${names.join('\0')}`
  const text = tables.texts.find(shape, () =>
    relatedText(tables, { collection, query }, { relations, textOf }),
  )
  return bind(text, { ...inputsOf(query), parts: relations.map((one) => inputsOf(one.query)) })
}

function relatedText(
  tables: Tables,
  page: Page,
  {
    relations,
    textOf,
  }: {
    readonly relations: readonly RelatedQuery[]
    readonly textOf: NonNullable<Tables['dialect']['textOf']>
  },
): Sql {
  const { collection, query } = page
  const place = placeOf(tables, collection)
  const names = [...new Set(relations.flatMap(({ own }) => own))]
  const columns = names.map((field) => place.stored(fieldOf(collection, field)))
  const first = query.select.length
  // The place of the values that relate an item: columns of the page.
  const outer: TablePlace = {
    ...place,
    alias: 'page',
    stored: (field) => name(tables.dialect, 'page', `c${first + names.indexOf(field.name)}`),
  }
  const width = Math.max(...[page, ...relations].map((one) => one.query.select.length))
  // Each part has as many columns, of one type.
  const valuesOf = (one: Page, alias: string): Sql =>
    join(
      Array.from({ length: width }, (_, index) => {
        const field = one.query.select[index]
        if (field === undefined) return sql`null::text`
        const { column } = placedColumn(
          placeOf(tables, one.collection),
          fieldOf(one.collection, field),
        )
        return textOf(name(tables.dialect, alias, `c${index}`), column)
      }),
    )
  const parts = relations.map((one, index) => {
    const own = placeOf(tables, one.collection)
    const terms = one.theirs.map((field, at) =>
      tables.dialect.terms.same(
        placedColumn(own, fieldOf(one.collection, field)),
        placedColumn(outer, fieldOf(collection, one.own[at] as string)),
      ),
    )
    const related = { fields: one.theirs, terms }
    const page = pageText(tables, one.collection, one.query, { related })
    // A relation has one limit, so the database plans for it.
    const text = ofPart(withText(page, limitSlot, String(one.query.limit)), index)
    const number = raw(String(index + 1))
    return sql`select page.n, ${number}, ${valuesOf(one, 'own')} from page cross join lateral (${text}) as own`
  })
  const own = sql`select page.n, 0, ${valuesOf(page, 'page')} from page`
  const rows = pageText(tables, collection, query, { columns })
  const all = join([own, ...parts], raw(' union all '))
  const text = sql`with page as materialized (select row_number() over () - 1 as n, rows.* from (${rows}) as rows) ${all}`
  return { ...text, isPlannedByValues: rows.isPlannedByValues === true }
}
