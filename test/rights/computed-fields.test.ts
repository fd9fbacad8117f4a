import { expect } from 'vitest'
import { computed, defineCollection, integer, text } from '../../src/entries/index.ts'
import { visitor } from '../kit/visitors.ts'
import { describeForCallers } from '../kit/stage.ts'
import { itemIn } from './responses.ts'

const people = defineCollection(
  {
    key: 'id',
    fields: {
      id: integer(),
      name: text(),
      born: integer({ readableBy: ['Doctor'] }),
      pin: text({ readableBy: [] }),
      letter: text({ itemOnly: true }),
    },
  },
  {
    computed: {
      decade: computed(integer(), ['born'], ({ born }) => born && born - (born % 10)),
      adult: computed(text({ readableBy: ['Clerk', 'Doctor'] }), ['born'], ({ born }) =>
        (born ?? 9999) <= 2000 ? 'yes' : 'no',
      ),
      hasPin: computed(text({ readableBy: ['Doctor'] }), ['pin'], ({ pin }) =>
        pin === null ? 'no' : 'yes',
      ),
      length: computed(integer(), ['letter'], ({ letter }) => letter?.length ?? 0),
    },
  },
)

const clerk = visitor('clerk', { roles: 'Clerk' })
const doctor = visitor('doctor', { roles: 'Doctor' })
const guest = visitor('guest')
const ann = { id: 1, name: 'Ann', born: 1984, pin: '1', letter: 'abc' }

describeForCallers('computed fields', (on) => {
  on('exist for callers who can read what they need, or by their own roles', async (open) => {
    const stage = open({ collections: { people } })
    await stage.plant('people', [ann])
    const itemFor = async (who: typeof clerk) => itemIn(await stage.ask(who, 'GET', '/people/1'))
    const open_ = { id: 1, name: 'Ann', letter: 'abc' }
    // Repeated, so that plans and responses of one caller would be used for another.
    for (let round = 0; round < 3; round++) {
      expect(await itemFor(guest)).toEqual({ ...open_, length: 3 })
      expect(await itemFor(clerk)).toEqual({ ...open_, adult: 'yes', length: 3 })
      expect(await itemFor(doctor)).toEqual({
        ...open_,
        born: 1984,
        decade: 1980,
        adult: 'yes',
        hasPin: 'yes',
        length: 3,
      })
      const all = await stage.ask(clerk, 'GET', '/people?$fields=*')
      expect(all.body.items).toEqual([{ id: 1, name: 'Ann', adult: 'yes' }])
      const few = await stage.ask(guest, 'GET', '/people?$fields=*')
      expect(few.body.items).toEqual([{ id: 1, name: 'Ann' }])
    }
    const saved = await stage.ask(clerk, 'POST', '/people/1', { name: 'Eve' })
    expect(itemIn(saved)).toEqual({ ...open_, name: 'Eve', adult: 'yes', length: 3 })
  })

  on('are unknown to other callers', async (open) => {
    const stage = open({ collections: { people } })
    await stage.plant('people', [ann])
    const texts = new Set<string>()
    for (const name of ['decade', 'hasPin', 'nope']) {
      const answers = [
        await stage.ask(clerk, 'GET', `/people?$fields=${name}`),
        await stage.ask(clerk, 'GET', `/people?$sort=${name}`),
        await stage.ask(clerk, 'GET', `/people?${name}=1`),
        await stage.ask(clerk, 'POST', '/people/1', { [name]: 1 }),
      ]
      expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400])
      texts.add(answers.map(({ text: body }) => body.replaceAll(name, '?')).join('\n'))
    }
    expect(texts.size).toBe(1)
    expect((await stage.ask(clerk, 'GET', '/people?$fields=length')).status).toBe(400)
    const sent = await stage.ask(clerk, 'POST', '/people/1', { adult: 'no' })
    expect(sent.body.validations).toMatchObject([{ message: 'adult is read-only.' }])
  })
})
