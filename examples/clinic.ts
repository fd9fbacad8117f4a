// A clinic of six collections that belong together, one of them in a table that another program made.
import Database from 'better-sqlite3'
import { computed, createService, defineCollection, error, openAccess, principal } from 'rowgate'
import { boolean, date, dateTime, decimal, instant, integer, text, withBehaviour } from 'rowgate'
import { sqliteStorage } from 'rowgate/sqlite'
import { createTestClient } from 'rowgate/testing'

const doctors = defineCollection({
  key: 'user',
  fields: { user: text(), name: text({ required: true, unique: true }) },
})

const patients = defineCollection(
  {
    key: 'patientId',
    fields: {
      patientId: integer({ generated: 'database' }),
      firstName: text({ required: true }),
      lastName: text({ required: true }),
      born: date({ required: true }),
      insurance: text({ unique: true }),
    },
    index: [['lastName', 'firstName']],
  },
  {
    computed: {
      fullName: computed(
        text(),
        ['firstName', 'lastName'],
        ({ firstName, lastName }) => `${firstName} ${lastName}`,
      ),
    },
  },
)

// The table ROOM has numbers for times, letters for flags, and a floor by default.
const rooms = defineCollection({
  table: 'ROOM',
  key: 'roomId',
  fields: {
    roomId: integer({ column: 'NO' }),
    name: text({ column: 'NAME', required: true }),
    isSterile: boolean({ column: 'STERILE', storedAs: 'Y/N' }),
    inspected: instant({ column: 'INSPECTED', storedAs: 'unixSeconds' }),
    floor: integer({ column: 'FLOOR', default: 'database' }),
  },
})

const treatments = defineCollection({
  key: 'code',
  fields: {
    code: text({ maxLength: 8 }),
    name: text({ required: true }),
    price: decimal({ precision: 9, scale: 2, required: true, minimum: '0.00' }),
  },
})

const appointments = defineCollection({
  key: 'appointmentId',
  fields: {
    appointmentId: integer({ generated: 'database' }),
    patientId: integer({ required: true, references: 'patients', onDelete: 'cascade' }),
    doctor: text({ required: true, references: 'doctors' }),
    roomId: integer({ references: 'rooms', onDelete: 'setNull' }),
    startsAt: dateTime({ required: true }),
    status: text({ enumeration: ['planned', 'done', 'missed'], default: 'planned' }),
  },
  unique: [
    ['doctor', 'startsAt'],
    ['roomId', 'startsAt'],
  ],
  // The day plan shows them without further requests: over HTTP with $expand=patient,services.
  expand: { patient: 'patientId', services: { from: 'services' } },
  // Doctors see their own appointments.
  rows: { equal: { doctor: { principal: 'user' } }, exceptRoles: ['Office'] },
})

const services = defineCollection({
  key: ['appointmentId', 'code'],
  fields: {
    appointmentId: integer({ references: 'appointments', onDelete: 'cascade' }),
    code: text({ maxLength: 8, references: 'treatments' }),
    amount: integer({ required: true, default: 1, minimum: 1 }),
  },
  // And what was done in them.
  rows: {
    through: { field: 'appointmentId', collection: 'appointments' },
    exceptRoles: ['Office'],
  },
})

const collections = {
  doctors,
  patients,
  rooms,
  treatments,
  appointments: withBehaviour(appointments, {
    validations: [
      error('one-a-day', {
        field: 'startsAt',
        check: async ({ appointmentId, patientId, startsAt }, { system }) => {
          if (patientId === null || startsAt === null) return undefined
          const day = startsAt.slice(0, 10)
          const others = await system.find(appointments, {
            patientId,
            startsAt: { gte: `${day}T00:00:00`, lte: `${day}T23:59:59` },
            status: { ne: 'missed' },
          })
          const other = others.find((one) => one.appointmentId !== appointmentId)
          return other && `There is an appointment at ${other.startsAt.slice(11, 16)}.`
        },
      }),
    ],
  }),
  services: withBehaviour(services, {
    validations: [
      error('not-missed', {
        field: 'appointmentId',
        check: async ({ appointmentId }, { find }) => {
          const [missed] = await find(appointments, { appointmentId, status: 'missed' })
          return missed && 'The patient did not come.'
        },
      }),
    ],
  }),
}

const database = new Database(':memory:')
database.exec(`
  CREATE TABLE ROOM (
    NO INTEGER PRIMARY KEY, NAME TEXT NOT NULL, STERILE TEXT, INSPECTED INTEGER, FLOOR INTEGER DEFAULT 1
  );
  INSERT INTO ROOM VALUES (1, 'Surgery', 'Y', 1764547200, 2), (2, 'Consulting', 'N', NULL, 1);
`)

const service = createService({
  applications: { clinic: { collections } },
  storage: sqliteStorage(database, { ensureSchema: true }),
  security: openAccess(),
})
await service.ready()
const office = service.as(principal('olga', { roles: ['Office'] }))

await office.transaction(async ({ collection }) => {
  await collection(doctors).insertMany([
    { user: 'ada', name: 'Dr. Ada' },
    { user: 'bo', name: 'Dr. Bo' },
  ])
  await collection(treatments).insertMany([
    { code: 'CHECK', name: 'Check-up', price: '40' },
    { code: 'XRAY', name: 'X-ray', price: '89.5' },
  ])
  await collection(patients).insertMany([
    { firstName: 'Cy', lastName: 'Young', born: '1990-02-28', insurance: 'I-1' },
    { firstName: 'Di', lastName: 'Old', born: '1950-12-01' },
    { firstName: 'Ed', lastName: 'New', born: '2001-07-14' },
  ])
})

const planned = await office.collection('clinic', 'appointments').insertMany([
  { patientId: 1, doctor: 'ada', roomId: 2, startsAt: '2026-03-02T09:00:00' },
  { patientId: 2, doctor: 'bo', roomId: 1, startsAt: '2026-03-02T09:00:00' },
])
console.log('planned:', planned.rejected ? planned.message : planned.items.length)

// References, unique groups and validations respond like other validations.
for (const values of [
  { patientId: 9, doctor: 'ada', startsAt: '2026-03-03T09:00:00' },
  { patientId: 3, doctor: 'bo', startsAt: '2026-03-02T09:00:00' },
  { patientId: 1, doctor: 'bo', startsAt: '2026-03-02T11:30:00' },
]) {
  const { validations } = await office.collection('clinic', 'appointments').insert(values)
  console.log(validations[0]?.message)
}

await office.collection('clinic', 'services').insertMany([
  { appointmentId: 1, code: 'CHECK' },
  { appointmentId: 2, code: 'XRAY', amount: 2 },
])

// One call reads the day plan, which would need one for each patient and for each list of services.
const day = await office
  .collection('clinic', 'appointments')
  .filter(
    { startsAt: { gte: '2026-03-02T00:00:00', lt: '2026-03-03T00:00:00' } },
    { expand: ['patient', 'services'], limit: 50 },
  )
for (const { startsAt, patient, services: given } of day.items)
  console.log(startsAt, patient?.lastName, given.items.map(({ code }) => code).join())

// A doctor sees the own appointments, and what was done in them.
const ada = service.as(principal('ada'))
console.log('ada sees:', (await ada.collection('clinic', 'services').filter()).items)
console.log('services:', await office.collection('clinic', 'services').count())

// Another program's table: its default, its numbers and letters.
const room = await office.collection('clinic', 'rooms').insert({ roomId: 3, name: 'X-ray' })
console.log('floor:', room.rejected ? room.message : room.item.floor)
const due = await office.collection('clinic', 'rooms').filter({
  isSterile: true,
  or: [{ inspected: null }, { inspected: { lt: '2026-01-01T00:00:00Z' } }],
})
console.log('inspect:', due.items)

const client = createTestClient(service)
console.log((await client.get('/clinic/patients/1')).body.item)

// A treatment that was given stays; a patient goes with the appointments and what was done in them.
await office
  .collection('clinic', 'treatments')
  .delete('XRAY')
  .catch((problem: unknown) => {
    console.log((problem as Error).message)
  })
await office.collection('clinic', 'patients').deleteMany({ born: { lt: '1960-01-01' } })
console.log('left:', await office.collection('clinic', 'services').count())
await service.close()
database.close()
