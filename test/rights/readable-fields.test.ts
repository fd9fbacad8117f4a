import { expect } from 'vitest'
import { defineCollection, error, integer, text } from '../../src/entries/index.ts'
import { auditor, clerk, firstPeople, hiddenNames, people, peopleFields } from '../kit/people.ts'
import { describeForCallers } from '../kit/stage.ts'
import type { Response as Answer } from '../kit/service.ts'
import { bytesOf, itemIn, valuesIn } from './responses.ts'

const seen = ['id', 'name', 'grade', 'city']

describeForCallers('fields that a caller may not read', (on) => {
  on('pages leave them out, with $fields=* too', async (open) => {
    const stage = open({ collections: { people } })
    await stage.plant('people', firstPeople)
    const page = await stage.ask(clerk, 'GET', '/people')
    expect(page.body.items).toEqual([
      { id: 1, name: 'Ann', grade: 3 },
      { id: 2, name: 'Bob', grade: 1 },
      { id: 3, name: 'Cyd', grade: 2 },
    ])
    const all = await stage.ask(clerk, 'GET', '/people?$fields=*&$limit=1')
    expect(Object.keys(all.body.items?.[0] ?? {})).toEqual(seen)
    const whole = await stage.ask(auditor, 'GET', '/people?$fields=*&$limit=1')
    expect(whole.body.items).toEqual([
      {
        id: 1,
        secret: 'zebra',
        name: 'Ann',
        score: 5,
        grade: 3,
        file: null,
        state: 'new',
        city: 'Rome',
      },
    ])
  })

  on('items, and the responses of insert, update and delete, leave them out', async (open) => {
    const stage = open({ collections: { people } })
    await stage.plant('people', firstPeople)
    const answers = [
      await stage.ask(clerk, 'GET', '/people/1'),
      await stage.ask(clerk, 'GET', '/people/1?name=Ann'),
      await stage.ask(clerk, 'POST', '/people', { id: 7, name: 'Eve', pin: '9999' }),
      await stage.ask(clerk, 'POST', '/people/1', { name: 'Anna' }),
      await stage.ask(clerk, 'DELETE', '/people/1'),
    ]
    for (const answer of answers) expect(Object.keys(itemIn(answer))).toEqual(seen)
    const names = Object.keys(peopleFields).filter((name) => name !== 'pin')
    expect(Object.keys(itemIn(await stage.ask(auditor, 'GET', '/people/2')))).toEqual(names)
    const removed = await stage.ask(auditor, 'DELETE', '/people/2')
    expect(itemIn(removed)).toMatchObject({ secret: 'Ann', score: null })
    expect(removed.text).not.toContain('pin')
  })

  on('the echoes of failed saves and deletes leave them out', async (open) => {
    const kept = error('kept', { events: ['Delete'], check: () => 'It stays.' })
    const guarded = defineCollection({ key: 'id', fields: peopleFields }, { validations: [kept] })
    const stage = open({ collections: { guarded } })
    await stage.plant('guarded', firstPeople)
    const rejected = await stage.ask(clerk, 'DELETE', '/guarded/1')
    expect(rejected.status).toBe(400)
    expect(rejected.body.item).toEqual({ id: 1, name: 'Ann', grade: 3, city: 'Rome' })
    const changed = await stage.ask(clerk, 'POST', '/guarded/1', { name: null, grade: 3 })
    expect(changed.status).toBe(400)
    expect(changed.body.item).toEqual({ name: null, grade: 3 })
  })

  on('naming one in a query is naming a field that does not exist', async (open) => {
    const stage = open({ collections: { people } })
    await stage.plant('people', firstPeople)
    const spellings = (name: string): readonly string[] => [
      `/people?$fields=${name}`,
      `/people?$fields=name,${name}`,
      `/people?$fields=${name}&$fields=id`,
      `/people?$sort=${name}`,
      `/people?$sort=-${name}`,
      `/people?$sort=name,-${name}&$limit=0`,
      `/people?${name}=`,
      `/people?${name}=Ann`,
      `/people?${name}=5`,
      `/people?${name}=05&$count=true`,
      `/people?name=Ann&${name}=zebra`,
      `/people?id=x&${name}=zebra`,
      `/people?${name}=zebra&id=x`,
      `/people/1?${name}=`,
      `/people/1?${name}=zebra`,
      `/people/99?${name}=zebra`,
      `/people/1?${name}=x&name=Ann`,
    ]
    // The message repeats the name that the client sent, and is otherwise the same.
    const nameless = (answer: Answer, name: string): string =>
      bytesOf({ ...answer, text: answer.text.replaceAll(name, '?') })
    const paths = spellings('nothing')
    const unknown: Answer[] = []
    for (const path of paths) {
      const answer = await stage.ask(clerk, 'GET', path)
      expect(answer.status, path).toBe(400)
      unknown.push(answer)
    }
    for (const name of [...hiddenNames, 'pin']) {
      for (const [index, path] of spellings(name).entries()) {
        const answer = await stage.ask(clerk, 'GET', path)
        expect(nameless(answer, name), path).toBe(nameless(unknown[index] as Answer, 'nothing'))
      }
    }
    expect(valuesIn(await stage.ask(auditor, 'GET', '/people?secret=zebra'))).toEqual([1])
    expect(valuesIn(await stage.ask(auditor, 'GET', '/people?$sort=-score'))).toEqual([1, 3, 2])
    itemIn(await stage.ask(auditor, 'GET', '/people/1?secret=zebra'))
  })

  on('$q does not look into them', async (open) => {
    const stage = open({ collections: { people } })
    await stage.plant('people', firstPeople)
    const found = async (who: typeof clerk, q: string) =>
      valuesIn(await stage.ask(who, 'GET', `/people?$q=${q}`))
    expect(await found(clerk, 'ann')).toEqual([1])
    expect(await found(auditor, 'ann')).toEqual([1, 2])
    expect(await found(clerk, 'zebra')).toEqual([])
    expect(await found(clerk, '-1')).toEqual([])
    expect(await found(clerk, '1234')).toEqual([])
    expect(await found(auditor, '1234')).toEqual([])
    const counted = await stage.ask(clerk, 'GET', '/people?$q=zebra&$count=true')
    expect(counted.body.count).toBe(0)
  })

  on('$q finds nothing where every field that it looks into is closed', async (open) => {
    const fields = {
      id: integer({ search: false }),
      word: text({ readableBy: ['Auditor'] }),
    } as const
    const words = defineCollection({ key: 'id', fields })
    const stage = open({ collections: { words } })
    await stage.plant('words', [{ id: 1, word: 'a' }])
    const blind = await stage.ask(clerk, 'GET', '/words?$q=a&$count=true')
    expect(blind.body).toMatchObject({ items: [], count: 0 })
    expect(valuesIn(await stage.ask(clerk, 'GET', '/words?$q='))).toEqual([1])
    expect(valuesIn(await stage.ask(auditor, 'GET', '/words?$q=a'))).toEqual([1])
  })

  on('a collection without key is sorted by the fields that the caller can read', async (open) => {
    const fields = {
      secret: text({ readableBy: ['Auditor'] }),
      name: text(),
      size: integer(),
    } as const
    const loose = defineCollection({ fields })
    const stage = open({ collections: { loose } })
    await stage.plant('loose', [
      { secret: 'a', name: 'z', size: 2 },
      { secret: 'b', name: 'a', size: 1 },
      { secret: 'c', name: 'a', size: null },
    ])
    const page = await stage.ask(clerk, 'GET', '/loose')
    expect(page.body.items).toEqual([
      { name: 'a', size: null },
      { name: 'a', size: 1 },
      { name: 'z', size: 2 },
    ])
    expect(valuesIn(await stage.ask(auditor, 'GET', '/loose'), 'secret')).toEqual(['a', 'b', 'c'])
  })

  on('a caller who may read no field gets empty items', async (open) => {
    const fields = { word: text({ readableBy: ['Auditor'] }) } as const
    const quiet = defineCollection({ fields })
    const after = defineCollection({ fields }, { events: { Filter: { after: () => undefined } } })
    const stage = open({ collections: { quiet, after } })
    for (const name of ['quiet', 'after']) {
      await stage.plant(name, [{ word: 'a' }, { word: 'b' }])
      for (const query of ['', '?$fields=*', '?$q=', '?$count=true']) {
        const page = await stage.ask(clerk, 'GET', `/${name}${query}`)
        expect(page.status, query).toBe(200)
        expect(page.body.items).toEqual([{}, {}])
      }
      expect((await stage.ask(clerk, 'GET', `/${name}?$q=a`)).body.items).toEqual([])
    }
  })

  on('a caller whose fields are all off by default gets items to select from', async (open) => {
    const fields = {
      id: integer({ includeByDefault: false }),
      word: text({ readableBy: ['Auditor'] }),
    } as const
    const quiet = defineCollection({ key: 'id', fields })
    const stage = open({ collections: { quiet } })
    await stage.plant('quiet', [{ id: 1, word: 'a' }])
    expect((await stage.ask(clerk, 'GET', '/quiet')).body.items).toEqual([{}])
    expect(valuesIn(await stage.ask(clerk, 'GET', '/quiet?$fields=id'))).toEqual([1])
  })

  on('each caller has its own view, whatever callers came before', async (open) => {
    const fields = {
      id: integer(),
      a: text({ readableBy: ['A', 'Both'] }),
      b: text({ readableBy: ['B', 'Both'] }),
    } as const
    const both = defineCollection({ key: 'id', fields })
    const stage = open({ collections: { both } })
    await stage.plant('both', [{ id: 1, a: 'x', b: 'y' }])
    const namesFor = async (roles: string) => {
      const item = itemIn(await stage.ask({ 'x-user': 'v', 'x-roles': roles }, 'GET', '/both/1'))
      return Object.keys(item).join('')
    }
    for (const round of [1, 2]) {
      expect(await namesFor('A'), `round ${round}`).toBe('ida')
      expect(await namesFor('B')).toBe('idb')
      expect(await namesFor('B,A')).toBe('idab')
      expect(await namesFor('Other')).toBe('id')
      expect(await namesFor('Both')).toBe('idab')
      expect(await namesFor('AB')).toBe('id')
    }
  })
})
