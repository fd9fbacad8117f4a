import type { Expected } from './expected-rows.ts'

const text = (column: string): string => `${column}::text`
const moment = (column: string): string =>
  `replace(to_char(date_trunc('milliseconds', ${column}), 'YYYY-MM-DD"T"HH24:MI:SS.MS'), '.000', '')`
const utc = (column: string): string => `${moment(`(${column} at time zone 'UTC')`)} || 'Z'`
const real = (column: string): string => `${column}::text::float8`

function texts(...names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, text(name)]))
}

/** The collections of the dump of PostgreSQL by endpoint name, converted by SQL expressions alone. */
export const expectedPostgres: Readonly<Record<string, Expected>> = {
  order: [
    '"Order"',
    {
      ...{ id: text('"ID"'), user: '"User"', select: '"select"', groupBy: '"Group By"' },
      ...{ quoTe: '"quo""te"', näme: '"näme"' },
    },
  ],
  capitals: [
    'capitals',
    {
      ...{ name: 'name', population: real('population'), elevation: 'elevation' },
      state: text('state'),
    },
  ],
  cities: ['cities', { name: 'name', location: text('location') }],
  log: ['log', { at: moment('at'), line: 'line' }],
  measurement: [
    'measurement',
    {
      ...{ cityId: 'city_id', logdate: 'logdate', peaktemp: 'peaktemp', unitsales: 'unitsales' },
    },
  ],
  moments: ['moments', { at: text('at'), note: 'note' }],
  myview: [
    'myview',
    {
      ...{ city: 'city', tempLo: 'temp_lo', tempHi: 'temp_hi', prcp: real('prcp'), date: 'date' },
      location: text('location'),
    },
  ],
  numbers: [
    'numbers',
    {
      ...{ id: 'id', i8: text('i8'), safeI8: 'safe_i8', ...texts('n') },
      ...{ nWhole: text('n_whole'), nWide: text('n_wide'), nNegative: text('n_negative') },
      ...{ nNan: text('n_nan'), r: real('r'), d: 'd', dOdd: text('d_odd') },
      ...{ m: 'm::numeric::text', o: text('o') },
    },
  ],
  'on-hand': ['on_hand', { item: text('item'), count: 'count' }],
  'order-items': [
    'order_items',
    { productNo: 'product_no', orderId: 'order_id', quantity: 'quantity' },
  ],
  orders: [
    'orders',
    {
      ...{ orderId: 'order_id', shippingAddress: 'shipping_address', status: 'status' },
      placed: utc('placed'),
    },
  ],
  others: [
    'others',
    {
      ...texts('id', 'code', 'letter', 'host', 'net', 'mac', 'flags', 'bits', 'doc', 'words'),
      ...texts('period', 'periods', 'relation'),
      ...{ settings: 'settings', raw: 'raw', w: 'w', h: 'h', area: 'area' },
    },
  ],
  partly: ['partly', { id: 'id', email: 'email', deleted: 'deleted' }],
  places: ['places', { name: 'name', population: real('population'), elevation: 'elevation' }],
  prices: ['prices', texts('id', 'product', 'price')],
  products: [
    'products',
    {
      ...{ productNo: 'product_no', name: 'name', price: text('price') },
      discountedPrice: text('discounted_price'),
    },
  ],
  'sal-emp': [
    'sal_emp',
    { name: 'name', payByQuarter: text('pay_by_quarter'), schedule: text('schedule') },
  ],
  'sales-summary': ['sales_summary', { cityId: 'city_id', sales: 'sales', last: 'last' }],
  times: [
    'times',
    {
      ...{ id: 'id', d: 'd', dOdd: text('d_odd'), ts: moment('ts'), ts0: moment('ts0') },
      ...{ ts1: moment('ts1'), ts3: moment('ts3'), tz: utc('tz'), tz0: utc('tz0') },
      ...{ tz3: utc('tz3'), tzOdd: text('tz_odd'), ...texts('t', 'ttz', 'iv') },
    },
  ],
  user: [
    '"user"',
    {
      ...{ userId: '"UserID"', parentId: '"ParentID"', currentMood: text('current_mood') },
      ...{ nick: '"Nick"', eMail: text('"E-Mail"'), zip: 'zip', handle: 'handle' },
    },
  ],
  weather: [
    'weather',
    {
      ...{ city: 'city', tempLo: 'temp_lo', tempHi: 'temp_hi', prcp: real('prcp') },
      date: 'date',
    },
  ],
}
