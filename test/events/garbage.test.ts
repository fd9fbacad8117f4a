import { expect } from 'vitest'
import {
  defineCollection,
  error,
  integer,
  text,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { describeOnStorages } from '../kit/stage.ts'
import { expectFault, loose, tasks } from './tasks.ts'

const task = { id: 1, title: 'one' }

const wrong: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'an unknown field': { nope: 1 },
  'a number in a text': { title: 5 },
  'a Date': { title: new Date(0) },
  NaN: { size: NaN },
  'a BigInt': { size: 1n },
  'a Map': { title: new Map() },
  'a Buffer': { title: Buffer.from('x') },
  'a function': { title: () => 'x' },
  'a symbol': { title: Symbol('x') },
  'a fraction in an integer': { size: 0.5 },
  'U+0000': { title: '\0' },
}

describeOnStorages('code of the host that returns or sets what it may not', (on) => {
  for (const [what, values] of Object.entries(wrong)) {
    on(`${what} in the item: 500, and nothing is stored`, async (open) => {
      const stage = open({
        tasks: tasks({
          events: { Insert: { before: ({ item }) => void Object.assign(item, values) } },
        }),
      })
      await expectFault(stage)
      expect(stage.reports()).toMatchObject([
        {
          type: 'handler-failed',
          name: 'before',
          place: { application: 'app', collection: 'tasks' },
        },
      ])
    })

    on(`${what} in a shown item: 500`, async (open) => {
      const stage = open({
        tasks: tasks({
          events: { Filter: { after: ({ items }) => void Object.assign(items[0] ?? {}, values) } },
        }),
      })
      await stage.ask('POST', '/tasks', task)
      expect((await stage.ask('GET', '/tasks')).status).toBe(500)
      expect(stage.reports()).toMatchObject([{ type: 'handler-failed', name: 'after' }])
    })
  }

  for (const verdict of [5, {}, [], true, false, '', Symbol('x'), new Map()]) {
    on(`a rule that returns ${typeof verdict} ${JSON.stringify(verdict)}: 500`, async (open) => {
      const stage = open({
        tasks: tasks({ validations: [error('rule', { check: () => verdict as string })] }),
      })
      await expectFault(stage)
      expect(stage.reports()).toMatchObject([{ type: 'handler-failed', name: 'rule' }])
    })
  }

  for (const message of [5, '', undefined, null, {}]) {
    on(`a finding whose message is ${JSON.stringify(message)}: 500`, async (open) => {
      const stage = open({
        tasks: tasks({ events: { Insert: { before: (event) => event.error(message as string) } } }),
      })
      await expectFault(stage)
      expect(stage.reports()).toMatchObject([{ type: 'handler-failed', name: 'before' }])
    })
  }

  for (const [what, make] of Object.entries<() => unknown>({
    throws: () => {
      throw new Error('x')
    },
    'returns a number': () => 5,
    'returns a Date': () => new Date(),
    'returns a promise': () => Promise.resolve('x'),
  })) {
    on(`a default that ${what}: 500`, async (open) => {
      const fields = { id: integer(), title: text(), made: text({ default: make as () => string }) }
      const stage = open({ tasks: loose(defineCollection({ key: 'id', fields })) })
      await expectFault(stage)
      expect(stage.reports()).toMatchObject([{ type: 'handler-failed', name: 'default' }])
    })
  }

  on('what a handler sees and must not change is frozen', async (open) => {
    const attempts: string[] = []
    const attempt = (name: string, change: () => void) => {
      try {
        change()
        attempts.push(name)
      } catch {
        // As it should be.
      }
    }
    const definition: CollectionDefinition = tasks({
      validations: [
        error('rule', {
          check: (item) => attempt('item', () => void ((item as { title: string }).title = 'x')),
        }),
      ],
      events: {
        Update: {
          before: ({ stored, principal }) => {
            attempt('stored', () => void ((stored as { title: string }).title = 'x'))
            attempt('principal', () => void ((principal as { user: string }).user = 'root'))
            attempt('roles', () => void (principal.roles as string[]).push('Admin'))
            const fields = definition.fields as unknown as Record<string, object>
            fields['title'] = { maxLength: 1 }
          },
          after: ({ item }) =>
            attempt('after', () => void ((item as { title: string }).title = 'x')),
        },
      },
    })
    const { ask } = open({ tasks: definition })
    await ask('POST', '/tasks', task)
    expect((await ask('POST', '/tasks/1', { size: 1 })).status).toBe(200)
    expect((await ask('POST', '/tasks/1', { title: 'longer' })).body.item).toMatchObject({
      title: 'longer',
    })
    expect(attempts).toEqual([])
  })
})
