import { expect } from 'vitest'
import {
  defineCollection,
  error,
  information,
  text,
  warning,
  type Draft,
  type Validation,
} from '../../src/entries/index.ts'
import { auditor, clerk, firstPeople, hiddenNames, people, peopleFields } from '../kit/people.ts'
import { describeForCallers } from '../kit/stage.ts'
import type { Response as Answer } from '../kit/service.ts'
import { bytesOf, itemIn } from './responses.ts'

interface Shape {
  readonly fields: typeof peopleFields
  readonly key: 'id'
}

const unseen = 'A value that you cannot see does not allow this.'

/** The fields that a failed save names, in their order; null for one that it does not name. */
function namedBy(answer: Answer): readonly (string | null)[] {
  expect(answer.status, answer.text).toBe(400)
  return answer.body.validations.map(({ field }) => field ?? null)
}

describeForCallers('fields that a caller may not write', (on) => {
  on('one that it must not read either is sent like an unknown one', async (open) => {
    const stage = open({ collections: { people } })
    await stage.plant('people', firstPeople)
    const bodies = (name: string): readonly (readonly [path: string, body: object])[] => [
      ['/people', { id: 9, name: 'x', [name]: 'zebra' }],
      ['/people', { [name]: 'zebra', id: 9, name: 'x' }],
      ['/people', { id: 9, [name]: 'zebra', name: 5, city: 7 }],
      ['/people', { [name]: null, other: 1, id: 9, name: 'x'.repeat(21) }],
      ['/people', { other: 1, [name]: { deep: [] }, another: 1 }],
      ['/people', { [name]: 5 }],
      ['/people', { id: 9, name: 'x', [name]: 'new' }],
      ['/people/1', { [name]: 'zebra' }],
      ['/people/1', { [name]: 5, name: null }],
      ['/people/1', { [name]: null, grade: 8 }],
      ['/people/1', { [name]: '', id: 2 }],
      ['/people/99', { [name]: 'zebra' }],
    ]
    const unknown: Answer[] = []
    for (const [path, body] of bodies('nothing')) {
      unknown.push(await stage.ask(clerk, 'POST', path, body))
    }
    expect(unknown.map(({ status }) => status)).toEqual([...Array<number>(11).fill(400), 404])
    for (const name of hiddenNames) {
      for (const [index, [path, body]] of bodies(name).entries()) {
        const answer = await stage.ask(clerk, 'POST', path, body)
        const expected = bytesOf(unknown[index] as Answer).replaceAll('nothing', name)
        expect(bytesOf(answer), JSON.stringify(body)).toBe(expected)
      }
    }
  })

  on('those with the right set it', async (open) => {
    const stage = open({ collections: { people } })
    const sent = { id: 9, name: 'x', secret: 'abc', score: 1, pin: '1', grade: 4, file: [1] }
    const { pin, ...read } = sent
    expect(itemIn(await stage.ask(auditor, 'POST', '/people', sent))).toEqual({
      ...read,
      state: 'new',
      city: null,
    })
    expect((await stage.rows('people'))[0]).toMatchObject({ pin, secret: 'abc', grade: 4 })
    const changed = await stage.ask(auditor, 'POST', '/people/9', { secret: null, grade: 5 })
    expect(itemIn(changed)).toMatchObject({ secret: null, grade: 5 })
    expect(namedBy(await stage.ask(auditor, 'POST', '/people/9', { state: 'old' }))).toEqual([
      'state',
    ])
    itemIn(await stage.ask(auditor, 'POST', '/people/9', { state: 'new' }))
  })

  on('a write-only field is stored and never returned', async (open) => {
    const stage = open({ collections: { people } })
    await stage.plant('people', firstPeople)
    const created = await stage.ask(clerk, 'POST', '/people', { id: 9, name: 'x', pin: '4711' })
    expect(itemIn(created)).toEqual({ id: 9, name: 'x', grade: 1, city: null })
    expect((await stage.rows('people')).at(-1)).toMatchObject({ id: 9, pin: '4711' })
    const changed = await stage.ask(clerk, 'POST', '/people/9', { pin: '4712' })
    expect(changed.text).not.toMatch(/pin|471/)
    expect((await stage.rows('people')).at(-1)).toMatchObject({ id: 9, pin: '4712' })
    const cleared = await stage.ask(auditor, 'POST', '/people/9', { pin: null })
    expect(itemIn(cleared)).not.toHaveProperty('pin')
    expect((await stage.rows('people')).at(-1)).toMatchObject({ id: 9, pin: null })
  })

  on(
    'a mistake in a write-only field is named, and the echo repeats only the body',
    async (open) => {
      const stage = open({ collections: { people } })
      await stage.plant('people', firstPeople)
      const long = await stage.ask(clerk, 'POST', '/people/1', { pin: '12345', name: 'A' })
      expect(namedBy(long)).toEqual(['pin'])
      expect(long.body.item).toEqual({ pin: '12345', name: 'A' })
      const other = await stage.ask(clerk, 'POST', '/people/1', { name: null })
      expect(namedBy(other)).toEqual(['name'])
      expect(other.body.item).toEqual({ name: null })
      expect(other.text).not.toContain('1234')
    },
  )

  on(
    'the same response whether a value for writing only is the stored one or not',
    async (open) => {
      const stage = open({ collections: { people } })
      await stage.plant('people', firstPeople)
      const right = await stage.ask(clerk, 'POST', '/people/1', { pin: '1234' })
      const wrong = await stage.ask(clerk, 'POST', '/people/1', { pin: '0000' })
      expect(right.status).toBe(200)
      expect(bytesOf(right)).toBe(bytesOf(wrong))
    },
  )

  on('one that it may read may come back unchanged, and not changed', async (open) => {
    const stage = open({ collections: { people } })
    await stage.plant('people', firstPeople)
    const same = await stage.ask(clerk, 'POST', '/people/1', { grade: 3, name: 'A' })
    expect(itemIn(same)).toMatchObject({ grade: 3, name: 'A' })
    for (const grade of [4, null]) {
      const answer = await stage.ask(clerk, 'POST', '/people/1', { grade, name: 'B' })
      expect(answer.body).toEqual({
        item: { grade, name: 'B' },
        message: 'The changes could not be saved.',
        validations: [{ message: 'grade is read-only.', severity: 'error', field: 'grade' }],
        status: 200,
      })
      expect(answer.status).toBe(400)
    }
    const fresh = await stage.ask(clerk, 'POST', '/people', { id: 9, name: 'x', grade: 1 })
    expect(itemIn(fresh)).toMatchObject({ grade: 1 })
    const raised = await stage.ask(clerk, 'POST', '/people', { id: 10, name: 'x', grade: 2 })
    expect(namedBy(raised)).toEqual(['grade'])
    expect(namedBy(await stage.ask(clerk, 'POST', '/people/1', { grade: 10 }))).toEqual(['grade'])
    expect(namedBy(await stage.ask(clerk, 'POST', '/people/1', { grade: '3' }))).toEqual(['grade'])
  })

  on('mistakes are in definition order, with the mistakes of hidden fields last', async (open) => {
    const stage = open({ collections: { people } })
    await stage.plant('people', firstPeople)
    const body = { city: 1, secret: 'x', grade: 5, nope: 1, pin: 5, name: 5, id: 2 }
    const answer = await stage.ask(clerk, 'POST', '/people/1', body)
    const known = ['id', 'name', 'pin', 'grade', 'city']
    expect(namedBy(answer)).toEqual([...known, 'secret', 'nope'])
  })
})

describeForCallers('findings on fields that a caller may not see', (on) => {
  on('a missing value and a broken constraint name neither field nor rule', async (open) => {
    const fields = {
      ...peopleFields,
      code: text({ required: true, readableBy: ['Auditor'], writableBy: ['Auditor'] }),
    } as const
    const strict = defineCollection(
      { key: 'id', fields },
      {
        events: {
          Insert: {
            before: ({ item }) => {
              if (item.name === 'long') Object.assign(item, { secret: 'x'.repeat(11), code: 'c' })
            },
          },
        },
      },
    )
    const stage = open({ collections: { strict } })
    const masked = [{ message: unseen, severity: 'error' }]
    const missing = await stage.ask(clerk, 'POST', '/strict', { id: 1, name: 'x' })
    expect(missing.body.validations).toEqual(masked)
    const mixed = await stage.ask(clerk, 'POST', '/strict', { id: 1, name: 5 })
    expect(namedBy(mixed)).toEqual(['name', null])
    const long = await stage.ask(clerk, 'POST', '/strict', { id: 1, name: 'long' })
    expect(long.body.validations).toEqual(masked)
    for (const { text: whole } of [missing, mixed, long]) {
      expect(whole).not.toMatch(/secret|code|required|xxx|at most/)
    }
    const told = await stage.ask(auditor, 'POST', '/strict', { id: 1, name: 'long' })
    expect(told.body.validations).toMatchObject([{ field: 'secret' }])
  })

  on('findings of rules and handlers on hidden fields reveal no values', async (open) => {
    const validations: readonly Validation<Draft<Shape>>[] = [
      error('a', { field: 'secret', check: ({ name }) => (name === 'a' ? 'secret a' : null) }),
      information('b', { field: 'score', check: ({ name }) => (name === 'b' ? 'secret b' : null) }),
      error('e', { field: 'pin', check: ({ name }) => (name === 'e' ? 'told' : null) }),
    ]
    const ruled = defineCollection(
      { key: 'id', fields: peopleFields, validations },
      {
        events: {
          Insert: {
            before: ({ item, error: fail, reject: stop }) => {
              if (item.name === 'c') fail('secret c', 'secret')
              if (item.name === 'd') stop('secret d', 'file')
            },
            after: ({ item, error: fail }) => {
              if (item.name === 'f') fail('secret f', 'state')
            },
          },
        },
      },
    )
    const stage = open({ collections: { ruled } })
    for (const name of ['a', 'c', 'd', 'f']) {
      const answer = await stage.ask(clerk, 'POST', '/ruled', { id: 1, name })
      expect(answer.status, answer.text).toBe(400)
      expect(answer.body.validations).toEqual([{ message: unseen, severity: 'error' }])
      const told = await stage.ask(auditor, 'POST', '/ruled', { id: 1, name })
      expect(told.body.validations).toMatchObject([{ message: `secret ${name}` }])
    }
    const noted = await stage.ask(clerk, 'POST', '/ruled', { id: 1, name: 'b' })
    expect(noted.status).toBe(200)
    expect(noted.text).not.toMatch(/secret|score/)
    expect(noted.body.validations).toEqual([])
    expect(namedBy(await stage.ask(clerk, 'POST', '/ruled', { id: 2, name: 'e' }))).toEqual(['pin'])
  })

  on('warnings on hidden fields have different ids, and can be confirmed', async (open) => {
    const validations: readonly Validation<Draft<Shape>>[] = [
      warning('one', { field: 'secret', check: ({ name }) => (name === 'w' ? 'secret 1' : null) }),
      warning('two', { field: 'score', check: ({ name }) => (name === 'w' ? 'secret 2' : null) }),
    ]
    const ruled = defineCollection({ key: 'id', fields: peopleFields, validations })
    const stage = open({ collections: { ruled } })
    const held = await stage.ask(clerk, 'POST', '/ruled', { id: 1, name: 'w' })
    expect(held.body.status).toBe(400)
    const ids = held.body.validations.map(({ validationId = '' }) => validationId)
    expect(new Set(ids).size).toBe(2)
    for (const [index, validationId] of ids.entries()) {
      expect(held.body.validations[index]).toEqual({
        validationId,
        message: unseen,
        severity: 'warning',
      })
    }
    const half = { ...clerk, 'x-svc-ignore-warnings': `"${ids[0] ?? ''}"` }
    const still = await stage.ask(half, 'POST', '/ruled', { id: 1, name: 'w' })
    expect(still.body.validations.map(({ validationId }) => validationId)).toEqual([ids[1]])
    const whole = { ...clerk, 'x-svc-ignore-warnings': ids.map((id) => `"${id}"`).join(',') }
    itemIn(await stage.ask(whole, 'POST', '/ruled', { name: 'w', id: 1 }))
  })
})
