import type { DatabaseName } from './foreign-database.ts'

/** A table, and the SQL expression of each field of its collection. */
export type Expected = readonly [table: string, fields: Readonly<Record<string, string>>]

const exact = (column: string): string =>
  `CASE WHEN ${column} IS NOT NULL THEN json(printf('%!.17g', ${column})) END`
const money = (column: string, digits = 2): string =>
  `CASE WHEN ${column} IS NOT NULL THEN printf('%.${digits}f', ${column}) END`
const local = (column: string): string => `replace(replace(${column}, ' ', 'T'), '.000', '')`
const cut = (column: string): string =>
  `replace(replace(substr(${column}, 1, 23), ' ', 'T'), '.000', '')`
const seconds = (column: string): string => `strftime('%Y-%m-%dT%H:%M:%SZ', ${column}, 'unixepoch')`
const milliseconds = (column: string): string =>
  `replace(strftime('%Y-%m-%dT%H:%M:%S', ${column} / 1000, 'unixepoch') || printf('.%03dZ', ${column} % 1000), '.000Z', 'Z')`
const flag = (column: string, yes = '1'): string =>
  `CASE WHEN ${column} IS NOT NULL THEN json(CASE ${column} WHEN ${yes} THEN 'true' ELSE 'false' END) END`
const digits = (column: string): string => `CAST(${column} AS TEXT)`
const hyphened = (hex: string): string =>
  `substr(${hex}, 1, 8) || '-' || substr(${hex}, 9, 4) || '-' || substr(${hex}, 13, 4) || '-' || substr(${hex}, 17, 4) || '-' || substr(${hex}, 21)`

/** The collections of each database by endpoint name, converted by SQL expressions alone. */
export const expectedRows: Readonly<Record<DatabaseName, Readonly<Record<string, Expected>>>> = {
  shop: {
    categories: [
      'Categories',
      { categoryId: 'CategoryID', categoryName: 'CategoryName', description: 'Description' },
    ],
    customers: [
      'Customers',
      {
        customerId: 'CustomerID',
        companyName: 'CompanyName',
        country: 'Country',
        city: 'City',
        newsletter: flag('Newsletter', "'Y'"),
        registered: local('Registered'),
      },
    ],
    employees: [
      'Employees',
      {
        employeeId: 'EmployeeID',
        lastName: 'LastName',
        birthDate: 'substr(BirthDate, 1, 10)',
        hireDate: 'HireDate',
        salary: money('Salary'),
        reportsTo: 'ReportsTo',
      },
    ],
    'order-details': [
      '"Order Details"',
      {
        orderId: 'OrderID',
        productId: 'ProductID',
        unitPrice: money('UnitPrice'),
        quantity: 'Quantity',
        discount: exact('Discount'),
      },
    ],
    'order-totals': [
      '"Order Totals"',
      { orderId: 'OrderID', lines: 'Lines', pieces: 'Pieces', total: exact('Total') },
    ],
    orders: [
      'Orders',
      {
        orderId: 'OrderID',
        customerId: 'CustomerID',
        employeeId: 'EmployeeID',
        orderDate: local('OrderDate'),
        requiredDate: 'substr(RequiredDate, 1, 10)',
        shippedDate: 'substr(ShippedDate, 1, 10)',
        freight: money('Freight', 4),
        shipName: 'ShipName',
      },
    ],
    products: [
      'Products',
      {
        productId: 'ProductID',
        productName: 'ProductName',
        categoryId: 'CategoryID',
        unitPrice: money('UnitPrice'),
        weight: exact('Weight'),
        unitsInStock: 'UnitsInStock',
        discontinued: flag('Discontinued'),
        size: 'Size',
        unitPriceWithTax: exact('UnitPriceWithTax'),
      },
    ],
    shipments: [
      'Shipments',
      {
        shipmentId: 'ShipmentID',
        orderId: 'OrderID',
        productId: 'ProductID',
        shippedAt: local('ShippedAt'),
      },
    ],
  },
  forum: {
    'active-users': [
      'active_users',
      { id: 'id', name: 'name', shouted: 'shouted', doubleKarma: 'double_karma' },
    ],
    'big-numbers': ['big_numbers', { id: 'id', snowflake: digits('snowflake') }],
    likes: ['likes', { userId: 'user_id', postId: 'post_id', at: seconds('at') }],
    log: ['log', { line: 'line', level: 'level', loggedAt: seconds('logged_at') }],
    marks: ['marks', { snowflake: digits('snowflake'), color: 'color' }],
    messages: ['messages', { messageId: digits('message_id'), sender: 'sender' }],
    posts: [
      'posts',
      {
        id: 'id',
        topicId: 'topic_id',
        parentId: 'parent_id',
        userId: 'user_id',
        body: 'body',
        score: exact('score'),
        createdAt: seconds('created_at'),
        deletedAt: seconds('deleted_at'),
      },
    ],
    replies: ['replies', { replyId: 'reply_id', messageId: digits('message_id') }],
    search: ['search', { title: 'title', body: 'body' }],
    topics: [
      'topics',
      {
        id: 'id',
        userId: 'user_id',
        title: 'title',
        slug: 'slug',
        status: 'status',
        locked: flag('locked'),
        views: 'views',
        createdAt: milliseconds('created_at'),
        updatedAt: milliseconds('updated_at'),
      },
    ],
    users: [
      'users',
      {
        id: 'id',
        name: 'name',
        email: 'email',
        isAdmin: flag('is_admin'),
        isBanned: flag('is_banned'),
        karma: 'karma',
        settings: 'json(settings)',
        createdAt: seconds('created_at'),
        lastLogin: seconds('last_login'),
      },
    ],
  },
  odd: {
    '2nd': ['"2nd"', { _1st: '"1st"', _3: '"3"', _4th: '"4th"' }],
    grosse: [
      '"Größe"',
      { länge: exact('"Länge"'), naïveName: '"naïve_name"', हनद: '"हिन्दी"', column: '"😀"' },
    ],
    'two-words': ['"TwoWords"', { id: 'ID', id_2: 'id_', id2: '"Id-2"' }],
    'two-words-2': ['"two words"', { aB: '"a b"', cD: '"c  d"', e: '" e "' }],
    'two-words-3': ['"two_words"', { aB_2: '"a-b"', aB_3: 'a_b', aB: 'aB', aB_4: '"A.b"' }],
    'a-table-whose-name-is-much-longer-than-the-names-that-pa': [
      'a_table_whose_name_is_much_longer_than_the_names_that_paths_and_fields_may_have',
      {
        aColumnWhoseNameIsMuchLongerThanTheNamesThatPathsAndFiel:
          'a_column_whose_name_is_much_longer_than_the_names_that_paths_and_fields_may_have_1',
        aColumnWhoseNameIsMuchLongerThanTheNamesThatPathsAndFiel_2:
          'a_column_whose_name_is_much_longer_than_the_names_that_paths_and_fields_may_have_2',
      },
    ],
    'api-key': ['api_key', { apiKey_2: 'api_key', apiKey: 'apiKey', xApiKey: '"X-API-Key"' }],
    'blob-key': ['blob_key', { n: 'n' }],
    children: [
      'children',
      {
        ...{ id: 'id', a: 'a', b: 'b', parent: 'parent', missing: 'missing', code: 'code' },
        wrong: 'wrong',
      },
    ],
    'circle-a': ['circle_a', { id: 'id', b: 'b' }],
    'circle-b': ['circle_b', { id: 'id', a: 'a', c: 'c' }],
    class: [
      '"class"',
      {
        ...{ new: '"new"', constructor_: '"constructor"', toString_: '"toString"' },
        hasOwnProperty_: flag('"hasOwnProperty"'),
      },
    ],
    counted: ['counted', { id: 'id', n: 'n' }],
    defaults: [
      'defaults',
      {
        ...{ id: 'id', createdAt: 'created_at', seenAt: local('seen_at'), day: '"day"' },
        ...{ word: 'word', n: 'n', odd: 'odd' },
      },
    ],
    descending: ['descending', { id: 'id', n: 'n' }],
    'dot-ted-name': [
      '"dot.ted.name"',
      {
        ...{ xY: '"x.y"', xY_2: '"x,y"', x: '"-x"', limit: '"$limit"', column: '"?"' },
        column_2: '"("',
      },
    ],
    'empty-table': [
      'empty_table',
      {
        ...{ id: 'id', createdAt: 'created_at', born: 'born', seen: 'seen', price: 'price' },
        ...{ isOpen: 'is_open', name: 'name', thing: 'thing' },
      },
    ],
    expressions: [
      'expressions',
      {
        ...{ id: 'id', count: '"count(*)"', id2: '"id * 2"', xY: '"x.y"', nothing: '"nothing"' },
        id1: '"ID:1"',
      },
    ],
    flags: [
      'flags',
      {
        id: 'id',
        isText: flag('is_text', "'true'"),
        hasWord: flag('has_word', "'Y'"),
        active: flag('active'),
        odd: 'odd',
        is0: flag('is_0'),
      },
    ],
    'full-text': ['"full text"', { theTitle: '"the title"', body: 'body' }],
    generated: ['"generated"', { w: 'w', h: 'h', area: 'area', label: 'label' }],
    'line-break': [
      '"line\nbreak"',
      { tabBed: '"tab\tbed"', comment: '"*/ comment"', _1: '"`${1}`"' },
    ],
    mixed: ['mixed', { id: 'id', stamp: 'stamp' }],
    names: ['names', { name: 'name', other: 'other' }],
    'needs-blob': ['needs_blob', { id: 'id' }],
    'no-key': ['no_key', { a: 'a', b: 'b' }],
    'now-view': ['now_view', { id: 'id', n: 'n' }],
    'null-key': ['null_key', { code: 'code', n: 'n' }],
    order: ['"order"', { key: '"key"', default: '"default"' }],
    parents: ['parents', { a: 'a', b: 'b' }],
    'quo-te-s': [
      `"quo""te's"`,
      {
        ...{ itS: `"it's"`, aB: '"a""b"', backTick: '"back`tick"', semiColon: '"semi;colon"' },
        perCent: '"per%cent"',
      },
    ],
    'real-key': ['real_key', { x: exact('x'), y: 'y' }],
    select: ['"select"', { from: '"from"', where: '"where"', group: '"group"', order: '"order"' }],
    stamps: [
      'stamps',
      {
        id: 'id',
        zuluTime: "replace(zulu_time, '.000', '')",
        wholeZuluTime: 'whole_zulu_time',
        otherZuluTime: 'other_zulu_time',
        isoTime: 'iso_time',
        day: 'day',
        dayOrTime:
          "CASE length(day_or_time) WHEN 10 THEN day_or_time || 'T00:00:00' ELSE replace(day_or_time, ' ', 'T') END",
        micro: cut('micro'),
        usDate: 'us_date',
        versionDate: 'version_date',
      },
    ],
    'strict-table': ['strict_table', { id: 'id', t: 't', r: exact('r'), i: 'i', a: 'a' }],
    text: ['"text"', { integer: '"integer"', date: '"date"', text: '"text"' }],
    'unique-key': ['unique_key', { code: 'code', n: 'n' }],
    untyped: ['untyped', { a: 'a', b: 'b', c: exact('c'), d: 'd' }],
    'uuid-key': [
      'uuid_key',
      { uuid: hyphened('lower(hex(uuid))'), otherUuid: hyphened('other_uuid') },
    ],
    'without-rowid': ['without_rowid', { b: 'b', a: 'a', c: 'c' }],
    table: ['"таблица"', { ключ: '"ключ"', имя: '"имя"', датаЗаказа: '"дата_заказа"' }],
    'table-2': ['"表"', { 番号: '"番号"', 名前: '"名前"' }],
  },
  frameworks: {
    'auth-user': [
      'auth_user',
      {
        id: 'id',
        password: 'password',
        lastLogin: cut('last_login'),
        isSuperuser: flag('is_superuser'),
        username: 'username',
        dateJoined: cut('date_joined'),
        birthDate: 'birth_date',
      },
    ],
    'django-session': [
      'django_session',
      { sessionKey: 'session_key', sessionData: 'session_data', expireDate: cut('expire_date') },
    ],
    'notes-note': [
      'notes_note',
      { id: 'id', tags: 'json(tags)', authorId: 'author_id', deletedAt: cut('deleted_at') },
    ],
    articles: [
      'articles',
      {
        id: 'id',
        title: 'title',
        metadata: 'json(metadata)',
        extra: 'json(extra)',
        empty: 'json(empty)',
        broken: 'broken',
        price: money('price'),
        published: flag('published'),
        publishedAt: cut('published_at'),
        createdAt: cut('created_at'),
        updatedAt: cut('updated_at'),
      },
    ],
    event: ['Event', { id: 'id', createdAt: cut('createdAt'), payload: 'json(payload)' }],
    measurement: [
      'measurement',
      {
        id: 'id',
        taken: cut('taken'),
        loggedAt: cut('logged_at'),
        recordedAt: cut('recorded_at'),
        value: money('value', 3),
        total: money('total'),
        ratio: exact('ratio'),
        rough: exact('rough'),
      },
    ],
  },
}
