import type { PublishedCollection } from '../../../definition/published.ts'
import { fieldOf } from '../../sql/conditions.ts'
import { identifier, join, ofPart, sql } from '../../sql/fragments.ts'
import type { RelatedQuery } from '../../adapter.ts'
import { columnOf } from '../reading/guaranteed-values.ts'
import { sameValue } from './conditions.ts'
import { itemsOf } from './pages.ts'
import { pageOf, type PageShape, type Reading, type StatementText } from './statements.ts'

/** The shape of the pages of a relation. */
export interface RelatedShape extends Pick<RelatedQuery, 'collection' | 'own' | 'theirs'> {
  readonly shape: PageShape
}

/**
 * Returns one statement for a page and its related items, as JSON text: a subquery for each relation, which refers to the row of
 * the page. Each of its rows has the item, and the items of each relation for `readItems`.
 */
export function relatedStatement(
  collection: PublishedCollection,
  shape: PageShape,
  {
    reading,
    relations,
  }: { readonly reading: Reading; readonly relations: readonly RelatedShape[] },
): StatementText {
  const names = [...new Set(relations.flatMap(({ own }) => own))]
  const alias = (name: string): string => `own${names.indexOf(name)}`
  const column = columnOf('t')
  const further = names.map(
    (name) => sql`${column(fieldOf(collection, name))} as ${identifier(alias(name))}`,
  )
  const page = pageOf(collection, { ...shape, further }, reading)
  const lists = relations.map(({ collection: other, own, theirs, shape: theirShape }, at) => {
    const terms = theirs.map((name, index) => {
      const [field, ownName] = [fieldOf(other, name), own[index] as string]
      const value = identifier('page', alias(ownName))
      return sameValue([field, column(field)], [fieldOf(collection, ownName), value])
    })
    const first = join(terms, sql` and `)
    return itemsOf(ofPart(pageOf(other, { ...theirShape, first }, reading), at))
  })
  // Without a limit of its own, the statement would evaluate the subqueries for rows that are not on the page.
  const { texts, slots } = sql`select page.item, ${join(lists)} from (${page}) as page limit -1`
  return { sql: texts.join('?'), slots }
}
