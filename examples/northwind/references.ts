import { error, type Validation } from 'rowgate'

/**
 * A rule on saving: what the field names must exist in a collection of the same application, for the
 * caller. What a caller can't see, nobody can refer to in their name.
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
 * A rule on deleting: an item stays while items of another collection refer to it, whether the caller
 * can see them or not.
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
