/** The longest text that each column takes, in the order of the columns. */
export const maxLengths = {
  customerId: 10,
  companyName: 40,
  contactName: 30,
  contactTitle: 30,
  address: 60,
  city: 15,
  region: 15,
  postalCode: 10,
  country: 15,
  phone: 24,
} as const

export type Column = keyof typeof maxLengths
export type Customer = Record<Column, string | null> & { customerId: string }

export const columns = Object.keys(maxLengths) as Column[]
export const required = ['customerId', 'companyName'] as const
/** The columns that have an index in a database behind a pool, where pages are filtered by them. */
export const indexed = ['address'] as const
export const listed = ['customerId', 'companyName', 'contactName', 'contactTitle'] as const

const goods = [
  'Käse',
  'Tea',
  'Spice',
  'Grain',
  'Wine',
  'Fisch',
  'Honey',
  'Olive',
  'Fruit',
  'Coffee',
]
const houses = ['Haus', 'Traders', 'Importers', '& Sons', 'Market', 'Delikatessen', 'Comércio']
const firstNames = ['Maria', 'Thomas', 'Elizabeth', 'Hanna', 'Yang', 'Pedro', 'Janine', 'Sven']
const lastNames = ['Anders', 'Hardy', 'Moos', 'Labrune', 'Wang', 'Afonso', 'Ottlieb', 'Berglund']
const titles = ['Owner', 'Sales Representative', 'Order Administrator', 'Marketing Manager']
const streets = ['Obere Straße', 'Hanover Square', 'Avenida de la Constitución', 'Rue des Bouchers']
const places = [
  { city: 'Berlin', region: null, postalCode: '12209', country: 'Germany', dial: '030' },
  { city: 'London', region: 'Greater London', postalCode: 'WA1 1DP', country: 'UK', dial: '171' },
  { city: 'México D.F.', region: null, postalCode: '05021', country: 'Mexico', dial: '5' },
  { city: 'São Paulo', region: 'SP', postalCode: '05432-043', country: 'Brazil', dial: '11' },
  { city: 'Portland', region: 'OR', postalCode: '97201', country: 'USA', dial: '503' },
]

function pick<Item>(list: readonly Item[], index: number): Item {
  return list[index % list.length] as Item
}

/** Returns the key of a customer. Higher numbers sort later. */
export function keyOf(index: number): string {
  return `C${String(index).padStart(8, '0')}`
}

/** The same number always gives the same customer. */
export function customer(index: number): Customer {
  const { dial, ...place } = pick(places, index * 3)
  return {
    customerId: keyOf(index),
    companyName: `${pick(goods, index * 7)} ${pick(houses, index * 5)} ${index}`,
    contactName: `${pick(firstNames, index * 3)} ${pick(lastNames, index * 5)}`,
    contactTitle: pick(titles, index),
    address: `${pick(streets, index)} ${index % 200}`,
    city: place.city,
    region: place.region,
    postalCode: place.postalCode,
    country: place.country,
    phone: `(${dial}) 555-${String(index % 10_000).padStart(4, '0')}`,
  }
}

export function listedFields(row: Customer): Partial<Customer> {
  return Object.fromEntries(listed.map((name) => [name, row[name]]))
}
