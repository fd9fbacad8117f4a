import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  text,
} from '../../../src/entries/index.ts'
import { postgresStorage } from '../../../src/entries/postgres.ts'
import { createTestClient, type TestClient } from '../../../src/entries/testing.ts'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'

const rooms = defineCollection({ key: 'name', fields: { name: text() } })
const seats = defineCollection({
  key: 'seat',
  fields: { seat: integer(), room: text({ references: 'rooms' }), row: integer(), size: integer() },
})

const tables = `
  create table rooms (name text primary key);
  create table seats (seat int primary key, room text references rooms deferrable initially deferred,
    "row" int unique deferrable initially deferred, size int);
  create function check_size() returns trigger language plpgsql as $$ begin
    if new.size > 9 then raise exception 'large'; end if;
    return null; end $$;
  create constraint trigger check_size after insert or update on seats deferrable initially deferred
    for each row execute function check_size();
  create table keys (room text references rooms deferrable initially deferred);`

describe.skipIf((await missingServer()) !== undefined)(
  'a deferred constraint of PostgreSQL',
  () => {
    let schema: TestSchema
    let service: ReturnType<typeof createService>
    let client: TestClient
    beforeAll(async () => {
      schema = await testSchema()
      await schema.run(tables)
      service = createService({
        applications: { app: { collections: { rooms, seats } } },
        storage: postgresStorage(schema.pool),
        security: openAccess(),
      })
      client = createTestClient(service)
    })
    beforeEach(async () => {
      await schema.clear()
      await client.post('/app/rooms', { name: 'north' })
      await client.post('/app/seats', { seat: 1, room: 'north', row: 1 })
    })
    afterAll(async () => {
      await service.close()
      await schema.drop()
    })

    test.each([
      ['with a reference that is read', { seat: 2, room: 'north', row: 1 }],
      ['alone', { seat: 2, row: 1 }],
    ])('rejects an insert with a value that exists: %s', async (_, seat) => {
      const { status, body } = await client.post('/app/seats', seat)
      const message = 'Another item of seats has this row.'
      expect([status, body.validations]).toEqual([
        400,
        [{ message, severity: 'error', field: 'row' }],
      ])
      expect((await client.get('/app/seats/2')).status).toBe(404)
    })

    test('does not name a field that the caller cannot read', async () => {
      const { seat, size } = seats.fields
      const fields = { seat, size, row: integer({ readableBy: [], default: 1 }) }
      const hidden = defineCollection({ key: 'seat', table: 'seats', fields })
      const other = createService({
        applications: { app: { collections: { seats: hidden } } },
        storage: postgresStorage(schema.pool),
        security: openAccess(),
      })
      const { status, body } = await createTestClient(other).post('/app/seats', { seat: 2 })
      const message = 'A value that you cannot see does not allow this.'
      expect([status, body.validations]).toEqual([400, [{ message, severity: 'error' }]])
      await other.close()
    })

    test('rejects a save of a collection with code at the commit', async () => {
      const before = (): void => undefined
      const { seat, room, row, size } = seats.fields
      const coded = defineCollection(
        { key: 'seat', table: 'seats', fields: { seat, room, row, size } },
        { events: { Insert: { before }, Update: { before } } },
      )
      const other = createService({
        applications: { app: { collections: { rooms, seats: coded } } },
        storage: postgresStorage(schema.pool),
        security: openAccess(),
      })
      const { post } = createTestClient(other)
      const inserted = await post('/app/seats', { seat: 2, room: 'north', row: 1 })
      expect([inserted.status, inserted.body.validations]).toMatchObject([
        400,
        [{ severity: 'error' }],
      ])
      expect((await post('/app/seats/1', { size: 10 })).status).toBe(400)
      expect((await post('/app/seats/1', { size: 9 })).status).toBe(200)
      await other.close()
    })

    test('rejects an update with a value that exists, or that a trigger does not accept', async () => {
      await client.post('/app/seats', { seat: 2, room: 'north', row: 2 })
      const same = await client.post('/app/seats/2', { row: 1, room: 'north' })
      expect([same.status, same.body.validations]).toMatchObject([400, [{ field: 'row' }]])
      const large = await client.post('/app/seats/2', { size: 10, room: 'north' })
      expect([large.status, large.body.validations]).toMatchObject([400, [{ severity: 'error' }]])
      expect((await client.post('/app/seats/2', { size: 9, room: 'north' })).status).toBe(200)
    })

    test('rejects the delete of an item to which a row of another table refers', async () => {
      await client.post('/app/rooms', { name: 'south' })
      await schema.run(`insert into keys values ('south')`)
      expect((await client.delete('/app/rooms/south')).status).toBe(409)
      await schema.run('delete from keys')
      expect((await client.delete('/app/rooms/south')).status).toBe(200)
    })
  },
)
