import type { Expected } from './expected-rows.ts'

const text = (column: string): string => `cast(${column} as char)`
const unicode = (column: string): string =>
  `convert(${column} using utf8mb4) collate utf8mb4_general_ci`
const whole = (column: string): string => `cast(${column} as signed)`
const flag = (column: string): string =>
  `json_extract(case ${column} + 0 when 1 then 'true' when 0 then 'false' end, '$')`
const double = (column: string): string => `cast(${column} as double)`
const moment = (column: string): string =>
  `replace(left(date_format(${column}, '%Y-%m-%dT%H:%i:%s.%f'), 23), '.000', '')`
const utc = (column: string): string => `concat(${moment(column)}, 'Z')`
const bits = (column: string, digits: number): string => `lpad(bin(${column} + 0), ${digits}, '0')`

/** The collections of the dump mysql.sql by endpoint name, converted by SQL expressions alone. */
export const expectedMysql: Readonly<Record<string, Expected>> = {
  actor: ['actor', { actorId: 'actor_id', firstName: 'first_name', lastName: 'last_name' }],
  files: ['files', { path: 'path', size: 'size' }],
  film: [
    'film',
    {
      ...{ filmId: 'film_id', title: 'title', description: 'description' },
      ...{ releaseYear: whole('release_year'), languageId: 'language_id' },
      ...{ originalLanguageId: 'original_language_id', rentalDuration: 'rental_duration' },
      ...{ rentalRate: text('rental_rate') },
      ...{ replacementCost: text('cast(replacement_cost as decimal(5,2))'), rating: 'rating' },
      ...{ specialFeatures: 'special_features', isOld: flag('is_old'), stars: 'stars' },
      ...{ fullTitle: 'full_title', cents: 'cents' },
    },
  ],
  'film-actor': [
    'film_actor',
    { actorId: 'actor_id', filmId: 'film_id', lastUpdate: utc('last_update') },
  ],
  'film-list': [
    'film_list',
    {
      ...{ fid: 'FID', title: 'title', language: 'language', price: text('price') },
      rating: 'rating',
    },
  ],
  'film-text': ['film_text', { filmId: 'film_id', title: 'title' }],
  language: [
    'language',
    { languageId: 'language_id', name: 'name', lastUpdate: utc('last_update') },
  ],
  log: ['log', { at: moment('at'), line: 'line' }],
  measures: ['measures', { city: 'city', year: 'year', value: text('value') }],
  numbers: [
    'numbers',
    {
      ...{ id: 'id', u8: 'u8', i24: 'i24', u32: 'u32', i64: text('i64'), safeI64: 'safe_i64' },
      ...{ u64: text('u64'), halfU64: text('half_u64'), z64: text('cast(z64 as unsigned)') },
      ...{ d38: text('d38'), d65: text('d65'), flag: flag('flag'), notFlag: 'not_flag' },
      ...{ bits: bits('bits', 10), allBits: bits('all_bits', 64) },
    },
  ],
  order: ['`ORDER`', { key: '`key`', value: 'value' }],
  'order-2': [
    '`Order`',
    {
      ...{ orderId: text('OrderID'), group: '`Group`', select: flag('`select`') },
      ...{ orderDate: moment('`Order Date`'), backTick: '`back``tick`', näme: '`näme`' },
      status: '`Status`',
    },
  ],
  'order-details': [
    '`Order Details`',
    {
      ...{ orderId: text('OrderID'), lineNo: '`Line-No`', quantity: whole('Quantity') },
      ...{
        discount: double('Discount'),
        rate: text('cast(Rate as decimal(8,3))'),
        weight: 'Weight',
      },
    },
  ],
  others: [
    'others',
    {
      ...{ id: 'id', code: unicode('code'), old: unicode('old'), tiny: 'tiny' },
      ...{ medium: unicode('medium'), long: unicode('`long`') },
      ...{
        doc: `json_extract(convert(doc using utf8mb4) collate utf8mb4_general_ci, '$')`,
      },
    },
  ],
  people: ['people', { email: 'email', boss: 'boss', since: 'since' }],
  shades: ['shades', { shade: double('shade'), name: 'name' }],
  times: [
    'times',
    {
      ...{ id: 'id', d: text('d'), dZero: text('d_zero'), dMonth: text('d_month') },
      ...{ dDay: text('d_day'), dt: moment('dt'), dtZero: text('dt_zero'), dt1: moment('dt1') },
      ...{ dt3: moment('dt3'), dt6: moment('dt6'), ts: utc('ts'), tsZero: text('ts_zero') },
      ...{ ts3: utc('ts3'), ts6: utc('ts6'), t: text('t'), t6: text('t6'), y: whole('y') },
    },
  ],
  waves: ['waves', { length: 'length', shade: double('shade') }],
}

/** Those of mariadb-only.sql. */
export const onlyMariaDb: Readonly<Record<string, Expected>> = {
  hosts: ['hosts', { uid: text('uid'), host: text('host'), oldHost: text('old_host') }],
  prices: ['prices', { id: 'id', price: text('price') }],
}

/** Those of mysql-only.sql. */
export const onlyMysql: Readonly<Record<string, Expected>> = {
  cached: ['cached', { id: 'id' }],
  accounts: [
    'accounts',
    {
      ...{ number: text('number'), status: 'status', level: 'level', free: 'free', note: 'note' },
      ...{ opened: text('opened'), closed: text('closed') },
      ...{ balance: text('cast(balance as decimal(12,2))'), rate: double('rate') },
      octet: bits('octet', 8),
    },
  ],
  clicks: ['clicks', { myRowId: 'my_row_id', page: 'page', count: 'count' }],
  collated: [
    'collated',
    {
      ...{ id: 'id', exact: 'exact', german: 'german', japanese: 'japanese' },
      ...{ gbk: unicode('gbk'), wide: unicode('wide'), mood: 'mood', moods: 'moods' },
    },
  ],
  documents: [
    'documents',
    {
      ...{ id: 'id', title: 'title', doc: 'doc', tags: 'tags', uid: unicode('uid') },
      ...{ due: moment('due'), ratio: 'ratio', label: 'label', made: utc('made') },
      ...{ name: 'name', length: 'length' },
    },
  ],
  shards: ['shards', { id: 'id', at: utc('at') }],
  'tag-list': ['tag_list', { id: 'id', tag: 'tag' }],
  visits: ['visits', { myRowId: 'my_row_id', page: 'page', account: text('account') }],
}
