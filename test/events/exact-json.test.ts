import fc from 'fast-check'
import { expect } from 'vitest'
import {
  computed,
  defineCollection,
  error,
  integer,
  json,
  JsonNumber,
  system,
  text,
  warning,
  type CollectionBehaviour,
  type Json,
} from '../../src/entries/index.ts'
import { jsonTexts, spaced } from '../kit/json-texts.ts'
import { describeOnStorages, type Stage } from '../kit/stage.ts'

const fields = { id: integer(), note: text(), extra: json() } as const
type Shape = { readonly key: 'id'; readonly fields: typeof fields }

const notes = (code: CollectionBehaviour<Shape> = {}) =>
  defineCollection({ key: 'id', fields: { ...fields } }, code)

/** A text that JSON.parse and JSON.stringify would change in every way. */
const odd =
  '{"10":1.10,"2":12345678901234567890.123,"b":[1e2,-0,{"9":1.0,"1":"\\u00e9\\/"}],"a":null,"\\u0063":0.10000000000000000555}'
const itemText = (id: number, extra: string, note = 'null'): string =>
  `"item":{"id":${id},"note":${note},"extra":${extra}}`

async function expectItem(stage: Stage, id: number, extra: string, note = 'null') {
  const read = await stage.ask('GET', `/notes/${id}`)
  expect(read.text).toContain(itemText(id, extra, note))
  const page = await stage.ask('GET', `/notes?id=${id}`)
  expect(page.text).toContain(itemText(id, extra, note).replace('"item":', '"items":[') + ']')
}

async function post(stage: Stage, path: string, body: string) {
  const reply = await stage.ask('POST', path, body)
  expect(reply.text).toContain('"status":200')
  expect(reply.status).toBe(200)
  return reply.text
}

const notesOf = ({ service }: Stage) => service.as(system).collection('app', 'notes')

describeOnStorages('a json value', (on) => {
  on('is stored and sent as the client wrote it, but for white space', async (open) => {
    const stage = open({ notes: notes() })
    let id = 0
    const spaces = fc.infiniteStream(fc.constantFrom('', '', ' ', '\n\t'))
    const property = fc.asyncProperty(jsonTexts, spaces, async (extra, between) => {
      id++
      const body = `{"id":${id},"extra":${extra}}`
      expect(await post(stage, '/notes', spaced(body, between))).toContain(itemText(id, extra))
      await expectItem(stage, id, extra)
      // What was read is sent back.
      expect(await post(stage, `/notes/${id}`, body)).toContain(itemText(id, extra))
      expect(await post(stage, `/notes/${id}`, '{"note":"x"}')).toContain(
        itemText(id, extra, '"x"'),
      )
      await expectItem(stage, id, extra, '"x"')
    })
    await fc.assert(property, { numRuns: 60 })
  })

  on('keeps its text when a handler changes nothing, or another part of it', async (open) => {
    const stage = open({
      notes: notes({
        events: {
          Insert: { before: () => undefined },
          Update: {
            before: ({ item }) => {
              if (item.note === 'part') item.extra = { ...(item.extra as object), seen: true }
              if (item.note === 'deep') (item.extra as { b: unknown[] }).b.push('deep')
            },
          },
        },
      }),
    })
    await post(stage, '/notes', `{"id":1,"extra":${odd}}`)
    await expectItem(stage, 1, odd)
    await post(stage, '/notes/1', '{"note":"a"}')
    await expectItem(stage, 1, odd, '"a"')
    const part = `${odd.slice(0, -1)},"seen":true}`
    expect(await post(stage, '/notes/1', '{"note":"part"}')).toContain(itemText(1, part, '"part"'))
    const deep = part.replace('}],"a"', '},"deep"],"a"')
    expect(await post(stage, '/notes/1', '{"note":"deep"}')).toContain(itemText(1, deep, '"deep"'))
    await expectItem(stage, 1, deep, '"deep"')
  })

  on('is sent as it is stored where a Filter has handlers', async (open) => {
    const at = {
      before: open({ notes: notes({ events: { Filter: { before: () => undefined } } }) }),
    }
    const after = open({
      notes: notes({
        events: {
          Filter: {
            after: ({ items }) => {
              for (const item of items) {
                item.note = 'read'
                const extra = item.extra as Record<string, Json> | null
                if (extra !== null && 'b' in extra) extra['b'] = []
              }
            },
          },
        },
      }),
    })
    for (const stage of [at.before, after]) await post(stage, '/notes', `{"id":1,"extra":${odd}}`)
    await expectItem(at.before, 1, odd)
    await expectItem(after, 1, odd.replace(/"b":.*?\}\],/, '"b":[],'), '"read"')
  })

  on(
    'has its exact numbers in the code of its collection, which gets them as they are',
    async (open) => {
      const seen: unknown[] = []
      const exact = new JsonNumber('12345678901234567890.123')
      const see = (item: { readonly extra?: unknown }) =>
        void seen.push((item.extra as Readonly<Record<string, unknown>>)['2'])
      const stage = open({
        notes: notes({
          validations: [error('seen', { check: (item) => see(item) })],
          events: {
            Insert: {
              prepare: ({ values }) => see(values),
              before: ({ item }) => see(item),
              after: ({ item }) => see(item),
              committed: ({ item }) => see(item),
            },
            Delete: { before: ({ stored }) => see(stored), after: ({ item }) => see(item) },
          },
        }),
      })
      await post(stage, '/notes', `{"id":1,"extra":${odd}}`)
      const deleted = await stage.ask('DELETE', '/notes/1')
      expect(deleted.text).toContain(itemText(1, odd))
      expect(seen.map(String)).toEqual(Array(7).fill(exact.text))
      expect(seen.every((number) => number instanceof JsonNumber)).toBe(true)
    },
  )

  on('of a computed field is sent as its function returned it', async (open) => {
    const computing = defineCollection(
      { key: 'id', fields: { ...fields } },
      {
        computed: {
          copy: computed(json(), ['extra'], ({ extra }) => extra),
          part: computed(json(), ['extra'], ({ extra }) => (extra as { b: Json[] }).b[2] ?? null),
          all: computed(json(), ['extra'], ({ extra }) => ({ ...(extra as object), id: 1 })),
        },
      },
    )
    const stage = open({ notes: computing })
    const expected = `"extra":${odd},"copy":${odd},"part":{"9":1.0,"1":"\\u00e9\\/"},`
    const inserted = await post(stage, '/notes', `{"id":1,"extra":${odd}}`)
    expect(inserted).toContain(expected)
    expect(inserted).toContain('"all":{"2":12345678901234567890.123,"10":1.1,')
    const read = await stage.ask('GET', '/notes/1')
    expect(read.text).toContain(expected)
    // The current value may be sent back, in any order of its members.
    const same =
      '{"id":1,"c":0.10000000000000000555,"a":null,"b":[100,0,{"1":"é/","9":1}],"10":1.1,"2":12345678901234567890.1230}'
    await post(stage, '/notes/1', `{"copy":${odd},"all":${same}}`)
    const other = await stage.ask('POST', '/notes/1', `{"all":${same.replace('0.1230', '0.1231')}}`)
    expect(other.body.validations).toMatchObject([{ field: 'all', message: 'all is read-only.' }])
  })

  on(
    'that is read-only may be sent back in another spelling, and not with another number',
    async (open) => {
      const facts = '{"10":1.10,"2":12345678901234567890.123}'
      const stage = open({
        notes: defineCollection(
          { key: 'id', fields: { id: integer(), extra: json({ readOnly: true }) } },
          {
            events: {
              Insert: {
                before: ({ item }) =>
                  void (item.extra = {
                    '10': 1.1,
                    '2': new JsonNumber('12345678901234567890.123'),
                  }),
              },
            },
          },
        ),
      })
      await post(stage, '/notes', '{"id":1}')
      for (const extra of [
        facts,
        '{"2":12345678901234567890123e-3,"10":1.1}',
        '{"10":11e-1,"2":12345678901234567890.1230}',
      ])
        await post(stage, '/notes/1', `{"extra":${extra}}`)
      for (const extra of [
        facts.replace('123}', '124}'),
        facts.replace('1.10', '1.11'),
        '{"2":12345678901234567890,"10":1.1}',
      ]) {
        const { status, body } = await stage.ask('POST', '/notes/1', `{"extra":${extra}}`)
        expect([status, body.validations]).toMatchObject([400, [{ field: 'extra' }]])
      }
    },
  )

  on(
    'of a warning has another id for another number, and the same for another spelling',
    async (open) => {
      const stage = open({
        notes: notes({ validations: [warning('sure', { check: () => 'Sure?' })] }),
      })
      const idOf = async (extra: string) => {
        const { body } = await stage.ask('POST', '/notes', `{"id":1,"extra":${extra}}`)
        return body.validations[0]?.validationId
      }
      const id = await idOf('{"a":12345678901234567890,"b":1.5}')
      expect(id).toMatch(/^[0-9a-f]{32}$/)
      expect(await idOf('{"b":15e-1,"a":12345678901234567890.0}')).toBe(id)
      expect(await idOf('{"b":1.5,"a":12345678901234567891}')).not.toBe(id)
      const confirmed = await stage.ask(
        'POST',
        '/notes',
        '{"id":1,"extra":{"b":1.50,"a":12345678901234567890}}',
        `"${id}"`,
      )
      expect(confirmed.text).toContain(itemText(1, '{"b":1.50,"a":12345678901234567890}'))
    },
  )

  on('is echoed by a failed save as it was sent', async (open) => {
    const stage = open({ notes: notes({ validations: [error('no', { check: () => 'No.' })] }) })
    for (const extra of [odd, '1.10', '"\\u0061"', '[12345678901234567890]', 'true']) {
      const { text: reply, status } = await stage.ask(
        'POST',
        '/notes',
        `{"id":1, "extra": ${extra}}`,
      )
      expect(status).toBe(400)
      expect(reply).toContain(`"item":{"id":1,"extra":${extra}}`)
    }
    const long = [`[${'1.0,'.repeat(300)}1]`, `1.${'0'.repeat(1000)}`]
    for (const extra of long) {
      const { text: reply } = await stage.ask('POST', '/notes', `{"id":1,"extra":${extra}}`)
      expect(reply.length).toBeLessThan(1200)
    }
  })

  on('that no json field can hold is a failed save whose message says so', async (open) => {
    const stage = open({ notes: notes() })
    const message =
      'extra must be a JSON value of at most 32 levels, with numbers that are finite as a double, and strings without U+0000 and lone surrogates.'
    for (const extra of [
      '"\\u0000"',
      '{"\\u0000":1}',
      '["\\ud800"]',
      '1e400',
      '[-1e999]',
      `[${'9'.repeat(400)}]`,
    ]) {
      const { status, body } = await stage.ask('POST', '/notes', `{"id":1,"extra":${extra}}`)
      expect([status, body.validations]).toEqual([
        400,
        [{ message, severity: 'error', field: 'extra' }],
      ])
    }
    expect(await stage.rows('notes')).toEqual([])
  })

  on('of 32 levels that was read can be sent back, and one of 33 is rejected', async (open) => {
    const stage = open({ notes: notes() })
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    const inProcess = await notesOf(stage).insert({ id: 1, extra: JSON.parse(nested(32)) as Json })
    expect(inProcess.rejected).toBe(false)
    await expectItem(stage, 1, nested(32))
    expect(await post(stage, '/notes/1', `{"extra":${nested(32)}}`)).toContain(
      itemText(1, nested(32)),
    )
    await post(stage, '/notes', `{"id":2,"extra":{"a":${nested(31)}}}`)
    for (const extra of [nested(33), `{"a":${nested(32)}}`]) {
      const { status, body } = await stage.ask('POST', '/notes/1', `{"extra":${extra}}`)
      expect([status, body.message]).toEqual([
        400,
        'The request body has a value that is nested deeper than 32 levels.',
      ])
    }
    const deep = await notesOf(stage).update(1, { extra: JSON.parse(nested(33)) as Json })
    expect(deep).toMatchObject({ rejected: true, validations: [{ field: 'extra' }] })
  })

  on(
    'that application code writes keeps its numbers, and the text of what it has read',
    async (open) => {
      const stage = open({ notes: notes() })
      const own = notesOf(stage)
      await post(stage, '/notes', `{"id":1,"extra":${odd}}`)
      const extra = (await own.get(1))?.['extra'] as Readonly<Record<string, Json>>
      await own.insertMany([
        { id: 2, extra },
        { id: 3, extra: { first: extra['b'] ?? null, total: new JsonNumber(10n ** 30n) } },
      ])
      await expectItem(stage, 2, odd)
      await expectItem(
        stage,
        3,
        '{"first":[1e2,-0,{"9":1.0,"1":"\\u00e9\\/"}],"total":1000000000000000000000000000000}',
      )
      await own.update(2, { extra: { ...extra, a: 1 } })
      await expectItem(
        stage,
        2,
        '{"2":12345678901234567890.123,"10":1.1,"b":[1e2,-0,{"9":1.0,"1":"\\u00e9\\/"}],"a":1,"c":0.10000000000000000555}',
      )
      const given = { list: [1.5] }
      const updated = own.updateMany({ id: { in: [2, 3] } }, { extra: given })
      given.list.push(2)
      await updated
      await expectItem(stage, 2, '{"list":[1.5]}')
      expect(await own.insert({ id: 9, extra: [1n] as never })).toMatchObject({
        rejected: true,
        validations: [{ field: 'extra' }],
      })
      expect(await own.insert({ id: 9, extra: Object(1) as never })).toMatchObject({
        rejected: true,
      })
    },
  )

  on('may be given as a default, and as one of an enumeration', async (open) => {
    const large = new JsonNumber('12345678901234567890')
    const stage = open({
      notes: defineCollection({
        key: 'id',
        fields: {
          id: integer(),
          note: text(),
          extra: json({ default: { large, list: [1.5] } }),
          limit: json({ enumeration: [large, 1.5, { a: 1, b: [2] }], default: () => large }),
        },
      }),
    })
    const inserted = await post(stage, '/notes', '{"id":1}')
    expect(inserted).toContain(
      '"extra":{"large":12345678901234567890,"list":[1.5]},"limit":12345678901234567890}',
    )
    for (const limit of ['12345678901234567890.0', '15e-1', '{"b":[2.0],"a":1}']) {
      expect(await post(stage, '/notes/1', `{"limit":${limit}}`)).toContain(`"limit":${limit}}`)
    }
    const { body } = await stage.ask('POST', '/notes/1', '{"limit":12345678901234567891}')
    expect(body.validations).toMatchObject([
      { message: 'limit must be one of 12345678901234567890, 1.5, {"a":1,"b":[2]}.' },
    ])
  })

  on('keeps its text in inserts at the same time', async (open) => {
    const stage = open({ notes: notes() })
    const ids = Array.from({ length: 24 }, (_, index) => index + 1)
    const texts = ids.map((id) => `{"10":${id}.10,"2":${id}234567890123456789}`)
    await Promise.all(
      ids.map((id) => post(stage, '/notes', `{"id":${id},"extra":${texts[id - 1]}}`)),
    )
    for (const id of ids) await expectItem(stage, id, texts[id - 1] as string)
  })
})
