import {
  bigint,
  boolean,
  date,
  dateTime,
  decimal,
  defineCollection,
  double,
  error,
  information,
  instant,
  integer,
  json,
  text,
  uuid,
  warning,
} from '../../src/entries/index.ts'

const hidden = { includeByDefault: false } as const

const customers = defineCollection({
  key: 'customerId',
  fields: {
    customerId: text({ maxLength: 10 }),
    companyName: text({ required: true, maxLength: 40 }),
    contactName: text({ maxLength: 30 }),
    address: text(hidden),
    city: text(hidden),
    region: text(hidden),
    postalCode: text(hidden),
    phone: text(hidden),
    country: text(hidden),
    createdBy: text({ readOnly: true, default: 'system' }),
    credit: integer(),
    balance: decimal({ precision: 20, scale: 4 }),
    seq: bigint(),
    since: date(),
    seen: dateTime(),
    active: boolean(),
    extra: json(),
  },
})

const lines = defineCollection({
  key: ['orderId', 'product'],
  fields: { orderId: integer(), product: text(), quantity: integer() },
})

const orders = defineCollection(
  {
    key: 'orderId',
    fields: { orderId: integer(), title: text({ maxLength: 20 }), quantity: integer() },
  },
  {
    validations: [
      error('negative', {
        field: 'quantity',
        check: ({ quantity }) => ((quantity ?? 0) < 0 ? 'quantity must not be negative' : null),
      }),
      warning('large', {
        field: 'quantity',
        check: ({ quantity }) => ((quantity ?? 0) > 100 ? 'This is a large order.' : null),
      }),
      warning('untitled', {
        check: ({ title }) => (title === '' ? 'The order has <no> "title".\u0001' : null),
      }),
      information('lucky', {
        field: 'quantity',
        check: ({ quantity }) => (quantity === 7 ? 'Seven is a lucky number.' : null),
      }),
      warning('locked', {
        events: ['Delete'],
        check: ({ title }) => (title === 'locked' ? 'The order is locked.' : null),
      }),
    ],
  },
)

const samples = defineCollection({
  key: 'id',
  fields: {
    id: uuid(),
    moment: instant(),
    ratio: double(),
    label: text({ search: false }),
    code: integer({ search: true }),
  },
})

/** Items without path. */
const journal = defineCollection({ fields: { line: text({ required: true }), level: integer() } })

/** Published to be read only. */
const countries = defineCollection({
  key: 'code',
  publishes: ['Filter'],
  fields: { code: text(), name: text() },
})

/** The application of the contract suite. */
export const applications = {
  app: { collections: { customers, lines, orders, samples, journal, countries } },
  other: {
    collections: {
      customers: defineCollection({
        key: 'id',
        table: 'other_customers',
        fields: { id: text() },
      }),
    },
  },
}

/** What is stored before each case. */
export const seed = {
  customers: [
    customer('ALFKI', 'Alfheim Futterkiste', 'Sunniva Nygård', 'Berlin', 'Germany'),
    customer('ANATR', 'Ana Trujillo', 'Ana Trujillo', 'México D.F.', 'Mexico'),
    customer('BERGS', 'Berglunds snabbköp', 'Christina Berglund', 'Luleå', 'Sweden'),
    customer('BLAUS', 'Blauer See', 'Hanna Moos', 'Mannheim', 'Germany'),
    customer('BONAP', "Bon app'", null, 'Marseille', 'France'),
    customer('CACTU', 'Cactus Comidas', 'Patricio', 'Buenos Aires', 'Argentina'),
    customer('COMMI', 'Comércio Mineiro', 'Pedro Afonso', 'São Paulo', 'Brazil'),
    customer('DRACD', 'Drachenblut', 'Sven Ottlieb', 'Aachen', 'Germany'),
    customer('EASTC', 'Eastern Connection', 'Ann Devon', 'London', null),
    customer('FRANK', 'Frankenversand', '', 'München', 'Germany'),
    customer('GALED', '100%_\\literal', 'Eduardo', 'Barcelona', 'Spain'),
    customer('alfki2', 'alfheim futterkiste', 'sunniva nygård', 'berlin', ''),
  ],
  lines: [
    { orderId: 1, product: 'abc', quantity: 1 },
    { orderId: 1, product: 'b%2Cc', quantity: 2 },
    { orderId: 2, product: 'abc', quantity: null },
  ],
  orders: [
    { orderId: 1, title: 'first', quantity: 1 },
    { orderId: 2, title: 'locked', quantity: 2 },
    { orderId: 3, title: null, quantity: 3 },
  ],
  samples: [
    {
      id: '0a000000-0000-4000-8000-00000000000b',
      moment: '2024-01-01T00:00:00Z',
      ratio: 0.5,
      label: 'half',
      code: 1234,
    },
  ],
  journal: [
    { line: 'b', level: 2 },
    { line: 'a', level: 1 },
    { line: 'b', level: 2 },
  ],
  countries: [{ code: 'de', name: 'Germany' }],
} as const

function customer(
  ...[customerId, companyName, contactName, city, country]: readonly [
    customerId: string,
    companyName: string,
    contactName: string | null,
    city: string,
    country: string | null,
  ]
) {
  const credit = companyName.length
  const balance = `${credit}.2500`
  return { customerId, companyName, contactName, city, country, credit, balance }
}
