import { boolean, decimal, defineCollection, integer, text } from 'rowgate'
import { officeChanges } from './roles.ts'

const detail = { includeByDefault: false } as const

/** The database generates the keys of the catalogue. */
const number = integer({ generated: 'database', readOnly: true })

export const categories = defineCollection({
  key: 'categoryId',
  titleField: 'categoryName',
  ...officeChanges,
  fields: {
    categoryId: number,
    categoryName: text({ required: true, maxLength: 20, unique: true }),
    description: text({ ...detail, multiline: true }),
  },
})

export const suppliers = defineCollection({
  key: 'supplierId',
  titleField: 'companyName',
  ...officeChanges,
  fields: {
    supplierId: number,
    companyName: text({ required: true, maxLength: 40, unique: true }),
    contactName: text({ maxLength: 30 }),
    contactTitle: text({ maxLength: 30 }),
    city: text({ ...detail, maxLength: 15 }),
    country: text({ maxLength: 15 }),
    phone: text({ ...detail, maxLength: 24 }),
    homePage: text({ ...detail, maxLength: 2000, pattern: '^https?://' }),
  },
})

export const products = defineCollection({
  key: 'productId',
  titleField: 'productName',
  ...officeChanges,
  fields: {
    productId: number,
    productName: text({ required: true, maxLength: 40, unique: true }),
    supplierId: integer({ ...detail, references: 'suppliers' }),
    categoryId: integer({ references: 'categories' }),
    quantityPerUnit: text({ ...detail, maxLength: 20 }),
    unitPrice: decimal({ precision: 19, scale: 4, required: true, minimum: '0' }),
    unitsInStock: integer({
      required: true,
      default: 0,
      description: 'Below zero: sold, and still to come.',
    }),
    unitsOnOrder: integer({ ...detail, required: true, minimum: 0, default: 0 }),
    reorderLevel: integer({ ...detail, required: true, minimum: 0, default: 0 }),
    discontinued: boolean({ required: true, default: false }),
  },
  index: [['discontinued', 'productName']],
})
