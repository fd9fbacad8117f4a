import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import { boolean, defineCollection, integer, text } from '../../../src/entries/index.ts'
import type { PublishedCollection, Row, StorageAdapter } from '../../../src/entries/storage.ts'
import { postgresStorage } from '../../../src/entries/postgres.ts'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'
import { duplicate, insert, invalid } from '../sql/error-cases.ts'

const [events, bookings, users] = publishApplications({
  app: {
    collections: {
      events: defineCollection({
        key: ['id', 'region'],
        fields: {
          id: integer(),
          region: integer(),
          code: integer(),
          amount: integer({ column: 'Amount' }),
          kind: integer(),
        },
      }),
      bookings: defineCollection({
        key: 'id',
        fields: { id: integer(), room: integer(), first: integer(), last: integer() },
      }),
      users: defineCollection({
        key: 'id',
        fields: {
          id: integer(),
          tenant: integer(),
          email: text(),
          nick: text(),
          isGone: boolean({ column: 'is_gone' }),
          age: integer(),
        },
      }),
    },
  },
}) as [PublishedCollection, PublishedCollection, PublishedCollection]

// A partition of a partition, and one whose columns have another order.
const tables = `
  create table kinds (kind int primary key);
  create table events (id int, region int, code int, "Amount" int not null check ("Amount" > 0), kind int references kinds,
    primary key (id, region), unique (region, code)) partition by range (region);
  create table north partition of events for values from (0) to (10) partition by range (region);
  create table "far north" partition of north for values from (0) to (5);
  alter table "far north" add constraint small check ("Amount" < 100);
  create table south (kind int, "Amount" int not null, gone int, code int, region int not null, id int not null,
    constraint "events_Amount_check" check ("Amount" > 0));
  alter table south drop column gone;
  alter table events attach partition south for values from (10) to (20);
  create table bookings (id int primary key, room int, first int, last int, exclude using gist (int4range(first, last) with &&));
  create domain age as int check (value between 0 and 150);
  create table users (id int primary key, tenant int, email text, nick text, is_gone boolean, age age);
  create unique index on users (tenant, lower(email));
  create unique index on users (nick) where not is_gone;`

describe.skipIf((await missingServer()) !== undefined)(
  'an error of PostgreSQL names fields',
  () => {
    let schema: TestSchema
    let storage: StorageAdapter
    beforeAll(async () => {
      schema = await testSchema()
      await schema.run(tables)
      storage = postgresStorage(schema.pool)
      await storage.open([events, bookings, users])
    })
    afterAll(async () => {
      await storage.close()
      await schema.drop()
    })

    test.each([
      ['a partition of a partition', 1],
      ['a partition whose columns have another order', 11],
    ])('of %s', async (_, region) => {
      const one = { id: 1, region, code: 1, amount: 1, kind: null }
      await insert(storage, events, one)
      const failed = (changes: Row) => insert(storage, events, { ...one, ...changes })
      await expect(failed({})).rejects.toMatchObject(duplicate('id', 'region'))
      await expect(failed({ id: 2 })).rejects.toMatchObject(duplicate('region', 'code'))
      await expect(failed({ id: 2, code: 2, amount: 0 })).rejects.toMatchObject(invalid('amount'))
      await expect(failed({ id: 2, code: 2, amount: null })).rejects.toMatchObject(
        invalid('amount'),
      )
      await expect(failed({ id: 2, code: 2, kind: 7 })).rejects.toMatchObject(invalid('kind'))
    })

    test('of a constraint that one partition has alone', async () => {
      const large = { id: 3, region: 2, code: 3, amount: 100, kind: null }
      await expect(insert(storage, events, large)).rejects.toMatchObject(invalid('amount'))
      const nowhere = { ...large, region: 30 }
      await expect(insert(storage, events, nowhere)).rejects.toMatchObject(invalid())
    })

    test('that the expressions of an index read', async () => {
      await insert(storage, bookings, { id: 1, room: 1, first: 1, last: 5 })
      const overlapping = { id: 2, room: 1, first: 4, last: 9 }
      await expect(insert(storage, bookings, overlapping)).rejects.toMatchObject(
        invalid('first', 'last'),
      )
      const user = { id: 1, tenant: 1, email: 'A', nick: 'a', isGone: false, age: 1 }
      await insert(storage, users, user)
      const same = insert(storage, users, { ...user, id: 2, email: 'a', nick: 'b' })
      await expect(same).rejects.toMatchObject(duplicate('tenant', 'email'))
      const nick = insert(storage, users, { ...user, id: 2, email: 'b' })
      await expect(nick).rejects.toMatchObject(duplicate('nick'))
    })

    test('whose column has a domain that no other column has', async () => {
      const old = { id: 9, tenant: 9, email: null, nick: null, isGone: null, age: 151 }
      await expect(insert(storage, users, old)).rejects.toMatchObject(invalid('age'))
    })
  },
)
