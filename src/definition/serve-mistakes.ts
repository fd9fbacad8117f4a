import type { CollectionDefinition } from './collection.ts'
import type { Mistake } from '../checks/mistakes.ts'
import { servingFunctions } from './serve.ts'

/** Returns the mistakes in the functions that serve a well-formed collection. */
export function serveMistakes(collection: CollectionDefinition): readonly Mistake[] {
  const { serve, key = [], singleton = false, fields, table, sharesTable } = collection
  if (serve === undefined) return []
  const given = servingFunctions.filter((name) => serve[name] !== undefined)
  const mistakes: Mistake[] = []
  const add = (place: string, advice: string): void => {
    mistakes.push({ place, advice })
  }
  if (given.length === 0) add('serve', 'add a function, such as filter, or leave it out')
  for (const name of given) {
    if (singleton && name !== 'get') add(`serve.${name}`, 'a singleton is served by get alone')
    else if (!singleton && key.length === 0 && needsKey.includes(name)) {
      add(`serve.${name}`, 'needs a key: declare one, or leave it out')
    } else if (writesItem.includes(name) && serve.get === undefined && serve.filter === undefined) {
      add(`serve.${name}`, 'needs get or filter, which read the item that is written')
    }
  }
  if (table !== undefined) add('table', 'a served collection has no table: leave it out')
  if (sharesTable !== undefined)
    add('sharesTable', 'a served collection has no table: leave it out')
  for (const [name, { column }] of Object.entries(fields)) {
    if (column === undefined) continue
    add(`fields.${name}.column`, 'a served collection has no columns: leave it out')
  }
  return mistakes
}

const needsKey: readonly string[] = ['get', 'update', 'delete']
const writesItem: readonly string[] = ['update', 'delete']
