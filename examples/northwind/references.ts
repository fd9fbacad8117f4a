import { error, type Validation } from 'rowgate'

/**
 * Returns a rule for saves: the item that the field refers to must exist, and the caller must be able to read
 * it.
 */
export function refersTo<Item>(
  field: keyof Item & string,
  collection: string,
  key: string = field,
): Validation<Item> {
  return error<Item>(`known-${field}`, {
    field,
    check: async (item, { find, stored }) => {
      const value = item[field] as string | number | null
      if (value === null || value === stored?.[field]) return undefined
      const found = await find(collection, { [key]: value }, { limit: 1 })
      return found.length === 0 ? `There is no ${value} among the ${collection}.` : undefined
    },
  })
}

/**
 * Returns a rule for deletes: no item of another collection may refer to the item, also none that the caller
 * can't read.
 */
export function keptFor<Item>(
  key: keyof Item & string,
  collection: string,
  field: string = key,
): Validation<Item> {
  return error<Item>(`without-${collection}`, {
    events: ['Delete'],
    check: async (item, { system }) => {
      const value = item[key] as string | number
      const found = await system.find(collection, { [field]: value }, { limit: 1 })
      return found.length > 0
        ? `${value} has to stay: there are ${collection} that refer to it.`
        : undefined
    },
  })
}
