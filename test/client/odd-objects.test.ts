import { expect, test } from 'vitest'
import { createClient, type Client } from '../../src/entries/client.ts'
import { oddObjects } from '../kit/odd-objects.ts'

let sent = 0
const open = (): Client<never> =>
  createClient<never>({
    url: 'https://example.com',
    fetch: async () => {
      sent += 1
      return new Response('{"items":[],"count":0,"validations":[],"status":200}')
    },
  })
const notes = () => open().collection('app' as never, 'notes' as never) as never as Notes

type Notes = Readonly<Record<string, (...given: unknown[]) => Promise<unknown> & AsyncGenerator>>

const doors: Readonly<Record<string, (given: unknown) => unknown>> = {
  createClient: (given) => createClient(given as never),
  filter: (given) => notes()['filter']?.(given),
  'filter(_, options)': (given) => notes()['filter']?.({}, given),
  'filter, a condition': (given) => notes()['filter']?.({ title: given }),
  pages: (given) => notes()['pages']?.(given).next(),
  'pages(_, options)': (given) => notes()['pages']?.({}, given).next(),
  items: (given) => notes()['items']?.(given).next(),
  'items(_, options)': (given) => notes()['items']?.({}, given).next(),
  count: (given) => notes()['count']?.(given),
  'count(_, options)': (given) => notes()['count']?.({}, given),
  exists: (given) => notes()['exists']?.(given),
  'exists(_, options)': (given) => notes()['exists']?.({}, given),
  get: (given) => notes()['get']?.(given),
  'get, a part of the key': (given) => notes()['get']?.([1, given]),
  'get(_, options)': (given) => notes()['get']?.(1, given),
  getTagged: (given) => notes()['getTagged']?.(given),
  'getTagged(_, options)': (given) => notes()['getTagged']?.(1, given),
  insert: (given) => notes()['insert']?.(given),
  'insert(_, options)': (given) => notes()['insert']?.({}, given),
  'insert, a value': (title) => notes()['insert']?.({ title }),
  update: (given) => notes()['update']?.(1, given),
  'update, the key': (given) => notes()['update']?.(given, {}),
  'update(_, _, options)': (given) => notes()['update']?.(1, {}, given),
  delete: (given) => notes()['delete']?.(given),
  'delete(_, options)': (given) => notes()['delete']?.(1, given),
  'releases.queue': (given) => open().releases.queue(given as never),
  'releases.queue(_, options)': (given) => open().releases.queue({} as never, given as never),
  'releases.list': (given) => open().releases.list(given as never),
  'releases.get': (given) => open().releases.get(given as never),
}
/** Values of JSON, where an accessor is a member and a Date has a form of its own. */
const isOfJson = /symbol|not enumerable|accessor|can be awaited|Date|URL/

test.each(Object.entries(doors))(
  '%s takes plain objects only, and sends nothing',
  async (name, call) => {
    for (const [what, given, found] of oddObjects) {
      if (name === 'insert, a value' && isOfJson.test(what)) continue
      sent = 0
      const failure = await Promise.resolve()
        .then(() => call(given))
        .then(
          () => undefined,
          (error: unknown) => error,
        )
      expect(failure, `${name} of ${what}`).toBeInstanceOf(TypeError)
      expect(String(failure), `${name} of ${what}`).toContain(found)
      expect(sent).toBe(0)
    }
  },
)
